//! Runs, and what others execute, as clients of other engines ask for them.

use serde_json::{Value, json};
use trueup_store::KeyRole;
use trueup_testkit::Http;

use crate::jobs::JOB;
use crate::served::Served;

/// Saves the job `daily`.
pub(crate) fn save_job(served: &Served) {
    let yaml = served.as_role(KeyRole::Operator).with("content-type", "application/yaml");
    let saved = yaml.send("POST", "/api/v1/jobs", JOB.as_bytes());
    assert_eq!(saved.status, 201, "{}", saved.text());
}

fn tell(http: &Http, id: u64, name: &str, step: &str) {
    let told = http.post("/api/events", &json!({ "execution_id": id, "event_type": name, "step": step }));
    assert_eq!(told.status, 200, "{}", told.text());
}

#[test]
fn a_job_is_executed_looked_at_and_cancelled() {
    let served = Served::new();
    save_job(&served);
    let operator = served.as_role(KeyRole::Operator);
    let wish = json!({ "path": "daily", "workload": {}, "resource_kind": "playbook" });
    let started = operator.post("/api/execute", &wish).json();
    let id = started["execution_id"].as_str().unwrap();
    assert_eq!(started, json!({ "execution_id": id, "status": "started", "commands_generated": 1 }));
    assert_eq!(operator.get(&format!("/api/v1/runs/{id}")).json()["status"], "requested");
    let status = json!({
        "execution_id": id, "status": "REQUESTED", "is_cancelled": false, "completed": false, "failed": false,
        "current_step": null, "completed_steps": [],
        "progress": { "total_steps": 0, "completed_steps": 0, "running_steps": 0, "failed_steps": 0 },
    });
    assert_eq!(operator.get(&format!("/api/executions/{id}/status")).json(), status);
    let detail = operator.get(&format!("/api/executions/{id}")).json();
    assert_eq!((&detail["path"], &detail["workload"]), (&json!("daily"), &json!({})));

    let cancel = format!("/api/executions/{id}/cancel");
    let cancelled = operator.post(&cancel, &json!({ "cascade": true, "reason": "loop" })).json();
    let message = format!("cancelled execution {id}");
    assert_eq!(
        cancelled,
        json!({ "execution_id": id, "status": "cancelled", "message": message, "cancelled_executions": [id] })
    );
    let status = operator.get(&format!("/api/executions/{id}/status")).json();
    assert_eq!((&status["status"], &status["is_cancelled"]), (&json!("CANCELLED"), &json!(true)));

    let missing = operator.post("/api/execute", &json!({ "path": "weekly" }));
    assert_eq!((missing.status, &missing.json()["error"]), (404, &json!("there is no job \"weekly\"")));
    let wrong = operator.post("/api/execute", &json!({ "path": "daily", "workload": { "day": 1 } }));
    assert_eq!((wrong.status, &wrong.json()["field"]), (422, &json!("workload")), "{}", wrong.text());
}

#[test]
fn what_others_execute_is_shown_beside_runs() {
    let served = Served::new();
    save_job(&served);
    let operator = served.as_role(KeyRole::Operator);
    tell(&operator, 1, "playbook.started", "flows/load");
    tell(&operator, 1, "step.enter", "extract");
    tell(&operator, 1, "step.exit", "extract");
    tell(&operator, 1, "step.enter", "load");
    let run = operator.post("/api/execute", &json!({ "path": "daily" })).json()["execution_id"].clone();
    tell(&operator, 2, "playbook.started", "flows/load");
    tell(&operator, 2, "playbook.failed", "flows/load");

    let status = operator.get("/api/executions/1/status").json();
    let expected = json!({
        "execution_id": "1", "status": "RUNNING", "is_cancelled": false, "completed": false, "failed": false,
        "current_step": "load", "completed_steps": ["extract"],
        "progress": { "total_steps": 2, "completed_steps": 1, "running_steps": 1, "failed_steps": 0 },
    });
    assert_eq!(status, expected);
    assert_eq!(operator.get("/api/executions/1").json()["path"], "flows/load");
    let table = [
        ("", json!(["2", run, "1"])),
        ("?status=&limit=&offset=", json!(["2", run, "1"])),
        ("?limit=1&offset=1", json!([run])),
        ("?limit=5&offset=2", json!(["1"])),
        ("?offset=3", json!([])),
        ("?offset=10000", json!([])),
        ("?status=FAILED", json!(["2"])),
        ("?status=running,Requested&limit=10", json!([run, "1"])),
        ("?status=COMPLETED", json!([])),
    ];
    for (query, ids) in table {
        let listed = operator.get(&format!("/api/executions{query}")).json();
        let found: Value = listed.as_array().unwrap().iter().map(|one| one["execution_id"].clone()).collect();
        assert_eq!(found, ids, "{query}");
    }
    for (query, field) in [
        ("?status=lost", "status"),
        ("?limit=0", "limit"),
        ("?limit=x", "limit"),
        ("?limit=501", "limit"),
        ("?offset=10001", "offset"),
        ("?offset=-1", "offset"),
        ("?path=a", "path"),
    ] {
        let refused = operator.get(&format!("/api/executions{query}"));
        assert_eq!((refused.status, &refused.json()["field"]), (422, &json!(field)), "{query}");
    }
    for path in
        ["/api/executions/3", "/api/executions/x", "/api/executions/3/status", "/api/executions/3/events"]
    {
        assert_eq!(operator.get(path).status, 404, "{path}");
    }
}

