//! The files of the repository, as they are on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::source::Source;

/// Folders that are built, fetched or generated; `bench/data` is what the benchmarks make.
const NOT_OURS: [&str; 6] = [".git", "target", "node_modules", "__pycache__", ".venv", "bench/data"];

/// What larger files hold is data, not text that somebody wrote.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The top folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("testkit is two folders below the root").to_path_buf()
}

/// Every text file, read once.
pub(crate) fn files() -> &'static [Source] {
    static FILES: OnceLock<Vec<Source>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        collect(&root(), "", &mut files);
        assert!(files.iter().any(|file| file.path == "Cargo.toml"), "not at the root of the workspace");
        files
    })
}

/// The names of the folders in `crates`.
pub(crate) fn crates() -> Vec<String> {
    let mut names: Vec<_> =
        files().iter().filter_map(|file| crate_of(&file.path)).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The crate that a file belongs to.
pub(crate) fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split_once('/').map(|(name, _)| name)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry has a type");
        if NOT_OURS.contains(&name.as_str()) || NOT_OURS.contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file() && entry.metadata().is_ok_and(|meta| meta.len() <= TEXT_BYTES_MAX) {
            let bytes = fs::read(entry.path()).unwrap_or_else(|error| panic!("{path}: {error}"));
            // Test data may be binary or in another encoding; the rules are about text.
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(Source::new(&path, &text));
            }
        }
    }
}
