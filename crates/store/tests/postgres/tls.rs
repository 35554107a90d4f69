//! Encrypted connections: `sslmode` and `sslrootcert` mean what they mean to libpq.

use std::path::Path;

use trueup_store::{Options, Place, Role, Store, StoreError};
use trueup_testkit::{Certified, Postgres, certify, certify_server};

use crate::database::{connect, tenant, wish};

async fn open(url: &str) -> Result<Store, StoreError> {
    Store::open(&Place::Postgres(url.to_owned()), Role::Server, Options::default()).await
}

/// Opens a store with each of the parameters, and compares: whether its connections are encrypted, or what it is refused with.
async fn check(server: &Postgres, table: &[(&str, &str, Result<bool, &str>)]) {
    let url = server.database().unwrap();
    let database = url.rsplit_once('/').unwrap().1;
    let raw = connect(&url).await;
    for (host, parameters, expected) in table {
        let url = format!("postgres://postgres@{host}:{}/{database}?{parameters}", server.port());
        match (open(&url).await, expected) {
            (Ok(store), Ok(is_encrypted)) => {
                store.trigger(wish(tenant(&store).await)).await.unwrap();
                let seen =
                    "select bool_or(ssl), bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid)
                    where application_name = 'trueup'";
                let seen = raw.query_one(seen, &[]).await.unwrap();
                assert_eq!((seen.get(0), seen.get(1)), (*is_encrypted, *is_encrypted), "{url}");
                store.close().await.unwrap();
            }
            (Err(StoreError::Failed { problem, .. }), Err(words)) => {
                assert!(problem.contains(words), "{url}: {problem}");
            }
            (other, _) => panic!("{url}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_trusted_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let Certified { root, stranger, certificate, key } = certify_server(dir.path());
    let server = Postgres::start_encrypted(&certificate, &key).unwrap();
    let with = |mode: &str, path: &Path| format!("sslmode={mode}&sslrootcert={}", path.display());
    let table = [
        ("127.0.0.1", "sslmode=disable".to_owned(), Ok(false)),
        ("127.0.0.1", String::new(), Ok(true)),
        ("127.0.0.1", "sslmode=prefer".to_owned(), Ok(true)),
        ("127.0.0.1", "sslmode=require".to_owned(), Ok(true)),
        ("127.0.0.1", with("require", &root), Ok(true)),
        ("127.0.0.1", with("require", &stranger), Err("UnknownIssuer")),
        ("127.0.0.1", with("verify-ca", &root), Ok(true)),
        ("127.0.0.1", with("verify-ca", &stranger), Err("UnknownIssuer")),
        ("localhost", with("verify-full", &root), Ok(true)),
        ("localhost", with("verify-full", &stranger), Err("UnknownIssuer")),
        ("127.0.0.1", with("verify-full", &root), Err("not valid for name")),
    ];
    let table: Vec<_> =
        table.iter().map(|(host, parameters, expected)| (*host, parameters.as_str(), *expected)).collect();
    check(&server, &table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_own_certificate_can_be_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let (certificate, key) = certify(dir.path(), "server", &[]);
    let server = Postgres::start_encrypted(&certificate, &key).unwrap();
    let parameters = format!("sslmode=verify-full&sslrootcert={}", certificate.display());
    check(
        &server,
        &[("localhost", &parameters, Ok(true)), ("127.0.0.1", &parameters, Err("not valid for name"))],
    )
    .await;
}

#[tokio::test]
async fn what_has_to_be_encrypted_is_not_sent_otherwise() {
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://ann@{}?sslmode=require", server.local_addr().unwrap());
    let refuse = async {
        let (mut socket, _) = server.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"N").await.unwrap();
        let mut said = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut socket, &mut said).await.unwrap();
        said
    };
    let (said, opened) = futures_util::future::join(refuse, open(&url)).await;
    let refusal = opened.unwrap_err();
    assert!(refusal.to_string().contains("does not support TLS"), "{refusal}");
    assert_eq!(said.len(), 8, "it asked whether to encrypt, and said no more");
}
