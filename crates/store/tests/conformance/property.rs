//! The same random verbs on a database and on the reference: rows, answers and events agree.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError, Verdict};
use trueup_events::payload::RowsProcessed;
use trueup_events::{Event, Ids, Payload, RunId, Time};
use trueup_lifecycle::{Claim, Lease, Limits, Policy, Refusal, Report, Run};
use trueup_store::{Claimed, Finish, StoreError, Taken};

use crate::bench::{Bench, START_MS, WORKER};
use crate::reference::{Queue, Reference};

/// How many verbs one history has.
const VERBS: usize = 250;
/// The histories that are always tried on each database; one more is another each time.
const SEEDS: [u64; 3] = [1, 2, 3];
/// Names the seed of a history to try instead: one that failed has printed it.
const SEED: &str = "TRUEUP_TEST_SEED";
const EXECUTORS: [&str; 2] = ["executor-1", "executor-2"];

/// Something that is done to both. Claims, leases and runs are chosen by a number, modulo how many there are.
#[derive(Debug, Clone)]
enum Deed {
    Trigger(usize),
    Claim(usize, u32),
    Schedule(usize, u32),
    HandOff(usize),
    SubmitFailed(usize, RunError),
    Take(u32),
    Heartbeat(usize),
    Finish(usize, Report),
    Cancel(usize),
    SweepStaleClaims(usize, bool, u32),
    SweepHandOffs(u32),
    TakeOver(usize, usize),
    SweepLeases(u32),
    Expire(usize),
    Tell(usize),
    HandBack(usize),
    Answer(usize, Report),
    ClaimRun(usize, usize),
    TakeRun(usize),
    Forget(usize),
    Advance(i64),
}

fn deeds() -> impl Strategy<Value = Deed> {
    let errors = prop_oneof![
        Just(RunError::new(Reason::ConnectionFailed, "away")),
        Just(RunError::new(Reason::InvalidJob, "no such column")),
        Just(RunError::of_code(ErrorCode::Crashed, "signal 9")),
    ];
    let reports = prop_oneof![
        3 => Just(Report::Ended(Outcome::Result(Verdict::Matched))),
        1 => Just(Report::Ended(Outcome::Result(Verdict::Unmatched))),
        1 => Just(Report::Stopped),
        2 => errors.clone().prop_map(|error| Report::Ended(Outcome::Error(error))),
    ];
    let pick = || 0..1_000_usize;
    let executor = || 0..EXECUTORS.len();
    prop_oneof![
        6 => (0..3_usize).prop_map(Deed::Trigger),
        5 => (executor(), 1..4_u32).prop_map(|(executor, limit)| Deed::Claim(executor, limit)),
        2 => (executor(), 1..4_u32).prop_map(|(executor, limit)| Deed::Schedule(executor, limit)),
        5 => pick().prop_map(Deed::HandOff),
        1 => (pick(), errors).prop_map(|(claim, error)| Deed::SubmitFailed(claim, error)),
        4 => (1..4_u32).prop_map(Deed::Take),
        2 => pick().prop_map(Deed::Heartbeat),
        5 => (pick(), reports.clone()).prop_map(|(lease, report)| Deed::Finish(lease, report)),
        2 => pick().prop_map(Deed::Cancel),
        2 => (executor(), any::<bool>(), 1..4_u32).prop_map(|(executor, own, limit)| Deed::SweepStaleClaims(executor, own, limit)),
        1 => (1..4_u32).prop_map(Deed::SweepHandOffs),
        1 => (pick(), executor()).prop_map(|(run, executor)| Deed::TakeOver(run, executor)),
        1 => (1..4_u32).prop_map(Deed::SweepLeases),
        2 => pick().prop_map(Deed::Expire),
        2 => pick().prop_map(Deed::Tell),
        1 => pick().prop_map(Deed::HandBack),
        2 => (pick(), reports).prop_map(|(run, report)| Deed::Answer(run, report)),
        2 => (pick(), executor()).prop_map(|(run, executor)| Deed::ClaimRun(run, executor)),
        1 => pick().prop_map(Deed::TakeRun),
        1 => pick().prop_map(Deed::Forget),
        3 => prop_oneof![Just(1), Just(1_000), Just(30_000), Just(300_000)].prop_map(Deed::Advance),
    ]
}