#[test]
fn what_is_over_stays_so_and_what_is_silent_is_cleaned_up() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    for id in 1..=3 {
        tell(&operator, id, "playbook.started", "flows/load");
    }
    tell(&operator, 1, "playbook.completed", "flows/load");
    let over = operator.post("/api/executions/1/cancel", &json!({}));
    let problem = over.json();
    assert_eq!(
        (over.status, &problem["status"], &problem["outcome"]),
        (400, &json!(400), &json!("COMPLETED"))
    );
    assert_eq!(problem["error"], "execution 1 has ended already: it is COMPLETED");

    let clean = |wish: Value| operator.post("/api/executions/cleanup", &wish);
    let recent = clean(json!({ "dry_run": false, "older_than_minutes": 10 })).json();
    assert_eq!((&recent["cancelled_count"], &recent["execution_ids"]), (&json!(0), &json!([])));
    // Until the clock that they were heard of by has gone on.
    let mut dry =
        std::iter::repeat_with(|| clean(json!({ "dry_run": true, "older_than_minutes": 0 })).json());
    let dry = dry.find(|answer| answer["cancelled_count"] == 2).unwrap();
    assert_eq!(dry["execution_ids"], json!(["2", "3"]));
    assert_eq!(operator.get("/api/executions/2").json()["status"], "RUNNING");
    let done = clean(json!({ "dry_run": false, "older_than_minutes": 0 })).json();
    let message = "cancelled 2 executions, silent for 0 minutes or more";
    assert_eq!(done, json!({ "cancelled_count": 2, "execution_ids": ["2", "3"], "message": message }));
    assert_eq!(operator.get("/api/executions/2").json()["status"], "CANCELLED");
    let again = operator.post("/api/executions/2/cancel", &json!({ "reason": "again" }));
    assert_eq!(again.status, 200, "{}", again.text());
    let wrong = clean(json!({ "dry_run": true }));
    assert_eq!(wrong.status, 422, "{}", wrong.text());
}

#[test]
fn tenants_see_nothing_of_each_other() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    tell(&operator, 1, "playbook.started", "flows/load");
    let other = served.runtime.block_on(served.store.tenant("other")).unwrap();
    let (stranger, _) = served.as_role_of(other, KeyRole::Admin, None);
    assert_eq!(stranger.get("/api/executions").json(), json!([]));
    for path in ["/api/executions/1", "/api/executions/1/status", "/api/executions/1/events"] {
        assert_eq!(stranger.get(path).status, 404, "{path}");
    }
    assert_eq!(stranger.post("/api/executions/1/cancel", &json!({})).status, 404);
    let none = stranger.post("/api/executions/cleanup", &json!({ "older_than_minutes": 0 })).json();
    assert_eq!(none["cancelled_count"], 0);
    // A number of theirs is another execution.
    tell(&stranger, 1, "playbook.failed", "flows/load");
    assert_eq!(operator.get("/api/executions/1").json()["status"], "RUNNING");
    assert_eq!(stranger.get("/api/executions/1").json()["status"], "FAILED");
}
