//! Every statement is one that a migrated database understands.

use std::fs;
use std::path::{Path, PathBuf};

use crate::database::{connect, database, open};

/// The files of a folder of this crate, sorted.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    files
}

/// The text of a statement, by its name.
pub(crate) fn statement(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("sql/postgres/{name}.sql")))
        .unwrap()
}

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let url = database();
    open(&url).await.close().await.unwrap();
    let client = connect(&url).await;
    let files = files("sql/postgres");
    assert!(files.len() > 30);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if let Err(error) = client.prepare(&text).await {
            panic!("{}: {error:?}", file.display());
        }
    }
}
