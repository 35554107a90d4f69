//! `trueup audit verify`: goes through the audit log and says whether it is whole.

use std::process::ExitCode;

use serde_json::json;
use trueup_store::{Options, Role, Store};

use crate::arguments::Verify;
use crate::failure::Failure;
use crate::interrupt::end_when_interrupted;
use crate::place::Home;
use crate::runtime;

/// The exit code when the log was tampered with.
const TAMPERED: u8 = 1;

/// Checks the log of a store and prints what was found.
pub(crate) fn verify(options: &Verify) -> Result<ExitCode, Failure> {
    end_when_interrupted()?;
    let place = Home::of(&options.places)?.store;
    let audited = runtime::block_on(async {
        let opened = Store::open(&place, Role::Reader, Options::default()).await;
        let store = opened.map_err(|error| Failure::OpenStore { place: place.to_string(), error })?;
        let audited = store.verify_audit(options.expect).await?;
        store.close().await?;
        Ok(audited)
    })?;
    if options.json {
        let fault = audited.fault.as_ref().map(ToString::to_string);
        println!(
            "{}",
            json!({ "entries": audited.entries, "head": audited.head.to_string(), "unlinked": audited.unlinked, "fault": fault })
        );
    } else {
        match &audited.fault {
            None => println!("whole: {} entries, none changed, none missing", audited.entries),
            Some(fault) => {
                println!("TAMPERED: {fault}; entries that are as they were written: {}", audited.entries);
            }
        }
        if audited.unlinked > 0 {
            println!("{} more wait to be linked", audited.unlinked);
        }
        println!("head {}", audited.head);
    }
    Ok(if audited.fault.is_some() { ExitCode::from(TAMPERED) } else { ExitCode::SUCCESS })
}
