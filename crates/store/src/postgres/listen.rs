//! Hears what other processes have committed.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};
use trueup_connect::{Encrypted, Server};

use super::pool::PATIENCE;
use super::sequencer::Sequencer;

/// The pause before a connection that was lost early is made again; it doubles while they are.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause, and how long a connection has to last to be made again at once.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Listens until it is stopped, on a connection of its own.
pub(crate) async fn listen(server: &Server, sequencer: &Sequencer) {
    let mut pause = Duration::ZERO;
    loop {
        sleep(pause).await;
        let begun = Instant::now();
        // That the server is away, or does not answer, is for the verbs to report.
        if let Ok(Ok((client, connection))) = timeout(PATIENCE, server.connect()).await {
            follow(&client, connection, sequencer).await;
        }
        let has_lasted = begun.elapsed() >= PAUSE_MAX;
        pause = if has_lasted { Duration::ZERO } else { (pause * 2).clamp(FIRST_PAUSE, PAUSE_MAX) };
    }
}

/// Follows what one connection hears, until that is lost.
async fn follow(client: &Client, mut connection: Connection<Socket, Encrypted>, sequencer: &Sequencer) {
    let hear = async {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                if sequencer.has_sent(notification.payload()) {
                    continue;
                }
                if notification.channel() == "trueup_committed" {
                    sequencer.wake();
                }
                sequencer.tell_change();
            }
        }
    };
    let start = async {
        let listen = client.batch_execute("listen trueup_changed; listen trueup_committed");
        if let Ok(Ok(())) = timeout(PATIENCE, listen).await {
            // What was said before it listened is lost.
            sequencer.wake();
            sequencer.tell_change();
            pending::<()>().await;
        }
    };
    select(pin!(hear), pin!(start)).await;
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_is_called_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://ann@{}", listener.local_addr().unwrap());
        let server = Server::at(&url, PATIENCE).unwrap();
        let calls = async {
            let mut silent = Vec::new();
            while silent.len() < 3 {
                silent.push(listener.accept().await.unwrap());
            }
        };
        let sequencer = Sequencer::default();
        let calls = timeout(10 * PATIENCE, calls);
        match select(pin!(calls), pin!(listen(&server, &sequencer))).await {
            futures_util::future::Either::Left((called, _)) => called.expect("it calls again"),
            futures_util::future::Either::Right(((), _)) => unreachable!("it listens for ever"),
        }
    }
}
