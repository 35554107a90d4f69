//! `trueup diff`, from the command line to the exit code.

use std::process::ExitCode;
use std::sync::Arc;

use trueup_compare::{
    Break, BreaksFile, BreaksFormat, Comparison, Limits, Progress, Source, Spec, Table, TableError, Verdict,
};

use crate::arguments::Diff;
use crate::failure::Failure;
use crate::progress::Bars;
use crate::report::{Input, Look, Report, verdict_line};
use crate::source_names::{self, SourceNames};
use crate::source_table::SourceTable;
use crate::specification::{self, Declared};
use crate::{break_columns, interrupt, memory, output, terminal};

/// Compares, reports, and says how to exit.
pub fn run(options: &Diff) -> Result<ExitCode, Failure> {
    let (names, paths) = source_names::parse(&options.sources)?;
    let limits = limits(options)?;
    if let Some(path) = &options.breaks {
        BreaksFormat::of(path).map_err(|error| Failure::Breaks {
            what: error.to_string(),
            hint: error.hint(),
        })?;
    }
    let progress = Arc::new(Progress::new(names.count()));
    interrupt::cancels(&progress)?;

    let tables = open(options, &names, &paths, &limits)?;
    let columns: Vec<Vec<String>> = tables.iter().map(column_names).collect();
    let declared = specification::declared(options, &names, &columns)?;
    let renamed = renamed(&columns, &declared);
    let spec = specification::spec(options, &names, &renamed.concat())?;
    let sources = sources(&names, &tables, declared);

    let bars = terminal::width_of_stderr()
        .filter(|_| !options.quiet)
        .map(|width| Bars::draw(&progress, names.all(), width));
    if spec.key.is_empty() {
        let unique = trueup_compare::unique_keys(&sources, &limits, &progress);
        drop(bars);
        return Err(no_key(&unique?));
    }
    let compared = compare(options, &names, &sources, &spec, &limits, &progress);
    drop(bars);
    let comparison = compared?;

    let inputs: Vec<Input> = (paths.into_iter().zip(&tables))
        .map(|(path, table)| Input {
            path,
            read_as: table.0.described(),
        })
        .collect();
    deliver(
        options,
        &Report {
            comparison: &comparison,
            inputs: &inputs,
        },
    )?;
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
) -> Result<Vec<SourceTable>, Failure> {
    let read_options = specification::read_options(options, names, &limits.temp_dir)?;
    (paths.iter().zip(&read_options))
        .map(|(path, options)| Ok(SourceTable(trueup_extract::open(path, options)?)))
        .collect()
}

fn column_names(table: &SourceTable) -> Vec<String> {
    table
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

fn renamed(columns: &[Vec<String>], declared: &[Declared]) -> Vec<Vec<String>> {
    let new_name = |name: &String, declared: &Declared| declared.renames.get(name).unwrap_or(name).clone();
    (columns.iter().zip(declared))
        .map(|(columns, declared)| columns.iter().map(|name| new_name(name, declared)).collect())
        .collect()
}

fn sources<'a>(names: &SourceNames, tables: &'a [SourceTable], declared: Vec<Declared>) -> Vec<Source<'a>> {
    (names.all().iter().zip(tables).zip(declared))
        .map(
            |(
                (name, table),
                Declared {
                    renames,
                    timezone,
                    date_formats,
                },
            )| Source {
                name: name.clone(),
                table,
                renames,
                timezone,
                date_formats,
            },
        )
        .collect()
}

fn no_key(unique: &[Vec<String>]) -> Failure {
    let Some(first) = unique.first() else {
        return Failure::usage_hint(
            "there is no --key, and no column is unique in every source",
            "name columns that are unique together: --key account,date",
        );
    };
    let listed: Vec<String> = unique
        .iter()
        .take(20)
        .map(|columns| format!("\n  {}", columns.join(",")))
        .collect();
    let quoted = first.join(",");
    let quoted = if quoted.contains([' ', '\'', '"', '$', '&']) {
        format!("{quoted:?}")
    } else {
        quoted
    };
    Failure::usage_hint(
        format!(
            "there is no --key; unique in every source {}:{}",
            if unique.len() == 1 { "is" } else { "are" },
            listed.concat()
        ),
        format!("--key {quoted}"),
    )
}

fn compare(
    options: &Diff,
    names: &SourceNames,
    sources: &[Source<'_>],
    spec: &Spec,
    limits: &Limits,
    progress: &Progress,
) -> Result<Comparison, Failure> {
    let Some(path) = &options.breaks else {
        return Ok(trueup_compare::compare(sources, spec, limits, progress, None)?);
    };
    let mut announced = break_columns::announced(sources, spec);
    loop {
        let mut file = BreaksFile::create(path, names.all(), &spec.key, &announced).map_err(|error| {
            Failure::Breaks {
                what: error.to_string(),
                hint: error.hint(),
            }
        })?;
        let mut refused = None;
        let mut write = |found: &Break| {
            file.write(found).map_err(|error| {
                refused = Some(Failure::Breaks {
                    what: error.to_string(),
                    hint: error.hint(),
                });
                TableError::from(error)
            })
        };
        let compared = trueup_compare::compare(sources, spec, limits, progress, Some(&mut write));
        let comparison = compared.map_err(|error| refused.take().unwrap_or_else(|| error.into()))?;
        let decided = break_columns::decided(&comparison);
        if decided == announced {
            file.finish().map_err(|error| Failure::Breaks {
                what: error.to_string(),
                hint: error.hint(),
            })?;
            return Ok(comparison);
        }
        // A column whose kinds disagree is compared exactly, whatever its tolerance; only the comparison finds out.
        announced = decided;
    }
}

fn deliver(options: &Diff, report: &Report<'_>) -> Result<(), Failure> {
    let failed = |target: String| move |source| Failure::Report { target, source };
    let Some(path) = &options.output else {
        let look = terminal::look_of_stdout(options.color);
        return output::print(&report.render(options.format, look))
            .map_err(failed("standard output".to_owned()));
    };
    let text = report.render(options.format, Look::PLAIN);
    output::write_file(path, &text).map_err(failed(path.display().to_string()))?;
    if options.quiet {
        return Ok(());
    }
    output::print(&(verdict_line(report.comparison) + "\n")).map_err(failed("standard output".to_owned()))
}
