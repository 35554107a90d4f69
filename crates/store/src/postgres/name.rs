//! A name that one process has at a time: a lock that lives and dies with a connection of its own.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use trueup_connect::Server;

use super::error::failed;
use super::pool::{Connection, PATIENCE};
use crate::error::StoreError;

const DOING: &str = "taking a name";
/// The pause before a name is taken again whose connection was lost.
const PAUSE: Duration = Duration::from_secs(1);

/// A name that is held for as long as its connection.
pub(crate) struct Name {
    name: String,
    connection: Connection,
}

impl Name {
    /// Takes a name; whoever had it and was killed has let go of it before the wait for a lock is over.
    pub(crate) async fn take(server: &Server, name: String) -> Result<Self, StoreError> {
        let take = async {
            let connection = Connection::open(server).await?;
            connection.client.query_one(&connection.sql.lock_name, &[&name]).await?;
            Ok(connection)
        };
        let no_answer = || StoreError::Away { doing: DOING, problem: "no answer".to_owned() };
        let taken = timeout(PATIENCE, take).await.map_err(|_| no_answer())?;
        match taken.map_err(|error| failed(&error, DOING)) {
            Ok(connection) => Ok(Self { name, connection }),
            Err(StoreError::Contended { .. }) => Err(StoreError::NameTaken { name }),
            Err(error) => Err(error),
        }
    }

    /// Holds the name until it is stopped, and takes it again whenever the connection is lost.
    pub(crate) async fn hold(self, server: &Server) {
        let Self { name, mut connection } = self;
        loop {
            connection.lost().await;
            connection = loop {
                sleep(PAUSE).await;
                match Self::take(server, name.clone()).await {
                    Ok(taken) => break taken.connection,
                    Err(error @ StoreError::NameTaken { .. }) => {
                        tracing::error!(%error, "the name was lost while the store was away; start this process under another");
                    }
                    // That the server is away is for the verbs to report.
                    Err(_) => {}
                }
            };
        }
    }
}
