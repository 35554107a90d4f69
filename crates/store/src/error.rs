//! What can go wrong in a store, and whether trying again makes sense.

use trueup_events::{EventId, RunId, TenantId};
use trueup_lifecycle::{QueueFull, Refusal, Status};
use uuid::Uuid;

/// Why a verb changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The run does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    /// A run was asked for with the id of another.
    #[error("the run {0} was asked for already, of another job or with other params")]
    RunDiffers(RunId),
    /// There is no such job.
    #[error("there is no job named {name:?}")]
    NoSuchJob {
        /// What was asked for.
        name: String,
    },
    /// There is no such queue.
    #[error("there is no queue named {name:?}")]
    NoSuchQueue {
        /// What was asked for.
        name: String,
    },
    /// There is no such tenant.
    #[error("there is no tenant {0}")]
    NoSuchTenant(TenantId),
    /// Another tenant has the name.
    #[error("there is another tenant named {name:?}")]
    TenantTaken {
        /// The name.
        name: String,
    },
    /// Something was to be made with the id of another.
    #[error("the {what} {id} was made already, and is another")]
    Differs {
        /// What.
        what: &'static str,
        /// Its id.
        id: Uuid,
    },
    /// It is not what whoever changes it took it to be.
    #[error("somebody else has changed it: {}", match now { Some(now) => format!("it is at {now} now"), None => "it is not there".to_owned() })]
    Changed {
        /// What it was last changed to, if it is there.
        now: Option<u32>,
    },
    /// The queue's waiting line is full.
    #[error("the queue {queue:?} is full: {full}")]
    QueueFull {
        /// The queue.
        queue: String,
        /// How full.
        full: QueueFull,
    },
    /// Another transaction is about to let a run wait there, and does not end.
    #[error("the queue {queue:?} is busy: another transaction asks for a run and has not ended")]
    QueueBusy {
        /// The queue.
        queue: String,
    },
    /// An event came again with the same id and other content.
    #[error("the event {0} is in the log already, with other content")]
    EventDiffers(EventId),
    /// The id that an event of ours was given is another's; the transaction had no effect, and the next ids are others.
    #[error("the id of an event is taken while {doing}")]
    EventIdTaken {
        /// What was being done.
        doing: &'static str,
    },
    /// An execution that something else started has ended, and stays so.
    #[error("the execution {id} is over: it is {status}")]
    Over {
        /// The execution.
        id: RunId,
        /// How it ended.
        status: Status,
    },
    /// A text holds what cannot be kept.
    #[error("{field} contains a NUL character, which no store can keep")]
    Nul {
        /// What the text is.
        field: &'static str,
    },
    /// Another writer was faster; the transaction had no effect.
    #[error("another transaction came between while {doing}")]
    Contended {
        /// What was being done.
        doing: &'static str,
    },
    /// The store cannot be reached, or is shutting down or starting.
    #[error("the store is away while {doing}: {problem}")]
    Away {
        /// What was being done.
        doing: &'static str,
        /// What it, or the system, said.
        problem: String,
    },
    /// There is no room left.
    #[error("no room is left while {doing}: {problem}")]
    Full {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        problem: String,
    },
    /// There can be no store there.
    #[error("there can be no store there: {problem}")]
    NoPlace {
        /// What the system said.
        problem: String,
    },
    /// The file has several names, by each of which it would be taken for another store.
    #[error("the file has {names} names (hard links), and a store has one")]
    Named {
        /// How many.
        names: u64,
    },
    /// There is no store there, and none was to be made.
    #[error("there is no store here: {problem}")]
    NoStore {
        /// What is there instead.
        problem: String,
    },
    /// An earlier version wrote it, and it was not to be brought up to date.
    #[error("the store has schema {found}, and this trueup reads {known}")]
    Older {
        /// The schema of the store.
        found: i64,
        /// The schema of this version.
        known: i64,
    },
    /// The store may only be read.
    #[error("the store may only be read: {problem}")]
    ReadOnly {
        /// What the system said.
        problem: String,
    },
    /// Another server has the store open.
    #[error("{holder} has the store open")]
    Held {
        /// Who.
        holder: String,
    },
    /// Another process has the name.
    #[error("another process is called {name:?}")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// It is not a store of ours, or not any more.
    #[error("not a trueup store: {problem}")]
    Foreign {
        /// How one can tell.
        problem: String,
    },
    /// A later version wrote it.
    #[error("the store has schema {found}, and this trueup knows {known} at most")]
    Newer {
        /// The schema of the store.
        found: i64,
        /// The last schema of this version.
        known: i64,
    },
    /// What it holds contradicts itself.
    #[error("the store is damaged: {problem}")]
    Damaged {
        /// How one can tell.
        problem: String,
    },
    /// Anything that should not happen.
    #[error("the store failed while {doing}: {problem}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        problem: String,
    },
}

impl StoreError {
    /// Whether the same may succeed later without anybody's doing.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Contended { .. }
                | Self::EventIdTaken { .. }
                | Self::Away { .. }
                | Self::QueueFull { .. }
                | Self::QueueBusy { .. }
                | Self::Full { .. }
        )
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoSuchJob { .. } => "save the job first",
            Self::NoSuchQueue { .. } => "make the queue first, or let the job use the queue `default`",
            Self::TenantTaken { .. } => "choose another name",
            Self::Changed { .. } => "read it again, and make the change to what it is now",
            Self::QueueFull { .. } => "try again when some have started, or raise the queue's max_waiting",
            Self::QueueBusy { .. } => "try again; whoever calls start_run in SQL should commit soon after",
            Self::Nul { .. } => "write it without",
            Self::Contended { .. } | Self::EventIdTaken { .. } => "try again",
            Self::Away { .. } => "check that the database is up and can be reached; nothing was half-written",
            Self::Full { .. } => "free some space; nothing was half-written",
            Self::NoPlace { .. } => "check the path, and who may use it",
            Self::Named { .. } => "remove the others; a symbolic link may lead to it",
            Self::NoStore { .. } => "check where it is; a server makes it when it starts",
            Self::Older { .. } => "start a server of this version once, which brings it up to date",
            Self::ReadOnly { .. } => "check who may write there",
            Self::Held { .. } => "stop it first, or use PostgreSQL for several servers",
            Self::NameTaken { .. } => "stop it first, or give this one another name",
            Self::Foreign { .. } => "name another place; what is there was left as it is",
            Self::Newer { .. } => "use a newer trueup",
            Self::Damaged { .. } => "restore it from a backup",
            Self::Refused(_)
            | Self::NoSuchRun(_)
            | Self::RunDiffers(_)
            | Self::NoSuchTenant(_)
            | Self::Differs { .. }
            | Self::Over { .. }
            | Self::EventDiffers(_)
            | Self::Failed { .. } => {
                return None;
            }
        })
    }
}
