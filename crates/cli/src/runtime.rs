//! Where tasks run.

use tokio::runtime::Builder;

use crate::failure::Failure;

/// How many threads a server's tasks share: they wait most of the time, and what computes does so in processes of its own.
const SERVER_THREADS: usize = 2;

/// Does what a command does, on the thread that it was called on.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(Failure::Runtime)?.block_on(work)
}

/// Does what a server does.
pub(crate) fn serve<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(SERVER_THREADS).enable_all().build().map_err(Failure::Runtime)?.block_on(work)
}
