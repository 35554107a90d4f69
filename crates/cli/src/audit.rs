//! `trueup audit verify`: goes through the audit log and says whether it is whole.

use std::process::ExitCode;

use serde_json::json;
use trueup_store::{Options, Role, Store};

use crate::arguments::Verify;
use crate::failure::Failure;
use crate::interrupt::end_when_interrupted;

/// The exit code when the log was tampered with.
const TAMPERED: u8 = 1;

/// Checks the log of a store and prints what was found.
pub fn verify(options: &Verify) -> Result<ExitCode, Failure> {
    end_when_interrupted()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Runtime)?;
    let audited = runtime.block_on(async {
        let store = Store::open(&options.store, Role::Reader, Options::default()).await?;
        let audited = store.verify_audit(options.expect).await?;
        store.close().await?;
        Ok::<_, Failure>(audited)
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
