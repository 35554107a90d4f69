//! Keys, and the tenants whose they are.

use std::sync::Arc;

use futures_util::future::join_all;
use trueup_events::TenantId;
use trueup_store::{Key, KeyRole, NewKey, StoreError, Tenant};
use uuid::Uuid;

use crate::bench::{Bench, START_MS};

fn new_key(tenant_id: TenantId, name: &str, role: KeyRole) -> NewKey {
    let id = Uuid::now_v7();
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(id.as_bytes());
    NewKey { id, tenant_id, name: name.to_owned(), role, hash, expires_at_ms: None }
}

/// What was done about keys and tenants, and by whom.
async fn deeds(bench: &Bench, tenant_id: TenantId) -> Vec<(String, String)> {
    let entries = bench.store.audit(0, Some(tenant_id), 100).await.unwrap();
    let deeds = entries.into_iter().map(|audit| (audit.entry.actor, audit.entry.action.into_owned()));
    deeds.filter(|(_, action)| action.ends_with("_key") || action.ends_with("_tenant")).collect()
}

pub(crate) async fn a_key_is_found_by_the_hash_of_its_text(bench: Bench) {
    for role in KeyRole::ALL {
        let new = NewKey {
            expires_at_ms: (role == KeyRole::Worker).then_some(START_MS - 1),
            ..new_key(bench.tenant_id, role.name(), role)
        };
        let made = bench.store.make_key(new.clone(), "ann").await.unwrap();
        let expected = Key {
            id: new.id,
            tenant_id: bench.tenant_id,
            name: role.name().to_owned(),
            role,
            created_at_ms: START_MS,
            created_by: "ann".to_owned(),
            expires_at_ms: new.expires_at_ms,
            revoked_at_ms: None,
        };
        assert_eq!(made, expected);
        assert_eq!(bench.store.key_of(new.hash).await.unwrap(), Some(expected), "also one that has expired");
    }
    assert_eq!(bench.store.key_of([7; 32]).await.unwrap(), None);
}

pub(crate) async fn a_key_that_is_made_again_is_the_same(bench: Bench) {
    let new = new_key(bench.tenant_id, "nightly", KeyRole::Operator);
    let made = bench.store.make_key(new.clone(), "ann").await.unwrap();
    bench.advance(1_000);
    assert_eq!(bench.store.make_key(new.clone(), "bob").await.unwrap(), made);
    assert_eq!(deeds(&bench, bench.tenant_id).await, [("ann".to_owned(), "make_key".to_owned())]);

    let other = bench.store.tenant("globex").await.unwrap();
    let differing = [
        NewKey { tenant_id: other, ..new.clone() },
        NewKey { role: KeyRole::Admin, ..new.clone() },
        NewKey { hash: [7; 32], ..new.clone() },
        NewKey { expires_at_ms: Some(START_MS), ..new.clone() },
    ];
    for new in differing {
        let refused = bench.store.make_key(new, "ann").await.unwrap_err();
        assert!(matches!(refused, StoreError::Differs { id, .. } if id == made.id), "{refused}");
    }
    let nobody = TenantId(Uuid::now_v7());
    let refused = bench.store.make_key(new_key(nobody, "x", KeyRole::Viewer), "ann").await.unwrap_err();
    assert!(matches!(refused, StoreError::NoSuchTenant(id) if id == nobody), "{refused}");
}

pub(crate) async fn a_key_is_revoked_once_and_by_its_tenant(bench: Bench) {
    let new = new_key(bench.tenant_id, "nightly", KeyRole::Operator);
    let made = bench.store.make_key(new.clone(), "ann").await.unwrap();
    let other = bench.store.tenant("globex").await.unwrap();
    bench.advance(1_000);
    assert_eq!(bench.store.revoke_key(other, made.id, "eve").await.unwrap(), None);
    assert_eq!(bench.store.revoke_key(bench.tenant_id, Uuid::now_v7(), "ann").await.unwrap(), None);
    assert_eq!(bench.store.key_of(new.hash).await.unwrap(), Some(made.clone()));

    let revoked = Key { revoked_at_ms: Some(START_MS + 1_000), ..made };
    let (tenant_id, key_id) = (bench.tenant_id, revoked.id);
    let revoke = || bench.store.revoke_key(tenant_id, key_id, "ann");
    for answer in join_all([revoke(), revoke()]).await {
        assert_eq!(answer.unwrap(), Some(revoked.clone()));
    }
    bench.advance(1_000);
    assert_eq!(revoke().await.unwrap(), Some(revoked.clone()));
    assert_eq!(bench.store.key_of(new.hash).await.unwrap(), Some(revoked.clone()));
    assert_eq!(bench.store.make_key(new, "ann").await.unwrap(), revoked, "asking again revives no key");
    let deeds = deeds(&bench, tenant_id).await;
    assert_eq!(deeds, [("ann", "make_key"), ("ann", "revoke_key")].map(|(by, did)| (by.into(), did.into())));
}

