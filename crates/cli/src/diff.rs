//! `trueup diff`, from the command line to the exit code.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use trueup_compare::{BreaksFile, Limits, Progress, Source, Verdict};
use trueup_extract::Scheme;
use trueup_reconcile::{Input, OpenError};

use crate::arguments::Diff;
use crate::failure::Failure;
use crate::fetching::fetch;
use crate::interrupt::Interrupts;
use crate::output::ReportFile;
use crate::progress::Bars;
use crate::report::{self, Format, Look, Report, verdict_line};
use crate::source_names::{self, SourceNames};
use crate::specification;
use crate::{memory, output, shell, targets, terminal};

/// Compares, reports, and says how to exit.
pub(crate) fn run(options: &Diff) -> Result<ExitCode, Failure> {
    let (names, paths) = source_names::parse(&options.sources)?;
    let limits = limits(options)?;
    let output = options.output.as_deref().filter(|path| *path != Path::new("-"));
    let breaks = options.breaks.as_deref();
    let targets: Vec<(&str, &Path)> = (breaks.map(|path| ("--breaks", path)).into_iter())
        .chain(output.map(|path| ("--output", path)))
        .collect();
    targets::check(&targets, &names, &paths)?;
    breaks.map(BreaksFile::check).transpose()?;
    let progress = Arc::new(Progress::new(names.count()));
    let interrupts = Interrupts::catch(&progress)?;
    let width = terminal::width_of_stderr().filter(|_| !options.quiet);

    let mut inputs = open(options, &names, &paths, &limits, width)?;
    let columns: Vec<Vec<String>> = inputs.iter().map(Input::own_columns).collect();
    let declared = specification::declared(options, &names, &columns)?;
    inputs.iter_mut().zip(declared).for_each(|(input, declared)| input.declared = declared);
    let columns: Vec<String> = inputs.iter().flat_map(Input::columns).collect();
    let spec = specification::spec(options, &names, &columns)?;

    interrupts.cancel_from_now();
    let bars = width.map(|width| Bars::draw(&progress, names.all(), width));
    if spec.key.is_empty() {
        let sources: Vec<Source<'_>> = inputs.iter().map(Input::source).collect();
        let unique = trueup_compare::unique_keys(&sources, &limits, &progress);
        drop(bars);
        return Err(no_key(&unique?));
    }
    let report_file = output.map(report_file).transpose()?;
    let compared = trueup_reconcile::compare(&inputs, &spec, &limits, &progress, breaks);
    drop(bars);
    let comparison = compared?;
    if comparison.measures.is_empty() && comparison.findings.is_empty() {
        eprintln!("warning: only keys are compared");
    }

    let inputs: Vec<report::Input> = (paths.into_iter().zip(&inputs))
        .map(|(path, input)| report::Input { path: shown(&path), read_as: input.described() })
        .collect();
    deliver(options, report_file, &Report { comparison: &comparison, spec: &spec, inputs: &inputs })?;
    Ok(match comparison.verdict {
        Verdict::Matched => ExitCode::SUCCESS,
        Verdict::Unmatched => ExitCode::from(1),
    })
}

fn limits(options: &Diff) -> Result<Limits, Failure> {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Limits {
        memory: memory::parse(&options.memory, memory::free)?,
        threads: options.threads.map_or_else(processors, usize::from),
        temp_dir: std::env::temp_dir(),
    })
}

fn open(
    options: &Diff,
    names: &SourceNames,
    paths: &[String],
    limits: &Limits,
    width: Option<usize>,
) -> Result<Vec<Input>, Failure> {
    let mut read_options = specification::read_options(options, names, &limits.temp_dir)?;
    read_options.iter_mut().for_each(|options| options.threads = limits.threads);
    (names.all().iter().zip(paths).zip(&read_options))
        .map(|((name, path), options)| {
            let cannot_open = |OpenError { source_name, error }| Failure::Open { source_name, error };
            let opened = match Scheme::of(path) {
                None => Input::open(name, path, options),
                Some(scheme) => fetch(scheme, name, path, options, width),
            };
            opened.map_err(cannot_open)
        })
        .collect()
}

/// A path as a report has it, which others may read.
fn shown(path: &str) -> String {
    Scheme::of(path).map_or_else(|| path.to_owned(), |scheme| scheme.shown(path))
}

fn no_key(unique: &[Vec<String>]) -> Failure {
    let Some(first) = unique.first() else {
        return Failure::usage_hint(
            "there is no --key, and no column is unique in every source",
            "name columns that are unique together: --key COLUMN,COLUMN",
        );
    };
    let listed: Vec<String> =
        unique.iter().take(20).map(|columns| format!("\n  {}", columns.join(","))).collect();
    let quoted = shell::word(&first.join(","));
    Failure::usage_hint(
        format!(
            "there is no --key; unique in every source {}:{}",
            if unique.len() == 1 { "is" } else { "are" },
            listed.concat()
        ),
        format!("--key {quoted}"),
    )
}

fn report_file(path: &Path) -> Result<ReportFile, Failure> {
    ReportFile::create(path).map_err(|source| Failure::Report { target: path.display().to_string(), source })
}

fn deliver(options: &Diff, file: Option<ReportFile>, report: &Report<'_>) -> Result<(), Failure> {
    let printed = |result: std::io::Result<()>| {
        result.map_err(|source| Failure::Report { target: "standard output".to_owned(), source })
    };
    let Some(file) = file else {
        let look = terminal::look_of_stdout(options.color);
        return printed(output::print(&report.render(options.format.unwrap_or(Format::Table), look)));
    };
    let target = file.target();
    let format = options.format.unwrap_or_else(|| Format::of(Path::new(&target)));
    let text = report.render(format, Look::PLAIN);
    file.write(&text).map_err(|source| Failure::Report { target, source })?;
    if options.quiet {
        return Ok(());
    }
    printed(output::print(&(verdict_line(report.comparison) + "\n")))
}
