//! Jobs and their revisions.

use futures_util::future::join_all;
use serde_json::json;
use trueup_events::JobId;
use trueup_lifecycle::Policy;
use trueup_store::{Expected, Job, JobDocument, JobListed, Saved, StoreError};
use uuid::Uuid;

use crate::bench::{Bench, START_MS};

fn document(name: &str, says: u32) -> JobDocument {
    JobDocument {
        name: name.to_owned(),
        document: json!({ "name": name, "says": says }),
        queue: "default".to_owned(),
        policy: Policy::default(),
    }
}

async fn save(bench: &Bench, says: u32, expected: Expected) -> Result<Job, StoreError> {
    bench.store.save_job_if(bench.tenant_id, document("ledger", says), expected, "ann").await
}

pub(crate) async fn a_job_is_saved_if_it_is_what_it_is_taken_to_be(bench: Bench) {
    use Expected::{Any, New, Revision};
    // What it says, what it is taken to be, and the revision it has then, or had instead.
    let table = [
        (1, Revision(1), Err(None)),
        (1, New, Ok(1)),
        (1, New, Err(Some(1))),
        (2, New, Err(Some(1))),
        (1, Revision(1), Ok(1)),
        (2, Revision(1), Ok(2)),
        (3, Revision(1), Err(Some(2))),
        (3, Revision(3), Err(Some(2))),
        (3, Any, Ok(3)),
        (3, Any, Ok(3)),
    ];
    for (says, expected, outcome) in table {
        let saved = match save(&bench, says, expected).await {
            Ok(job) => Ok(job.revision),
            Err(StoreError::Changed { now }) => Err(now),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(saved, outcome, "{says} {expected:?}");
    }
}

pub(crate) async fn of_changes_at_once_one_is_made(bench: Bench) {
    for (expected, revision) in [(Expected::New, 1), (Expected::Revision(1), 2)] {
        let answers = join_all((0..6).map(|says| save(&bench, 10 * revision + says, expected))).await;
        let mut made = 0;
        for answer in answers {
            match answer {
                Ok(job) => made += u32::from(job.revision == revision),
                Err(StoreError::Changed { now }) => assert_eq!(now, Some(revision)),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(made, 1, "{expected:?}");
    }
}

pub(crate) async fn jobs_are_listed_by_name_and_page(bench: Bench) {
    let other = bench.store.tenant("globex").await.unwrap();
    bench.store.save_job(other, document("cash", 1), "bob").await.unwrap();
    for name in ["tax", "cash", "ledger"] {
        bench.store.save_job(bench.tenant_id, document(name, 1), "ann").await.unwrap();
    }
    bench.advance(1_000);
    let cash = bench.store.save_job(bench.tenant_id, document("cash", 2), "bob").await.unwrap();
    let page = async |after, limit| {
        let jobs = bench.store.jobs(bench.tenant_id, after, limit).await.unwrap();
        jobs.into_iter().map(|job| job.name).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 9).await, ["cash", "ledger", "revenue", "tax"]);
    assert_eq!(page(None, 2).await, ["cash", "ledger"]);
    assert_eq!(page(Some("ledger"), 1).await, ["revenue"]);
    assert_eq!(page(Some("lost"), 9).await, ["revenue", "tax"]);
    assert_eq!(page(Some("tax"), 9).await, [""; 0]);
    let listed = JobListed {
        id: cash.id,
        name: "cash".to_owned(),
        revision: 2,
        queue: "default".to_owned(),
        saved_at_ms: START_MS + 1_000,
        saved_by: "bob".to_owned(),
    };
    assert_eq!(bench.store.jobs(bench.tenant_id, None, 1).await.unwrap(), [listed]);
}

pub(crate) async fn a_job_and_its_revisions_are_its_tenants(bench: Bench) {
    let other = bench.store.tenant("globex").await.unwrap();
    let mut jobs = Vec::new();
    for says in 1..=4 {
        jobs.push(save(&bench, says, Expected::Any).await.unwrap());
        bench.advance(1_000);
    }
    let (id, present) = (jobs[0].id, jobs.last().cloned());
    let saved: Vec<Saved> = (1..=4_u32)
        .rev()
        .map(|revision| Saved {
            revision,
            saved_at_ms: START_MS + i64::from(revision - 1) * 1_000,
            saved_by: "ann".to_owned(),
        })
        .collect();
    let page = |before, limit| bench.store.revisions(bench.tenant_id, id, before, limit);
    assert_eq!(page(None, 2).await.unwrap(), saved[..2]);
    assert_eq!(page(Some(3), 9).await.unwrap(), saved[2..]);
    assert_eq!(page(Some(1), 9).await.unwrap(), []);
    assert_eq!(bench.store.job_by_id(bench.tenant_id, id).await.unwrap(), present);
    assert_eq!(bench.store.revision_of(bench.tenant_id, id, 2).await.unwrap(), Some(jobs[1].clone()));
    assert_eq!(bench.store.revision_of(bench.tenant_id, id, 5).await.unwrap(), None);

    for (tenant_id, id) in [(other, id), (bench.tenant_id, JobId(Uuid::now_v7()))] {
        assert_eq!(bench.store.job_by_id(tenant_id, id).await.unwrap(), None);
        assert_eq!(bench.store.revision_of(tenant_id, id, 2).await.unwrap(), None);
        assert_eq!(bench.store.revisions(tenant_id, id, None, 9).await.unwrap(), []);
    }
}
