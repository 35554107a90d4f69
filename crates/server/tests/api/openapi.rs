//! The description of the API.

use serde_json::{Value, json};
use trueup_store::KeyRole;

use crate::served::Served;

/// Every route and method that is described.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of_path = |(path, item): (&String, &'_ Value)| -> Vec<(String, String)> {
        let methods = item.as_object().unwrap().keys();
        methods.map(|method| (method.to_uppercase(), path.clone())).collect()
    };
    let named = paths.flat_map(of_path);
    named
        .map(|(method, path)| {
            let operation = &document["paths"][&path][method.to_lowercase()];
            (method, path, operation)
        })
        .collect()
}

#[test]
fn the_description_is_the_one_in_the_docs() {
    let served = Served::new();
    let document = serde_json::to_value(trueup_server::document()).unwrap();
    assert_eq!(served.nobody().get("/api/v1/openapi.json").json(), document);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let written = concat!(env!("CARGO_TARGET_TMPDIR"), "/openapi.json");
    std::fs::write(written, serde_json::to_string_pretty(&document).unwrap() + "\n").unwrap();
    assert!(kept == document, "the API has changed: if that is meant, {written} is docs/openapi.json now");
    assert_eq!(document["openapi"], json!("3.1.0"));
}

/// Every route, asked by everybody: without a key nothing is told, and a role does what it may and no more.
#[test]
fn every_route_knows_who_asks() {
    let served = Served::new();
    let document = serde_json::to_value(trueup_server::document()).unwrap();
    let (expired, _) = served.as_role_of(served.tenant_id, KeyRole::Admin, Some(1));
    let roles = KeyRole::ALL.map(|role| (role, served.as_role(role)));
    let mut allowed = Vec::new();
    for (method, path, operation) in operations(&document) {
        let asked = path.replace(['{', '}'], "");
        for nobody in [&served.nobody(), &expired] {
            assert_eq!(nobody.send(&method, &asked, b"").status, 401, "{method} {path}");
        }
        let may = roles.iter().filter(|(_, http)| http.send(&method, &asked, b"").status != 403);
        let may: Vec<&str> = may.map(|(role, _)| role.name()).collect();
        allowed.push(format!("{method} {path}: {}", may.join(" ")));
        assert!(operation["responses"]["401"].is_object(), "{method} {path}");
    }
    insta::assert_snapshot!(allowed.join("\n"), @r"
    POST /api/cloudevents: operator admin ingest worker
    POST /api/events: operator admin ingest worker
    POST /api/events/batch: operator admin ingest worker
    POST /api/execute: operator admin
    GET /api/executions: viewer operator admin
    POST /api/executions/cleanup: operator admin
    GET /api/executions/{execution}: viewer operator admin
    POST /api/executions/{execution}/cancel: operator admin
    GET /api/executions/{execution}/events: viewer operator admin
    GET /api/executions/{execution}/status: viewer operator admin
    GET /api/v1/audit: admin
    GET /api/v1/jobs: viewer operator admin
    POST /api/v1/jobs: operator admin
    GET /api/v1/jobs/{job}: viewer operator admin
    PUT /api/v1/jobs/{job}: operator admin
    GET /api/v1/jobs/{job}/revisions: viewer operator admin
    GET /api/v1/jobs/{job}/revisions/{revision}: viewer operator admin
    POST /api/v1/jobs/{job}/run: operator admin
    GET /api/v1/keys: admin
    POST /api/v1/keys: admin
    DELETE /api/v1/keys/{key}: admin
    GET /api/v1/queues: viewer operator admin
    PUT /api/v1/queues/{queue}: operator admin
    GET /api/v1/runs: viewer operator admin
    GET /api/v1/runs/{run}: viewer operator admin
    POST /api/v1/runs/{run}/cancel: operator admin
    GET /api/v1/runs/{run}/events: viewer operator admin
    GET /api/v1/tenants: admin
    POST /api/v1/tenants: admin
    ");
}
