//! Jobs, and runs of them.

use serde_json::json;
use trueup_store::KeyRole;

use crate::served::Served;

pub(crate) const JOB: &str = "name: daily
sources:
  ledger: {file: /data/ledger.csv}
  bank: {file: /data/bank.csv}
key: [id]
";

#[test]
fn a_job_is_saved_changed_and_run() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    let yaml = operator.clone().with("content-type", "application/yaml");
    let made = yaml.send("POST", "/api/v1/jobs", JOB.as_bytes());
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{}", made.text());
    assert_eq!(made.json()["document"]["dimensions"], json!(["id"]));
    assert_eq!(yaml.send("POST", "/api/v1/jobs", JOB.as_bytes()).status, 409);

    let changed = JOB.replace("[id]", "[id, day]");
    let stale = yaml.clone().with("if-match", "\"7\"").send("PUT", "/api/v1/jobs/daily", changed.as_bytes());
    assert_eq!(stale.status, 412, "{}", stale.text());
    let saved = yaml.clone().with("if-match", "\"1\"").send("PUT", "/api/v1/jobs/daily", changed.as_bytes());
    assert_eq!((saved.status, saved.header("etag")), (200, Some("\"2\"")), "{}", saved.text());
    assert_eq!(operator.clone().with("if-none-match", "\"2\"").get("/api/v1/jobs/daily").status, 304);
    let revisions = operator.get("/api/v1/jobs/daily/revisions").json();
    let numbers: Vec<_> =
        revisions["items"].as_array().unwrap().iter().map(|saved| &saved["revision"]).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(
        operator.get("/api/v1/jobs/daily/revisions/1").json()["document"]["dimensions"],
        json!(["id"])
    );

    let asked = operator.clone().with("idempotency-key", "monday").post("/api/v1/jobs/daily/run", &json!({}));
    assert_eq!(asked.status, 202, "{}", asked.text());
    let again = operator.clone().with("idempotency-key", "monday").post("/api/v1/jobs/daily/run", &json!({}));
    assert_eq!((again.status, again.header("idempotency-replayed")), (202, Some("true")));
    assert_eq!((again.json(), again.header("location")), (asked.json(), asked.header("location")));
    let other = operator
        .clone()
        .with("idempotency-key", "monday")
        .post("/api/v1/jobs/daily/run", &json!({"params": {}}));
    assert_eq!((other.status, &other.json()["field"]), (422, &json!("idempotency-key")));

    let viewer = served.as_role(KeyRole::Viewer).with("idempotency-key", "monday");
    assert_eq!(
        viewer.post("/api/v1/jobs/daily/run", &json!({})).status,
        403,
        "another's answer is not theirs"
    );

    let run = operator.get(asked.header("location").unwrap()).json();
    assert_eq!(
        (&run["status"], &run["job"], &run["revision"]),
        (&json!("requested"), &json!("daily"), &json!(2))
    );
    let id = run["run_id"].as_str().unwrap();
    let cancelled = operator.post(&format!("/api/v1/runs/{id}/cancel"), &json!({"reason": "a test"}));
    assert_eq!(
        (cancelled.status, &cancelled.json()["is_cancelled"]),
        (200, &json!(true)),
        "{}",
        cancelled.text()
    );
    // Asked again it is answered the same.
    assert_eq!(operator.post(&format!("/api/v1/runs/{id}/cancel"), &json!({})).status, 200);
    let listed = operator.get("/api/v1/runs?status=cancelled,failed&job=daily&limit=1").json();
    assert_eq!((&listed["items"][0]["run_id"], &listed["next"]), (&json!(id), &json!(null)));
    let events = operator.get(&format!("/api/v1/runs/{id}/events?limit=2")).json();
    assert_eq!(
        (&events["items"][0]["type"], &events["items"].as_array().unwrap().len()),
        (&json!("run.triggered"), &2)
    );
}

#[test]
fn what_is_wrong_is_named() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    let yaml = operator.clone().with("content-type", "application/yaml");
    let faulty = yaml.send("POST", "/api/v1/jobs", JOB.replace("key:", "kye:").as_bytes());
    assert_eq!((faulty.status, &faulty.json()["faults"][1]["line"]), (422, &json!(5)), "{}", faulty.text());
    let table = [
        ("GET", "/api/v1/jobs/daily", "", 404, json!(null)),
        ("GET", "/api/v1/runs/daily", "", 404, json!(null)),
        ("GET", "/api/v1/nothing", "", 404, json!(null)),
        ("DELETE", "/api/v1/jobs", "", 405, json!(null)),
        ("GET", "/api/v1/jobs?limit=0", "", 422, json!("limit")),
        ("GET", "/api/v1/jobs?limit=501", "", 422, json!("limit")),
        ("GET", "/api/v1/jobs?limit=ten", "", 422, json!("limit")),
        ("GET", "/api/v1/runs?after=x", "", 422, json!("after")),
        ("GET", "/api/v1/runs?status=lost", "", 422, json!("status")),
    ];
    for (method, path, body, status, field) in table {
        let reply = operator.send(method, path, body.as_bytes());
        assert_eq!(
            (reply.status, reply.json()["field"].clone()),
            (status, field),
            "{path}: {}",
            reply.text()
        );
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{path}");
    }
}
