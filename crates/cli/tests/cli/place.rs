//! A directory with sources, where `trueup` is run.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;

const LEDGER: &str = "txn_id,amount,ccy,note\n1,10.00,EUR,a\n2,20.00,EUR,b\n3,30.00,USD,c\n4,40.00,USD,\n";
const BANK: &str = "txn_id,amount,ccy,note\n2,20.01,EUR,b\n1,10.05,EUR,a\n5,50.00,USD,e\n4,40.00,USD,\"\"\n";

/// The directory, gone with the test.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(place.path().join(name), content).unwrap();
        }
        Self(place)
    }

    pub(crate) fn with_ledger_and_bank() -> Self {
        Self::new(&[("ledger.csv", LEDGER), ("bank.csv", BANK)])
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write_parquet(&self, name: &str, batch: &RecordBatch) {
        let file = fs::File::create(self.path().join(name)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    pub(crate) fn diff(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Any command of `trueup`.
    pub(crate) fn trueup(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.current_dir(self.path()).env_remove("NO_COLOR").args(arguments);
        for name in ["TRUEUP_STORE", "TRUEUP_DATA_DIR", "TRUEUP_LOG", "TRUEUP_BOOTSTRAP_KEY"] {
            command.env_remove(name);
        }
        // Tests serve side by side.
        command.env("TRUEUP_LISTEN", "127.0.0.1:0");
        command.env("XDG_DATA_HOME", self.path().join("data")).env("USER", "ann");
        command
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.trueup(&["diff"]);
        command.args(arguments);
        if !arguments.contains(&"--memory") {
            command.args(["--memory", "64MiB"]);
        }
        command
    }

    /// Exit code, standard output, standard error.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        shown(self.diff(arguments))
    }
}

const BOTH: [&str; 4] = ["ledger=ledger.csv", "bank=bank.csv", "--key", "txn_id"];

pub(crate) fn with(more: &[&'static str]) -> Vec<&'static str> {
    BOTH.iter().chain(more).copied().collect()
}

/// Exit code, standard output, standard error.
pub(crate) fn shown(output: Output) -> String {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    format!("exit {}\n{}{}", output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
