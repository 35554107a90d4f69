//! What becomes of a state once faults stop.
//!
//! Stateright's own `eventually` takes a state that it has seen before for no end of a path, and so misses what goes round in a circle.
//! Instead every reachable state is asked a question of that state alone, which the checker can answer as it does any other: does a
//! schedule without faults, in which each actor has its turn and the clock goes on when all have nothing left to do, bring every run to
//! its end?

use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::Model;
use trueup_lifecycle::Run;

use crate::action::Action;
use crate::model::{System, actors};
use crate::world::{Left, World};

/// More than any state needs; a schedule that is not over by then goes round in a circle.
const ROUNDS_MAX: usize = 60;

impl System {
    /// Whether every run ends, once faults stop.
    pub(crate) fn comes_to_an_end(&self, world: &World) -> bool {
        let mut world = World { left: Left::default(), ..world.clone() };
        let mut path = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let print = fingerprint(&world);
            let mut settled = self.settled.lock().expect("no thread panics while it holds the lock");
            if settled.contains(&print) || world.rows.iter().all(|row| is_over(&row.run)) {
                settled.extend(path);
                settled.insert(print);
                return true;
            }
            drop(settled);
            path.push(print);
            let next = self.round(&world);
            world = if next == world { World { now_ms: world.now_ms + 1, ..next } } else { next };
        }
        false
    }

    /// Delivers all mail, and gives each actor a turn: it does the first thing that it can.
    fn round(&self, world: &World) -> World {
        let mut world = world.clone();
        for message in world.engine.mail.clone() {
            world = self.next_state(&world, Action::Deliver(message)).unwrap_or(world);
        }
        for actor in actors() {
            let mut turns = self.turns(&world, actor).into_iter();
            world = turns.find_map(|turn| self.next_state(&world, turn)).unwrap_or(world);
        }
        world
    }
}

pub(crate) fn is_over(run: &Run) -> bool {
    run.state.status().is_terminal()
}

fn fingerprint(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}
