//! Hears what other processes have committed.

use std::future::poll_fn;
use std::time::Duration;

use futures_util::future::join;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket, tls::NoTlsStream};

use super::sequencer::Sequencer;

/// How long to wait before a connection that was lost is made again.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens until it is stopped, on a connection of its own.
pub(crate) async fn listen(config: &Config, sequencer: &Sequencer) {
    loop {
        // That the server is away is for the verbs to report.
        if let Ok((client, connection)) = config.connect(NoTls).await {
            follow(&client, connection, sequencer).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Follows what one connection hears, until that is lost.
async fn follow(client: &Client, mut connection: Connection<Socket, NoTlsStream>, sequencer: &Sequencer) {
    let hear = async {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                if notification.channel() == "trueup_committed" {
                    sequencer.wake();
                }
                sequencer.tell_change();
            }
        }
    };
    let start = async {
        if client.batch_execute("listen trueup_changed; listen trueup_committed").await.is_ok() {
            // What was said before it listened is lost.
            sequencer.wake();
            sequencer.tell_change();
        }
    };
    join(hear, start).await;
}
