//! The store in PostgreSQL.

mod error;
mod listen;
mod pool;
mod reads;
mod rows;
mod schema;
mod sequencer;
mod statements;
mod tx;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use trueup_connect::Server;

use self::error::failed;
use self::pool::{Lent, PATIENCE, Pool};
use self::sequencer::Sequencer;
use self::tx::PgTx;
use crate::context::{Context, Options};
use crate::error::StoreError;
use crate::fail_point::{self, Boundary};
use crate::place::Role;
use crate::tx::Verb;

/// How often a verb is tried when others come between.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// An open PostgreSQL store.
#[derive(Debug)]
pub(crate) struct Postgres {
    context: Arc<Context>,
    pool: Arc<Pool>,
    sequencer: Arc<Sequencer>,
    role: Role,
    tasks: JoinSet<()>,
}

impl Postgres {
    /// The version of the schema of every open store.
    pub(crate) const SCHEMA: i64 = schema::KNOWN;

    pub(crate) async fn open(place: &str, role: Role, options: Options) -> Result<Self, StoreError> {
        let mut server = Server::at(place, PATIENCE).map_err(|error| StoreError::Failed {
            doing: "reading the store's URL",
            problem: error.to_string(),
        })?;
        if role == Role::Reader {
            server.only_reads();
        }
        schema::open(&server, role).await?;
        let pool = Arc::new(Pool::new(server.clone()));
        let sequencer = Arc::new(Sequencer::default());
        let mut tasks = JoinSet::new();
        if role == Role::Reader {
            return Ok(Self { context: Arc::new(Context::new(options, 0)), pool, sequencer, role, tasks });
        }
        let node = next_node(&pool, role, &options).await?;
        let (turns, connections) = (Arc::clone(&sequencer), Arc::clone(&pool));
        tasks.spawn(async move { turns.run(&connections).await });
        let heard = Arc::clone(&sequencer);
        tasks.spawn(async move { listen::listen(&server, &heard).await });
        Ok(Self { context: Arc::new(Context::new(options, node)), pool, sequencer, role, tasks })
    }

    pub(crate) async fn close(mut self) -> Result<(), StoreError> {
        self.tasks.shutdown().await;
        let numbered =
            if self.sequencer.is_behind() { self.sequencer.catch_up(&self.pool).await } else { Ok(()) };
        self.pool.close().await;
        numbered
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.sequencer.changes()
    }

    pub(crate) async fn transact<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        if self.role == Role::Reader {
            return Err(StoreError::ReadOnly { problem: "it was opened to be read".to_owned() });
        }
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.attempt(&verb).await {
                Err(StoreError::Contended { .. }) => sleep(pause).await,
                Err(StoreError::EventIdTaken { .. }) => self.context.skip_event_ids(),
                other => return other,
            }
            pause *= 2;
        }
        self.attempt(&verb).await
    }

    /// Tries a verb once; of one that fails nothing is kept, unless the connection broke while it was committing: then nobody can tell, and it is away.
    async fn attempt<V: Verb>(&self, verb: &V) -> Result<V::Output, StoreError> {
        let lent = if V::IS_URGENT {
            self.pool.lend_at_once(V::DOING).await?
        } else {
            self.pool.lend(V::DOING).await?
        };
        fail_point::reach::<V>(Boundary::Before);
        let attempt = async {
            let mut tx = PgTx::new(&lent.connection, V::DOING);
            let output = verb.apply(&mut tx, &self.context).await?;
            fail_point::reach::<V>(Boundary::BeforeCommit);
            tx.commit().await.map(|has_told| (output, has_told))
        };
        let no_answer = || StoreError::Away { doing: V::DOING, problem: "no answer".to_owned() };
        match timeout(PATIENCE, attempt).await.map_err(|_| no_answer())? {
            Ok((output, has_told)) => {
                fail_point::reach::<V>(Boundary::AfterCommit);
                self.pool.give_back(lent);
                // Audit entries alone are linked with the next events, or by the next look: nobody waits for them.
                if has_told {
                    self.sequencer.committed();
                }
                Ok(output)
            }
            Err(error) => {
                self.roll_back(lent).await;
                Err(error)
            }
        }
    }

    /// Rolls back and keeps the connection; one that cannot is closed, with the same effect.
    async fn roll_back(&self, lent: Lent) {
        let rolled_back = timeout(PATIENCE, lent.connection.client.batch_execute("rollback")).await;
        if matches!(rolled_back, Ok(Ok(()))) {
            self.pool.give_back(lent);
        }
    }
}

/// Takes the next number for event ids; a server also says what the events of SQL users name as their source.
async fn next_node(pool: &Pool, role: Role, options: &Options) -> Result<u16, StoreError> {
    const DOING: &str = "opening the store";
    let lent = pool.lend(DOING).await?;
    let source = (role == Role::Server).then_some(&options.sources.core);
    let (client, sql) = (&lent.connection.client, &lent.connection.sql);
    let row = client.query_one(&sql.take_node, &[&source]).await.map_err(|error| failed(&error, DOING))?;
    let node: i64 = row.get(0);
    pool.give_back(lent);
    u16::try_from(node).map_err(|_| crate::columns::damaged(format!("the next node is {node}")))
}
