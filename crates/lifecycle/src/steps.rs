//! The steps of an execution, as far as its events tell of them.

/// How many steps of one execution are told apart; whoever sends events chooses their names.
const STEPS_MAX: usize = 1_000;
/// How many characters of a name are kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;

/// How far a step has come. The later in this order is the one that stands, so that it does not matter in which order it is heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepState {
    /// It has begun.
    Running,
    /// It was called off.
    Cancelled,
    /// It failed, and was not heard to succeed after all.
    Failed,
    /// It came to its end.
    Completed,
}

impl StepState {
    /// Every one of them.
    pub const ALL: [Self; 4] = [Self::Running, Self::Cancelled, Self::Failed, Self::Completed];

    /// The one spelling of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Completed => "completed",
        }
    }

    /// The state of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// One step of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// What its producer calls it.
    pub name: String,
    /// How far it has come.
    pub state: StepState,
}

/// Steps in the order in which they were first heard of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Steps(pub Vec<Step>);

/// How far an execution has come, in steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Progress {
    /// How many steps were heard of.
    pub total_steps: usize,
    /// The names of those that came to their end.
    pub completed_steps: Vec<String>,
    /// How many run.
    pub running_steps: usize,
    /// How many failed.
    pub failed_steps: usize,
    /// The one that began last of those that run.
    pub current_step: Option<String>,
}

impl Steps {
    /// Takes into account that a step was heard to be in a state.
    pub fn hear(&mut self, name: &str, state: StepState) {
        let name = cut(name);
        // What is heard of now is most often what began last.
        match self.0.iter().rposition(|step| step.name == name) {
            Some(place) => self.0[place].state = self.0[place].state.max(state),
            None if self.0.len() < STEPS_MAX => self.0.push(Step { name: name.to_owned(), state }),
            None => {}
        }
    }

    /// What they amount to; nothing runs in an execution that is over.
    pub fn progress(&self, is_over: bool) -> Progress {
        let of = |state| self.0.iter().filter(move |step| step.state == state);
        let running = || of(StepState::Running).filter(|_| !is_over);
        Progress {
            total_steps: self.0.len(),
            completed_steps: of(StepState::Completed).map(|step| step.name.clone()).collect(),
            running_steps: running().count(),
            failed_steps: of(StepState::Failed).count(),
            current_step: running().next_back().map(|step| step.name.clone()),
        }
    }
}

/// As much of a name as is kept.
pub(crate) fn cut(name: &str) -> &str {
    name.char_indices().nth(NAME_CHARS_MAX).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_amount_to_progress() {
        let mut steps = Steps::default();
        for (name, state) in [
            ("start", StepState::Running),
            ("start", StepState::Completed),
            ("fetch", StepState::Running),
            ("load", StepState::Running),
            ("load", StepState::Failed),
            ("report", StepState::Running),
            ("start", StepState::Running),
        ] {
            steps.hear(name, state);
        }
        let progress = steps.progress(false);
        assert_eq!((progress.total_steps, progress.running_steps, progress.failed_steps), (4, 2, 1));
        assert_eq!(
            (progress.completed_steps, progress.current_step),
            (vec!["start".to_owned()], Some("report".to_owned()))
        );
        let over = steps.progress(true);
        assert_eq!((over.total_steps, over.running_steps, over.current_step), (4, 0, None));
    }

    #[test]
    fn names_and_their_number_are_bounded() {
        let mut steps = Steps::default();
        for number in 0..2 * STEPS_MAX {
            steps.hear(&format!("{number:04}{}", "é".repeat(1_000)), StepState::Running);
        }
        assert_eq!(steps.0.len(), STEPS_MAX);
        assert!(steps.0.iter().all(|step| step.name.chars().count() == NAME_CHARS_MAX));
    }
}
