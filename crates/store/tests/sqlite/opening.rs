//! What is made a store, and what is refused and left as it is.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;
use trueup_events::TenantId;
use trueup_store::{Options, Place, Role, Store, StoreError};

use crate::place::{folder, open, open_with_job, place, wish};

/// Files and what they hold.
fn contents(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut contents: Vec<_> =
        files.map(|file| (file.file_name(), fs::read(file.path()).unwrap_or_default())).collect();
    contents.sort();
    contents
}

/// The files of a store with one run, as its process would leave them that was killed.
async fn left_open() -> (TempDir, TenantId) {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in contents(folder.path()) {
        fs::write(copy.path().join(name), bytes).unwrap();
    }
    (copy, tenant_id)
}

async fn refusal(path: &Path, role: Role) -> StoreError {
    let before = contents(path.parent().unwrap());
    let refused = Store::open(&Place::Sqlite(path.to_owned()), role, Options::default()).await;
    let refused = refused.expect_err("it should be refused");
    assert!(contents(path.parent().unwrap()) == before, "{refused}: it was changed");
    refused
}

/// The bytes of a store that has been used and closed.
async fn used_store() -> Vec<u8> {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    for _ in 0..50 {
        store.trigger(wish(tenant_id)).await.unwrap();
    }
    store.close().await.unwrap();
    fs::read(folder.path().join("store.db")).unwrap()
}

fn foreign(application_id: i32, journal: &str) -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("other.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "application_id", application_id).unwrap();
    connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(())).unwrap();
    connection.execute_batch("create table recipes (name text)").unwrap();
    drop(connection);
    fs::read(path).unwrap()
}

#[tokio::test]
async fn what_is_no_store_is_left_as_it_is() {
    let store = used_store().await;
    let mut garbled = store.clone();
    garbled[3 * 4096..6 * 4096].fill(0xa5);
    let mut newer = store.clone();
    newer[60..64].copy_from_slice(&999_u32.to_be_bytes());
    let noise: Vec<u8> = (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("random bytes", noise, "Foreign"),
        ("a text", b"id,amount\n1,2\n".repeat(99), "Foreign"),
        ("a short text", b"x".to_vec(), "Foreign"),
        ("SQLite's first bytes alone", b"SQLite format 3\0".to_vec(), "Foreign"),
        ("a database of nobody", foreign(0, "delete"), "Foreign"),
        ("a database of another application", foreign(0x4750_4b47, "wal"), "Foreign"),
        ("a store cut off in its header", store[..90].to_vec(), "Foreign"),
        ("a store cut off after a page", store[..4096].to_vec(), "Damaged"),
        ("a store cut off within a page", store[..store.len() / 2 + 77].to_vec(), "Damaged"),
        ("a store without its last byte", store[..store.len() - 1].to_vec(), "Damaged"),
        ("a store of a later version", newer, "Newer"),
        ("a store with garbage in it", garbled, "Damaged"),
    ];
    for (name, bytes, kind) in table {
        let folder = folder();
        let path = folder.path().join("store ?#%.db");
        fs::write(&path, &bytes).unwrap();
        for role in [Role::Server, Role::Command] {
            let refused = refusal(&path, role).await;
            assert!(format!("{refused:?}").starts_with(kind), "{name}, {role:?}: {refused:?}");
            assert!(!refused.is_passing(), "{name}");
            assert!(fs::read(&path).unwrap() == bytes, "{name}, {role:?}: it was changed");
        }
    }
}

/// Makes a store so large that not all of it is looked at, and says where its tables begin.
fn enlarge(path: &Path) -> impl Fn(&str) -> usize {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("create table ballast as select zeroblob(65 * 1024 * 1024)").unwrap();
    let root = "select rootpage from sqlite_schema where name = ?";
    move |table| {
        let page: u16 = connection.query_row(root, [table], |row| row.get(0)).unwrap();
        usize::from(page - 1) * 4096
    }
}

