//! `trueup init`: a job that runs, with data, to start from.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::Init;
use crate::failure::Failure;
use crate::{output, shell};

const FILES: [(&str, &str); 3] = [
    ("job.yaml", include_str!("init/job.yaml")),
    ("ledger.csv", include_str!("init/ledger.csv")),
    ("bank.csv", include_str!("init/bank.csv")),
];

/// Writes the files of the example where none of them is yet, and says what to do with them.
pub(crate) fn init(options: &Init) -> Result<ExitCode, Failure> {
    let folder = &options.folder;
    let place = |name: &str| if folder == Path::new(".") { name.into() } else { folder.join(name) };
    let paths = FILES.map(|(name, _)| place(name));
    if let Some(path) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        let what = format!("{} is there already, and nothing was written", path.display());
        return Err(Failure::usage_hint(what, "name a folder: trueup init DIR"));
    }
    let refused = |path: &Path, source| Failure::Write { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    for (path, (_, content)) in paths.iter().zip(FILES) {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        file.and_then(|mut file| file.write_all(content.as_bytes())).map_err(|error| refused(path, error))?;
    }
    let [job, ledger, bank] = paths.map(|path| shell::word(&path.display().to_string()));
    output::say(&format!(
        "wrote {job}, {ledger} and {bank}\n\nNow check the job, and run it:\n  trueup check {job}\n  trueup run {job}\n"
    ))
}
