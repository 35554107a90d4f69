//! The store in PostgreSQL.

mod error;
mod listen;
mod name;
mod pool;
mod reads;
mod rows;
mod schema;
mod sequencer;
mod statements;
mod triggers;
mod tx;
mod writer;
mod writes;

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use trueup_connect::Server;
use trueup_events::RunId;

use self::error::failed;
use self::name::Name;
use self::pool::{PATIENCE, Pool};
use self::sequencer::Sequencer;
use self::triggers::Triggers;
use self::writer::Writer;
use crate::context::{Context, Options};
use crate::error::StoreError;
use crate::place::Role;
use crate::record::NewRun;
use crate::tx::Verb;

/// An open PostgreSQL store.
#[derive(Debug)]
pub(crate) struct Postgres {
    writer: Writer,
    triggers: Triggers,
    tasks: JoinSet<()>,
    /// Whether reads for a tenant are done as a role that sees nothing else.
    is_fenced: bool,
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
        let (triggers, wishes) = Triggers::new();
        let mut tasks = JoinSet::new();
        let name = options.name.clone();
        let node = if role == Role::Reader { 0 } else { next_node(&pool, role, &options).await? };
        let is_fenced = is_fenced(&pool, role).await?;
        let writer = Writer { context: Arc::new(Context::new(options, node)), pool, sequencer, role };
        if role == Role::Reader {
            return Ok(Self { writer, triggers, tasks, is_fenced });
        }
        if let Some(name) = name {
            let (name, server) = (Name::take(&server, name).await?, server.clone());
            tasks.spawn(async move { name.hold(&server).await });
        }
        let Writer { pool, sequencer, .. } = writer.clone();
        let heard = Arc::clone(&sequencer);
        tasks.spawn(async move { sequencer.run(&pool).await });
        tasks.spawn(async move { listen::listen(&server, &heard).await });
        let gathering = writer.clone();
        tasks.spawn(async move { wishes.write_all(&gathering).await });
        Ok(Self { writer, triggers, tasks, is_fenced })
    }

    pub(crate) async fn close(mut self) -> Result<(), StoreError> {
        self.tasks.shutdown().await;
        let Writer { pool, sequencer, .. } = &self.writer;
        let numbered = if sequencer.is_behind() { sequencer.catch_up(pool).await } else { Ok(()) };
        pool.close().await;
        numbered
    }

    pub(crate) fn context(&self) -> &Context {
        &self.writer.context
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.writer.sequencer.changes()
    }

    /// Commits the intent to run a job; what is asked for at once is committed together.
    pub(crate) async fn trigger(&self, new: NewRun) -> Result<RunId, StoreError> {
        self.triggers.ask(&self.writer, new).await
    }

    pub(crate) async fn transact<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        self.writer.transact(verb).await
    }
}

/// Whether reads for a tenant can be done as a role that sees nothing else; a server says so where they cannot.
async fn is_fenced(pool: &Pool, role: Role) -> Result<bool, StoreError> {
    const DOING: &str = "opening the store";
    let lent = pool.lend(DOING).await?;
    let (client, sql) = (&lent.connection.client, &lent.connection.sql);
    let row = client.query_one(&sql.is_fenced, &[]).await.map_err(|error| failed(&error, DOING))?;
    pool.give_back(lent);
    let is_fenced: bool = row.get(0);
    if role == Role::Server && !is_fenced {
        tracing::warn!(
            "no row-level security: the role trueup_tenant was missing when the store was made, or is not granted to its user"
        );
    }
    Ok(is_fenced)
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
