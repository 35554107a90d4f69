//! Whatever may happen, in an order that a seed chooses; `bench/chaos` runs it for longer.

use std::env;
use std::time::{Duration, Instant};

use trueup_events::RunId;
use trueup_testkit::Postgres;

use crate::process::Process;
use crate::scene::{BOUNDARIES, Scene};
use crate::storms::cut_all;

/// How long it goes on in an ordinary test run.
const SHORT: Duration = Duration::from_secs(15);
const SEED: u64 = 7;
/// How long a process has to get to where it is held.
const HELD_WITHIN: Duration = Duration::from_secs(2);

/// Verbs that a server can be held in.
const VERBS: [&str; 9] =
    ["Schedule", "Take", "Tell", "Finish", "NotePass", "SweepStaleClaims", "Look", "Expire", "SweepFinished"];

/// Numbers that look random and follow from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }
}

/// A scene with processes in it, of which none is safe.
struct Chaos {
    scene: Scene,
    /// Set where there is a PostgreSQL to be ill-treated.
    postgres: Option<(Postgres, String)>,
    dice: Dice,
    processes: Vec<(&'static str, Option<Process>)>,
    runs: Vec<RunId>,
    steps: usize,
}

impl Chaos {
    fn say(&self, what: &str) {
        println!("step {}: {what}", self.steps);
    }

    /// Starts the process of a place, and holds it somewhere if it gets there.
    fn start(&mut self, place: usize, point: Option<&str>) {
        let (name, _) = self.processes[place];
        self.say(&format!(
            "start {name}{}",
            point.map(|point| format!(", held at {point}")).unwrap_or_default()
        ));
        let process = if name.starts_with("worker") {
            self.scene.command(&["worker", "--lease", "1s", "--name", name], point)
        } else {
            self.scene.serve(point, &["--name", name])
        };
        self.processes[place].1 = Some(process);
    }

    fn kill(&mut self, place: usize) {
        if let Some(process) = self.processes[place].1.take() {
            self.say(&format!("kill {}", self.processes[place].0));
            process.kill();
        }
    }

    /// Starts a process that will be held, and kills it where it is held: one that stays there may have the only pen that SQLite has.
    fn kill_at_a_point(&mut self, place: usize) {
        let verb = VERBS[self.dice.roll(VERBS.len())];
        let point = format!("{verb}/{}", BOUNDARIES[self.dice.roll(BOUNDARIES.len())]);
        self.kill(place);
        self.start(place, Some(&point));
        if let Some(process) = &mut self.processes[place].1 {
            let is_held = process.says_within("fail point", HELD_WITHIN);
            self.say(if is_held { "it is held" } else { "it did not get there" });
        }
        self.kill(place);
    }

    async fn step(&mut self) {
        self.steps += 1;
        let place = self.dice.roll(self.processes.len());
        match self.dice.roll(16) {
            0..8 => {
                self.say("trigger");
                let run_id = self.scene.start_until_heard("daily").await;
                self.runs.push(run_id);
            }
            8 | 9 => {
                if let Some(run_id) = self.runs.get(self.dice.roll(self.runs.len().max(1))).copied() {
                    self.say(&format!("cancel {run_id}"));
                    // Refused when it has ended, or when the store is away: either way what is recorded decides.
                    drop(self.scene.store.request_cancel(self.scene.tenant_id, run_id, "chaos", None).await);
                }
            }
            10 => {
                self.kill(place);
                self.start(place, None);
            }
            11 => {
                self.kill_at_a_point(place);
                self.start(place, None);
            }
            12 | 13 => {
                let triggers = 1 + self.dice.roll(10);
                if let Some(process) = &self.processes[place].1 {
                    self.say(&format!("freeze {} for {triggers} triggers", self.processes[place].0));
                    process.signal("STOP");
                    let mut new = self.scene.new_run("daily");
                    for _ in 0..triggers {
                        // It may be frozen with the only pen that SQLite has.
                        let Ok(run_id) = self.scene.store.trigger(new.clone()).await else { break };
                        self.runs.push(run_id);
                        new = self.scene.new_run("daily");
                    }
                    process.signal("CONT");
                    self.runs.push(self.scene.insist(new).await);
                }
            }
            14 => {
                if let Some((_, url)) = &self.postgres {
                    self.say("cut all connections");
                    cut_all(url).await;
                }
            }
            _ => {
                if let Some((postgres, _)) = &self.postgres {
                    self.say("crash PostgreSQL");
                    postgres.crash().unwrap();
                    postgres.start_again().unwrap();
                }
            }
        }
    }

    async fn run(mut self) {
        let setting =
            |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a whole number"));
        let time = setting("TRUEUP_CHAOS_MINUTES").map_or(SHORT, Duration::from_mins);
        self.dice = Dice(setting("TRUEUP_CHAOS_SEED").unwrap_or(SEED));
        println!("seed {}, {time:?}", self.dice.0);
        let until = Instant::now() + time;
        for place in 0..self.processes.len() {
            self.start(place, None);
        }
        while Instant::now() < until {
            self.step().await;
        }
        println!("the faults stop after {} steps and {} runs", self.steps, self.runs.len());
        for place in 0..self.processes.len() {
            self.processes[place].1 = None;
            self.start(place, None);
        }
        self.scene.ends_well(self.runs.len()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chaos_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("sqlite:{}", folder.path().join("trueup.db").display());
    let scene = Scene::at(place, folder).await;
    let processes = vec![("server-a", None), ("worker-a", None)];
    Chaos { scene, postgres: None, dice: Dice(0), processes, runs: Vec::new(), steps: 0 }.run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chaos_on_postgres() {
    let postgres = Postgres::start().unwrap();
    let url = postgres.database().unwrap();
    let scene = Scene::at(url.clone(), tempfile::tempdir().unwrap()).await;
    let processes = vec![("server-a", None), ("server-b", None), ("worker-a", None)];
    let postgres = Some((postgres, url));
    Chaos { scene, postgres, dice: Dice(0), processes, runs: Vec::new(), steps: 0 }.run().await;
}
