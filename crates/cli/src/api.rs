//! The door of a server: where it listens, and the first key to it.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use trueup_control::Stopping;
use trueup_server::{App, Limits, Secret};
use trueup_store::Store;
use uuid::Uuid;

use crate::arguments::Door;
use crate::failure::Failure;
use crate::output;
use crate::place::TENANT;

/// The first key, for those who set up servers without anybody looking.
const FIRST_KEY: &str = "TRUEUP_BOOTSTRAP_KEY";

/// Takes the address, which is refused where anybody could listen in.
pub(crate) async fn bind(door: &Door) -> Result<TcpListener, Failure> {
    let Door { listen, insecure } = door;
    if !listen.ip().is_loopback() && !insecure {
        let what = format!("--listen {listen}: other machines would send their keys unencrypted");
        let hint = "listen on 127.0.0.1 behind something that encrypts, or say --insecure if the network is yours alone";
        return Err(Failure::usage_hint(what, hint));
    }
    let taken = |error| {
        let hint = "choose another port by --listen, or 0 for any that is free";
        Failure::usage_hint(format!("--listen {listen}: {error}"), hint)
    };
    TcpListener::bind(listen).await.map_err(taken)
}

/// Answers requests until everything stops, and says where. The first time, it makes the first key and shows it.
pub(crate) async fn open(
    listener: TcpListener,
    store: &Arc<Store>,
    runs_dir: PathBuf,
    stopping: &Stopping,
) -> Result<SocketAddr, Failure> {
    let given = first_key()?;
    let is_given = given.is_some();
    let secret = given.unwrap_or_else(Secret::random);
    let made = store.bootstrap(TENANT, secret.hash(), Uuid::now_v7()).await?;
    if made.is_some() && !is_given {
        output::say(&format!("the first key, an admin's, shown this once: {}\n", secret.reveal()))?;
    }
    let address = listener.local_addr().map_err(Failure::Runtime)?;
    let app = App::new(Arc::clone(store), runs_dir, Limits::default(), None);
    trueup_server::listen(listener, Arc::new(app), stopping);
    Ok(address)
}

fn first_key() -> Result<Option<Secret>, Failure> {
    let Ok(text) = env::var(FIRST_KEY) else { return Ok(None) };
    // The text is a secret, whatever is wrong with it.
    text.parse().map(Some).map_err(|error| Failure::usage(format!("{FIRST_KEY}: {error}")))
}