pub(crate) async fn keys_are_listed_by_page(bench: Bench) {
    let other = bench.store.tenant("globex").await.unwrap();
    let mut made = Vec::new();
    for number in 0..5 {
        let new = new_key(bench.tenant_id, &format!("key {number}"), KeyRole::Viewer);
        made.push(bench.store.make_key(new, "ann").await.unwrap());
        bench.store.make_key(new_key(other, "theirs", KeyRole::Viewer), "bob").await.unwrap();
    }
    made.sort_by_key(|key| key.id);
    let page = |after, limit| bench.store.keys(bench.tenant_id, after, limit);
    assert_eq!(page(None, 2).await.unwrap(), made[..2]);
    assert_eq!(page(Some(made[1].id), 2).await.unwrap(), made[2..4]);
    assert_eq!(page(Some(made[3].id), 9).await.unwrap(), made[4..]);
    assert_eq!(page(Some(made[4].id), 9).await.unwrap(), []);
}

pub(crate) async fn the_first_key_is_made_once(bench: Bench) {
    let wishes = (0..8).map(|number: u8| {
        let store = Arc::clone(&bench.store);
        tokio::spawn(async move { store.bootstrap("default", [number; 32], Uuid::now_v7()).await.unwrap() })
    });
    let answers = join_all(wishes.collect::<Vec<_>>()).await;
    let mut made: Vec<Key> = answers.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(made.len(), 1, "one wins");
    let first = made.remove(0);
    assert_eq!(Some(first.tenant_id), bench.store.tenant_named("default").await.unwrap());
    assert_eq!((first.role, first.expires_at_ms), (KeyRole::Admin, None));
    assert_eq!(deeds(&bench, first.tenant_id).await, [("bootstrap".to_owned(), "make_key".to_owned())]);
    let queues = bench.store.queues(first.tenant_id).await.unwrap();
    assert_eq!(queues.len(), 1, "what a tenant has is made with it");

    bench.store.revoke_key(first.tenant_id, first.id, "ann").await.unwrap();
    let again = bench.store.bootstrap("default", [99; 32], Uuid::now_v7()).await.unwrap();
    assert_eq!(again, None, "a store whose keys were all revoked is not anybody's");
}

pub(crate) async fn a_tenant_is_made_once_and_its_name_is_its_own(bench: Bench) {
    let id = TenantId(Uuid::now_v7());
    bench.advance(1_000);
    let made = bench.store.make_tenant(id, "globex", "ann").await.unwrap();
    assert_eq!(made, Tenant { id, name: "globex".to_owned(), made_at_ms: START_MS + 1_000 });
    bench.advance(1_000);
    assert_eq!(bench.store.make_tenant(id, "globex", "bob").await.unwrap(), made);
    assert_eq!(deeds(&bench, id).await, [("ann".to_owned(), "make_tenant".to_owned())]);
    assert_eq!(bench.store.queues(id).await.unwrap().len(), 1);

    for (id, name) in [(TenantId(Uuid::now_v7()), "globex"), (TenantId(Uuid::now_v7()), "acme")] {
        let refused = bench.store.make_tenant(id, name, "ann").await.unwrap_err();
        assert!(matches!(&refused, StoreError::TenantTaken { name: taken } if taken == name), "{refused}");
        assert_eq!(bench.store.tenant_by_id(id).await.unwrap(), None);
    }
    let refused = bench.store.make_tenant(id, "initech", "ann").await.unwrap_err();
    assert!(matches!(refused, StoreError::Differs { .. }), "{refused}");

    let acme = Tenant { id: bench.tenant_id, name: "acme".to_owned(), made_at_ms: START_MS };
    let mut all = vec![acme, made];
    all.sort_by_key(|tenant| tenant.id.0);
    assert_eq!(bench.store.tenants(None, 9).await.unwrap(), all);
    assert_eq!(bench.store.tenants(None, 1).await.unwrap(), all[..1]);
    assert_eq!(bench.store.tenants(Some(all[0].id), 9).await.unwrap(), all[1..]);
    assert_eq!(bench.store.tenant_by_id(id).await.unwrap().as_ref(), all.iter().find(|one| one.id == id));
}