/// The database and the reference, and the claims and leases that both have given.
struct Pair<'a> {
    bench: &'a Bench,
    reference: Reference,
    /// The database's name of each run of the reference.
    ids: Vec<RunId>,
    claims: Vec<(Claim, Claim)>,
    leases: Vec<(Lease, Lease)>,
}

pub(crate) async fn random_verbs_agree_with_the_reference(bench: Bench) {
    let queues = || {
        let queue = |name, max_running, max_waiting, retries| Queue {
            name,
            limits: Limits { max_running, max_waiting },
            policy: Policy { deadline_ms: 100_000, retries },
        };
        vec![queue("a", Some(2), None, 0), queue("b", Some(1), Some(3), 2), queue("c", None, None, 1)]
    };
    let seeds = match std::env::var(SEED) {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => SEEDS.into_iter().chain([RandomState::new().build_hasher().finish()]).collect(),
    };
    for seed in seeds {
        println!("{SEED}={seed}");
        let bench = &bench.another().await;
        let mut runner = runner(seed);
        for queue in queues() {
            bench.set_queue(queue.name, queue.limits.max_running, queue.limits.max_waiting).await;
            bench.save_job(queue.name, queue.name, queue.policy).await;
        }
        let reference = Reference {
            queues: queues(),
            entries: Vec::new(),
            log: Vec::new(),
            forgotten: BTreeSet::new(),
            now_ms: START_MS,
            settings: bench.settings,
        };
        let mut pair = Pair { bench, reference, ids: vec![], claims: vec![], leases: vec![] };
        let deeds = prop::collection::vec(deeds(), VERBS).new_tree(&mut runner).unwrap().current();
        for deed in &deeds {
            pair.apply(deed).await;
        }
        pair.compare().await;
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

impl Pair<'_> {
    async fn apply(&mut self, deed: &Deed) {
        match deed {
            Deed::Advance(by_ms) => {
                self.bench.advance(*by_ms);
                self.reference.now_ms += by_ms;
            }
            Deed::Trigger(queue) => self.trigger(*queue).await,
            Deed::Claim(executor, limit) => {
                let claimed =
                    self.bench.store.claim_for_scheduling(EXECUTORS[*executor], *limit).await.unwrap();
                let claims = self.reference.claim(EXECUTORS[*executor], *limit);
                self.claimed(claimed, claims);
            }
            Deed::SweepStaleClaims(executor, own, limit) => {
                let executor = EXECUTORS[*executor];
                let claimed = self.bench.store.sweep_stale_claims(executor, *own, *limit).await.unwrap();
                let claims = self.reference.sweep_stale_claims(executor, *own, *limit);
                self.claimed(claimed, claims);
            }
            Deed::Schedule(executor, limit) => {
                let executor = EXECUTORS[*executor];
                let scheduled = self.bench.store.schedule(executor, *limit).await.unwrap();
                let claims = self.reference.claim(executor, *limit);
                assert_eq!(scheduled, claims.len());
                claims.iter().for_each(|claim| self.reference.hand_off(claim).unwrap());
            }
            Deed::HandOff(claim) => {
                let Some((theirs, ours)) = chosen(&self.claims, *claim) else { return };
                let answer = self.bench.store.hand_off(theirs).await.map(drop);
                agree(answer, self.reference.hand_off(&ours));
            }
            Deed::SubmitFailed(claim, error) => {
                let Some((theirs, ours)) = chosen(&self.claims, *claim) else { return };
                let answer = self.bench.store.submit_failed(theirs, error.clone()).await.map(drop);
                agree(answer, self.reference.submit_failed(&ours, error));
            }
            Deed::Take(limit) => {
                let taken = self.bench.store.take(WORKER, *limit).await.unwrap();
                let leases = self.reference.take(WORKER, *limit);
                self.taken(taken, leases);
            }
            Deed::ClaimRun(run, executor) => {
                let Some((id, place)) = self.run(*run) else { return };
                let claimed = self.bench.store.claim_run(id, EXECUTORS[*executor]).await.unwrap();
                let claim = self.reference.claim_run(place, EXECUTORS[*executor]);
                self.claimed(claimed.into_iter().collect(), claim.into_iter().collect());
            }
            Deed::TakeRun(run) => {
                let Some((id, place)) = self.run(*run) else { return };
                let taken = self.bench.store.take_run(id, WORKER).await.unwrap();
                let lease = self.reference.take_run(place, WORKER);
                self.taken(taken.into_iter().collect(), lease.into_iter().collect());
            }
            Deed::Tell(lease) => {
                let Some((theirs, ours)) = chosen(&self.leases, *lease) else { return };
                let progress = RowsProcessed {
                    stage_name: "rows".to_owned(),
                    row_count: 7,
                    mismatch_count: 1,
                    reading: None,
                };
                let progress = Payload::from(progress);
                let time = Time::from_unix_us(self.reference.now_ms * 1_000);
                let answer = self.bench.store.tell(&theirs, vec![(time, progress.clone())]).await;
                agree(answer.map(drop), self.reference.tell(&ours, progress));
            }
            Deed::HandBack(lease) => {
                let Some((theirs, ours)) = chosen(&self.leases, *lease) else { return };
                let answer = self.bench.store.hand_back(theirs).await.map(drop);
                agree(answer, self.reference.hand_back(&ours));
            }
            Deed::Answer(run, report) => {
                let Some((id, place)) = self.run(*run) else { return };
                let answer = self.bench.store.answer(id, "sweep", report.clone()).await.map(drop);
                agree(answer, self.reference.answer(place, report));
            }
            Deed::Forget(run) => self.forget(*run).await,
            Deed::Heartbeat(lease) => {
                let Some((theirs, ours)) = chosen(&self.leases, *lease) else { return };
                let answer = self.bench.store.heartbeat(&theirs).await.map(drop);
                agree(answer, self.reference.heartbeat(&ours));
            }
            Deed::Finish(lease, report) => {
                let Some((theirs, ours)) = chosen(&self.leases, *lease) else { return };
                let answer = self.bench.store.finish(theirs, report.clone()).await;
                let answer = answer.map(|finish| matches!(finish, Finish::Accepted(_)));
                agree(answer, self.reference.finish(&ours, report));
            }
            Deed::Cancel(run) => {
                let Some((id, place)) = self.run(*run) else { return };
                let answer = self.bench.store.request_cancel(self.bench.tenant_id, id, "ann", None).await;
                agree(answer.map(drop), self.reference.cancel(place));
            }
            Deed::SweepHandOffs(limit) => {
                let found = self.bench.store.sweep_hand_offs(*limit).await.unwrap();
                let expected = self.reference.sweep_hand_offs(*limit);
                let found: Vec<_> = found.iter().map(|record| self.place(record.id())).collect();
                assert_eq!(found, expected);
            }
            Deed::TakeOver(run, executor) => {
                let Some((id, place)) = self.run(*run) else { return };
                let claimed = self.bench.store.take_over(id, EXECUTORS[*executor]).await;
                match (claimed, self.reference.take_over(place, EXECUTORS[*executor])) {
                    (Ok(claimed), Ok(claim)) => {
                        self.claimed(claimed.into_iter().collect(), claim.into_iter().collect());
                    }
                    (answer, expected) => agree(answer.map(drop), expected.map(drop)),
                }
            }
            Deed::SweepLeases(limit) => {
                let found = self.bench.store.sweep_leases(*limit).await.unwrap();
                let expected = self.reference.sweep_leases(*limit);
                let found: Vec<_> = found.iter().map(|record| self.place(record.id())).collect();
                assert_eq!(found, expected);
            }
            Deed::Expire(run) => {
                let Some((id, place)) = self.run(*run) else { return };
                let expired = self.bench.store.expire(id, "sweep").await.unwrap();
                assert_eq!(expired.is_some(), self.reference.expire(place));
            }
        }
    }

    async fn trigger(&mut self, queue: usize) {
        let name = self.reference.queues[queue].name;
        match (self.bench.store.trigger(self.bench.new_run(name)).await, self.reference.trigger(queue)) {
            (Ok(id), true) => self.ids.push(id),
            (Err(StoreError::QueueFull { .. }), false) => {}
            (answer, expected) => panic!("{answer:?} instead of {expected}"),
        }
    }

    /// Nothing is asked of a run any more once it is forgotten.
    async fn forget(&mut self, run: usize) {
        let Some((id, place)) = self.run(run) else { return };
        self.bench.store.forget(vec![id]).await.unwrap();
        if self.reference.forget(place) {
            self.claims.retain(|(theirs, _)| theirs.run_id() != id);
            self.leases.retain(|(theirs, _)| theirs.run_id() != id);
        }
    }

    fn taken(&mut self, taken: Vec<Taken>, leases: Vec<Lease>) {
        let places: Vec<_> = taken.iter().map(|taken| self.place(taken.record.id())).collect();
        assert_eq!(places, leases.iter().map(|lease| Reference::place(lease.run_id())).collect::<Vec<_>>());
        self.leases.extend(taken.into_iter().map(|taken| taken.lease).zip(leases));
    }

    fn claimed(&mut self, claimed: Vec<Claimed>, claims: Vec<Claim>) {
        let places: Vec<_> = claimed.iter().map(|claimed| self.place(claimed.record.id())).collect();
        assert_eq!(places, claims.iter().map(|claim| Reference::place(claim.run_id())).collect::<Vec<_>>());
        self.claims.extend(claimed.into_iter().map(|claimed| claimed.claim).zip(claims));
    }

    fn place(&self, id: RunId) -> usize {
        self.ids.iter().position(|known| *known == id).unwrap()
    }

    fn run(&self, number: usize) -> Option<(RunId, usize)> {
        let known: Vec<usize> =
            (0..self.ids.len()).filter(|place| !self.reference.forgotten.contains(place)).collect();
        let place = known[number.checked_rem(known.len())?];
        Some((self.ids[place], place))
    }

    /// Every row is the reference's run, and the log has its events, in order.
    async fn compare(&self) {
        for (place, id) in self.ids.iter().enumerate() {
            let is_forgotten = self.reference.forgotten.contains(&place);
            assert_eq!(self.bench.store.remembers(*id).await.unwrap(), !is_forgotten);
            if is_forgotten {
                continue;
            }
            let record = self.bench.record(*id).await;
            let expected = &self.reference.entries[place].run;
            assert_eq!(Run { ids: expected.ids, ..record.run }, *expected, "run {place}");
        }
        let log = self.bench.log().await;
        let ids: BTreeMap<_, _> = log.iter().map(|event| (self.place(event.run_id), ids_of(event))).collect();
        assert_eq!(log.len(), self.reference.log.len());
        for (event, (place, payload)) in log.iter().zip(&self.reference.log) {
            // The names of runs differ, and with them the names that engines know them by.
            let workflow = |id: RunId| format!("{:?}", id.workflow_name());
            let text = payload.data(&ids[place]).to_string();
            let text = text.replace(&workflow(RunId::Number(*place as u64)), &workflow(self.ids[*place]));
            assert_eq!(
                (self.place(event.run_id), event.name.event_type()),
                (*place, Some(payload.event_type()))
            );
            assert_eq!(event.data, serde_json::from_str::<serde_json::Value>(&text).unwrap());
        }
    }
}

fn ids_of(event: &Event) -> Ids {
    serde_json::from_value(event.data.clone()).unwrap()
}

fn chosen<T: Clone>(list: &[T], number: usize) -> Option<T> {
    // The latest ones are the ones that still mean something, mostly.
    let back = number.checked_rem(list.len())?.isqrt();
    Some(list[list.len() - 1 - back].clone())
}

/// The database refuses what the reference refuses, for the same reason.
fn agree<T: PartialEq + std::fmt::Debug>(answer: Result<T, StoreError>, expected: Result<T, Refusal>) {
    match (answer, expected) {
        (Ok(answer), Ok(expected)) => assert_eq!(answer, expected),
        (Err(StoreError::Refused(answer)), Err(expected)) => assert_eq!(answer, expected),
        (answer, expected) => panic!("{answer:?} instead of {expected:?}"),
    }
}