#[tokio::test]
async fn a_large_store_that_is_damaged_is_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("store.db");
    fs::write(&path, used_store().await).unwrap();
    let begins = enlarge(&path);
    let places = ["meta", "tenants", "queues", "jobs"].map(begins);
    let whole = fs::read(&path).unwrap();
    for at in places {
        let mut damaged = whole.clone();
        damaged[at..at + 4096].fill(0xa5);
        fs::write(&path, damaged).unwrap();
        for role in [Role::Server, Role::Command] {
            let refused = refusal(&path, role).await;
            assert!(matches!(refused, StoreError::Damaged { .. }), "{at}, {role:?}: {refused:?}");
        }
    }
    fs::write(&path, whole).unwrap();
    open(&folder, Role::Server).await.close().await.unwrap();
}

#[tokio::test]
async fn a_place_that_cannot_be_used_is_an_error_of_its_own_kind() {
    let folder = folder();
    let missing = folder.path().join("missing/store.db");
    let refused = Store::open(&Place::Sqlite(missing), Role::Command, Options::default()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NoPlace { .. }), "{refused:?}");
    assert!(refused.to_string().contains("missing"), "{refused}");

    let inside = folder.path().join("folder");
    fs::create_dir(&inside).unwrap();
    assert!(matches!(refusal(&inside, Role::Server).await, StoreError::Foreign { .. }));

    let file = folder.path().join("file");
    fs::write(&file, used_store().await).unwrap();
    set_read_only(&file, true);
    assert!(matches!(refusal(&file, Role::Server).await, StoreError::ReadOnly { .. }));
    assert!(matches!(refusal(&file, Role::Command).await, StoreError::ReadOnly { .. }));

    set_read_only(&inside, true);
    assert!(matches!(refusal(&inside.join("store.db"), Role::Server).await, StoreError::ReadOnly { .. }));
    set_read_only(&inside, false);
}

fn set_read_only(path: &Path, read_only: bool) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(read_only);
    fs::set_permissions(path, permissions).unwrap();
}

#[tokio::test]
async fn a_file_of_several_names_is_refused_by_each() {
    let folder = folder();
    let (path, other) = (folder.path().join("store.db"), folder.path().join("other.db"));
    let (store, tenant_id) = open_with_job(&folder).await;
    fs::hard_link(&path, &other).unwrap();
    for role in [Role::Server, Role::Command, Role::Reader] {
        let refused = refusal(&other, role).await;
        assert!(matches!(refused, StoreError::Named { names: 2 }), "{role:?}: {refused:?}");
    }
    store.trigger(wish(tenant_id)).await.unwrap();
    store.close().await.unwrap();
    assert!(matches!(refusal(&path, Role::Server).await, StoreError::Named { .. }));
    fs::remove_file(&other).unwrap();
    open(&folder, Role::Server).await.close().await.unwrap();
}

#[tokio::test]
async fn an_empty_file_is_made_a_store() {
    let folder = folder();
    let path = folder.path().join("store.db");
    fs::write(&path, b"").unwrap();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    store.close().await.unwrap();
    let connection = Connection::open(&path).unwrap();
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(pragma("application_id"), i64::from(u32::from_be_bytes(*b"trup")));
    assert!(pragma("user_version") > 0);
}

#[tokio::test]
async fn closing_leaves_the_file_and_the_lock_alone() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    store.runs(&crate::place::all(tenant_id)).await.unwrap();
    store.close().await.unwrap();
    let files: Vec<_> = contents(folder.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["store.db", "store.db.lock"]);
    // Dropped instead of closed, it lets go all the same.
    drop(open(&folder, Role::Server).await);
    open(&folder, Role::Server).await.close().await.unwrap();
}

#[tokio::test]
async fn a_store_that_was_not_closed_goes_on() {
    let (copy, tenant_id) = left_open().await;
    let store = open(&copy, Role::Server).await;
    assert_eq!(store.runs(&crate::place::all(tenant_id)).await.unwrap().len(), 1);
}

