//! Works on batches on all threads, and takes the results in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// As many batches are under way for each thread, so that none waits while results are taken.
const BATCHES_PER_THREAD: usize = 2;

/// A batch, and where to send what comes of it.
type Order<B, R> = (B, SyncSender<Result<R, Error>>);

/// Works on every batch, a few at a time, and takes what comes of them in the order of the batches.
pub(crate) fn in_order<B: Send, R: Send>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<B>, Error>,
    work: impl Fn(B) -> Result<R, Error> + Sync,
    mut take: impl FnMut(R) -> Result<(), Error>,
) -> Result<(), Error> {
    if threads <= 1 {
        while let Some(batch) = next()? {
            take(work(batch)?)?;
        }
        return Ok(());
    }
    let (queue, batches) = channel::<Order<B, R>>();
    let batches = Mutex::new(batches);
    std::thread::scope(|scope| {
        // Moved in, so that the threads end when this does, for whatever reason.
        let queue = queue;
        let mut workers = 0;
        let mut under_way: VecDeque<Receiver<Result<R, Error>>> = VecDeque::new();
        let mut at_end = false;
        loop {
            while !at_end && under_way.len() < threads * BATCHES_PER_THREAD {
                let Some(batch) = next()? else {
                    at_end = true;
                    break;
                };
                if workers < threads {
                    scope.spawn(|| work_on(&batches, &work));
                    workers += 1;
                }
                let (answer, result) = sync_channel(1);
                under_way.push_back(result);
                if queue.send((batch, answer)).is_err() {
                    return Err(Error::Cancelled);
                }
            }
            let Some(result) = under_way.pop_front() else {
                return Ok(());
            };
            // A thread that is gone has panicked, and the scope says so.
            take(result.recv().unwrap_or(Err(Error::Cancelled))?)?;
        }
    })
}

fn work_on<B, R>(batches: &Mutex<Receiver<Order<B, R>>>, work: impl Fn(B) -> Result<R, Error>) {
    let next = || batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok((batch, answer)) = next() {
        if answer.send(work(batch)).is_err() {
            // Nobody waits for results any more.
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use crate::error::Error;

    #[test]
    fn results_come_in_the_order_of_the_batches() {
        for threads in [1, 2, 5] {
            let mut batches = 0..1000_u64;
            let mut taken = Vec::new();
            let spin = |batch: u64| {
                (0..batch * 7919 % 1000).fold(batch, |sum, it| std::hint::black_box(sum ^ it ^ it))
            };
            in_order(
                threads,
                || Ok(batches.next()),
                |batch| Ok(spin(batch)),
                |result| {
                    taken.push(result);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(taken, (0..1000).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        for threads in [1, 3] {
            let mut batches = 0_u64..;
            let mut taken = 0;
            let work = |batch| if batch == 20 { Err(Error::spec("enough")) } else { Ok(batch) };
            let failed = in_order(
                threads,
                || Ok(batches.next()),
                work,
                |_| {
                    taken += 1;
                    Ok(())
                },
            );
            assert!(failed.is_err_and(|error| error.to_string().contains("enough")));
            assert_eq!(taken, 20);
        }
    }
}
