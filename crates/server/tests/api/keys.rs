//! Who may ask.

use trueup_store::KeyRole;

use crate::served::Served;

#[test]
fn a_key_is_good_until_it_expires_or_is_revoked() {
    let served = Served::new();
    let (revoked, key) = served.as_role_of(served.tenant_id, KeyRole::Viewer, None);
    assert_eq!(revoked.get("/api/v1/jobs").status, 200);
    let (expired, _) = served.as_role_of(served.tenant_id, KeyRole::Viewer, Some(1));
    let (other, other_key) = served.as_role_of(served.tenant_id, KeyRole::Viewer, None);
    served.runtime.block_on(served.store.revoke_key(served.tenant_id, other_key.id, "ann")).unwrap();
    let nobody = served.nobody();
    let table = [
        (nobody.clone(), "no key was shown: send the header `Authorization: Bearer KEY`"),
        (nobody.clone().with("authorization", "Basic abc"), "the header Authorization is not `Bearer KEY`"),
        (nobody.clone().key("hunter2"), "there is no such key"),
        (nobody.key(&"a".repeat(40)), "there is no such key"),
        (expired, "the key has expired"),
        (other, "the key was revoked"),
    ];
    for (http, problem) in table {
        let reply = http.get("/api/v1/jobs");
        assert_eq!((reply.status, &reply.json()["detail"]), (401, &problem.into()));
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"trueup\""));
    }
    assert_eq!(revoked.get("/api/v1/jobs").status, 200, "{key:?}");
}