const PATH_FOR_A_CHILD: &str = "TRUEUP_TEST_STORE";

/// Each of several processes runs this very test, and finds the path of the store in its environment.
#[tokio::test]
async fn processes_that_make_a_store_at_once_make_one() {
    if let Some(path) = std::env::var_os(PATH_FOR_A_CHILD) {
        let store =
            Store::open(&Place::Sqlite(path.into()), Role::Command, Options::default()).await.unwrap();
        store.tenant("acme").await.unwrap();
        return store.close().await.unwrap();
    }
    for _ in 0..3 {
        let folder = folder();
        let Place::Sqlite(path) = place(&folder) else { unreachable!() };
        let children: Vec<_> = (0..6)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["opening::processes_that_make_a_store_at_once_make_one", "--exact", "--nocapture"])
                    .env(PATH_FOR_A_CHILD, &path)
                    .stdout(std::process::Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let connection = Connection::open(&path).unwrap();
        let nodes: i64 = connection.query_row("select next_node from meta", [], |row| row.get(0)).unwrap();
        assert_eq!(nodes, 6);
        let tenants: i64 =
            connection.query_row("select count(*) from tenants", [], |row| row.get(0)).unwrap();
        assert_eq!(tenants, 1);
    }
}

#[tokio::test]
async fn who_only_reads_makes_and_changes_nothing() {
    let folder = folder();
    let path = folder.path().join("store.db");
    assert!(matches!(refusal(&path, Role::Reader).await, StoreError::NoStore { .. }));
    fs::write(&path, b"").unwrap();
    assert!(matches!(refusal(&path, Role::Reader).await, StoreError::NoStore { .. }));
    let names = |folder: &Path| contents(folder).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(folder.path()), ["store.db"]);

    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let head = store.verify_audit(None).await.unwrap().head;
    store.close().await.unwrap();
    let before = contents(folder.path());
    let reader = open(&folder, Role::Reader).await;
    assert_eq!(reader.verify_audit(Some(head)).await.unwrap().fault, None);
    assert_eq!(reader.read_from(0, None, 9).await.unwrap().len(), 2);
    let refused = reader.trigger(wish(tenant_id)).await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused:?}");
    reader.close().await.unwrap();
    assert!(contents(folder.path()) == before, "no byte is another");

    // One of them may not be written, or both.
    for read_only in [vec![path.as_path()], vec![folder.path()], vec![path.as_path(), folder.path()]] {
        read_only.iter().for_each(|path| set_read_only(path, true));
        let reader = open(&folder, Role::Reader).await;
        assert_eq!(reader.verify_audit(Some(head)).await.unwrap().fault, None, "{read_only:?}");
        reader.close().await.unwrap();
        assert!(contents(folder.path()) == before, "{read_only:?}: no byte is another");
        read_only.iter().for_each(|path| set_read_only(path, false));
    }

    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let refused = refusal(&path, Role::Reader).await;
    assert!(matches!(refused, StoreError::Older { found: 2, .. }), "{refused:?}");
}

#[tokio::test]
async fn what_was_not_closed_can_be_read_where_nothing_may_be_written() {
    let (copy, _) = left_open().await;
    let path = copy.path().join("store.db");
    for path in [&path, copy.path()] {
        set_read_only(path, true);
    }
    // The shared memory is SQLite's to make anew.
    let lasting = || {
        let mut contents = contents(copy.path());
        contents.retain(|(name, _)| name != "store.db-shm");
        contents
    };
    let before = lasting();
    let reader = open(&copy, Role::Reader).await;
    let audited = reader.verify_audit(None).await.unwrap();
    assert_eq!((audited.entries, audited.unlinked, audited.fault), (2, 0, None));
    reader.close().await.unwrap();
    assert!(lasting() == before, "no byte is another");
    set_read_only(copy.path(), false);
}
