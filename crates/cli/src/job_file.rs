//! A job in a file, the parameters that it is given, and the credentials that it refers to.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use trueup_job::{Arguments, Job, Moment, Reference};

use crate::clock;
use crate::failure::Failure;

/// Reads a job; its relative paths start where it is.
pub(crate) fn read(path: &Path) -> Result<Job, Failure> {
    let unreadable = |error| Failure::ReadJob { path: path.to_owned(), error };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let job = Job::parse(&bytes, None)
        .map_err(|faults| Failure::NoJob { path: path.display().to_string(), faults })?;
    let file = path.canonicalize().map_err(unreadable)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    job.anchored_at(folder).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// The values of the job's parameters, defaults included: whoever retries the run later gets the same.
pub(crate) fn arguments(job: &Job, given: &[String]) -> Result<Arguments, Failure> {
    let mut params: BTreeMap<String, Value> = BTreeMap::new();
    for param in given {
        let Some((name, value)) = param.split_once('=') else {
            return Err(Failure::usage_hint(format!("--param {param}: there is no ="), "write NAME=VALUE"));
        };
        if params.insert(name.to_owned(), value.into()).is_some() {
            return Err(Failure::usage(format!("--param {name}: it is given twice")));
        }
    }
    let moment = Moment::at_ms(clock::now_ms(), job.timezone())
        .ok_or_else(|| Failure::usage("this machine's clock is beyond all dates"))?;
    job.arguments(&params, moment).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::usage_hint(errors.join("\n"), "give parameters as --param NAME=VALUE")
    })
}

/// What a reference to a credential stands for.
pub(crate) fn look_up(reference: &Reference) -> Result<String, String> {
    match reference {
        Reference::Env(name) => std::env::var(name).map_err(|error| format!("{reference}: {error}")),
        Reference::File(path) => {
            std::fs::read_to_string(path).map_err(|error| format!("{reference}: {error}"))
        }
    }
}
