//! Answers connections until everything stops.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trueup_control::Stopping;

use crate::api;
use crate::app::App;

/// The pause after a connection that could not be accepted: too many files are open, and some have to be closed first.
const BREATH: Duration = Duration::from_millis(50);
/// How long the headers of a request may be.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// Answers requests until everything stops; what is being answered then is finished.
pub fn listen(listener: TcpListener, app: Arc<App>, stopping: &Stopping) {
    let door = Door {
        places: Arc::new(Semaphore::new(app.limits.connections)),
        patience: app.limits.patience,
        router: api::router(app),
        stopping: stopping.clone(),
    };
    stopping.spawn(door.open(listener));
}

/// Where connections come in.
struct Door {
    places: Arc<Semaphore>,
    patience: Duration,
    router: Router,
    stopping: Stopping,
}

impl Door {
    async fn open(self, listener: TcpListener) {
        loop {
            tokio::select! {
                accepted = self.accept(&listener) => match accepted {
                    Ok((stream, place)) => self.serve(stream, place),
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(BREATH).await;
                    }
                },
                () = self.stopping.begun() => return,
            }
        }
    }

    /// Waits for a place, and then for a connection: those beyond wait outside.
    async fn accept(&self, listener: &TcpListener) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        // Answers are written whole: to wait for more of them would only delay them.
        stream.set_nodelay(true)?;
        Ok((stream, place))
    }

    fn serve(&self, stream: TcpStream, place: OwnedSemaphorePermit) {
        let (router, stopping, patience) = (self.router.clone(), self.stopping.clone(), self.patience);
        self.stopping.spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(patience)
                .max_buf_size(HEADER_BYTES_MAX)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
                .with_upgrades();
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stopping.begun() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            // Who hangs up, or does not speak HTTP, is no fault of ours.
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
}
