//! The audit log refuses to be changed, and tells when it was.

use trueup_store::{Fault, Store};

use crate::database::{connect, database, open, tenant, wish};

async fn fault(store: &Store) -> Option<Fault> {
    store.verify_audit(None).await.unwrap().fault
}

#[tokio::test]
async fn nothing_is_changed_or_removed() {
    let url = database();
    let store = open(&url).await;
    tenant(&store).await;
    assert_eq!(fault(&store).await, None);
    let raw = connect(&url).await;
    for table in ["audit", "audit_chain"] {
        let column = if table == "audit" { "at_ms" } else { "number" };
        for attempt in [
            format!("update trueup.{table} set {column} = {column} + 1"),
            format!("delete from trueup.{table}"),
            format!("truncate trueup.{table}"),
        ] {
            let refused = raw.batch_execute(&attempt).await.unwrap_err();
            assert_eq!(refused.as_db_error().unwrap().message(), "the audit log is append-only", "{attempt}");
        }
    }
}

#[tokio::test]
async fn who_gets_around_that_is_found_out() {
    let table = [
        ("update trueup.audit set actor = 'eve' where id = 2", Fault::Changed { number: 2 }),
        ("delete from trueup.audit where id = 3", Fault::Missing { number: 3 }),
        ("delete from trueup.audit_chain where number = 2", Fault::Missing { number: 2 }),
        ("update trueup.audit_chain set hash = sha256('') where number = 1", Fault::Changed { number: 1 }),
    ];
    for (tampering, expected) in table {
        let url = database();
        let store = open(&url).await;
        let tenant_id = tenant(&store).await;
        for _ in 0..4 {
            store.trigger(wish(tenant_id)).await.unwrap();
        }
        assert_eq!(fault(&store).await, None);
        let raw = connect(&url).await;
        let around = format!("set session_replication_role = replica; {tampering}");
        raw.batch_execute(&around).await.unwrap();
        assert_eq!(fault(&store).await, Some(expected), "{tampering}");
    }
}
