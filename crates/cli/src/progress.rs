//! One bar per source on the terminal, with rows and rate, erased at the end.

use std::io::{Write as _, stderr};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use trueup_compare::{Progress, Stage};

const FRAME: Duration = Duration::from_millis(100);
const BAR: usize = 24;

/// Bars that are being drawn; dropping them erases them.
pub(crate) struct Bars {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bars {
    /// Starts drawing how far a comparison is.
    pub(crate) fn draw(progress: &Arc<Progress>, names: &[String], width: usize) -> Self {
        let progress = Arc::clone(progress);
        let names = names.to_vec();
        Self::start(move |elapsed| frame(&progress, &names, elapsed, width))
    }

    /// Starts drawing whatever there is to draw after so long.
    pub(crate) fn start(frame: impl Fn(Duration) -> String + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let started = Instant::now();
            while stopped.recv_timeout(FRAME) == Err(RecvTimeoutError::Timeout) {
                let frame = frame(started.elapsed());
                // The cursor goes back up at once, so that whatever is printed next overwrites the bars.
                show(&format!("{frame}\u{1b}[{}A", frame.lines().count()));
            }
            show("\u{1b}[J");
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic while drawing has said so itself and does not touch the comparison.
            drop(thread.join());
        }
    }
}

fn show(text: &str) {
    let mut terminal = stderr().lock();
    // Bars that cannot be shown are no reason to stop a comparison.
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}

fn frame(progress: &Progress, names: &[String], elapsed: Duration, width: usize) -> String {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut frame = String::new();
    for (source, name) in names.iter().enumerate() {
        let rows = progress.rows(source);
        let line = format!(
            "{name:longest$}  {}  {:>9} rows  {:>8}/s",
            bar(rows, progress.expected(source)),
            short(rows as f64),
            short(rows as f64 / elapsed.as_secs_f64().max(0.001)),
        );
        push_line(&mut frame, &line, width);
    }
    let stage = match progress.stage() {
        Stage::Reading => "reading",
        Stage::Comparing => "comparing",
        Stage::ReadingAgain => "reading the breaks",
        Stage::Done => "done",
    };
    push_line(&mut frame, &format!("{stage}, {:.1} s", elapsed.as_secs_f64()), width);
    frame
}

/// Adds a line, cut to the width.
pub(crate) fn push_line(frame: &mut String, line: &str, width: usize) {
    let line: String = line.chars().take(width.saturating_sub(1)).collect();
    frame.push_str(&line);
    frame.push_str("\u{1b}[K\n");
}

/// A bar that is full when all has come; none where it is not known how much that is.
pub(crate) fn bar(rows: u64, expected: Option<u64>) -> String {
    let Some(expected) = expected else {
        return " ".repeat(BAR + 5);
    };
    let share = (rows as f64 / expected as f64).min(1.0);
    let mut bar = String::new();
    for cell in 0..BAR {
        bar.push(if (cell as f64) < share * BAR as f64 { '━' } else { '╌' });
    }
    bar + &format!(" {:>3.0}%", share * 100.0)
}

/// A number in at most six characters.
pub(crate) fn short(number: f64) -> String {
    match number {
        small if small < 10_000.0 => format!("{small:.0}"),
        thousands if thousands < 1e6 => format!("{:.1} k", thousands / 1e3),
        millions if millions < 1e9 => format!("{:.1} M", millions / 1e6),
        more => format!("{:.2} G", more / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trueup_compare::{Limits, Progress, Spec};
    use trueup_reconcile::Input;

    use super::{bar, frame, short};

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (9999.0, "9999"), (12_345.0, "12.3 k"), (2.5e6, "2.5 M"), (1e10, "10.00 G")];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn bars_fill() {
        assert_eq!(bar(6, Some(12)), format!("{}{}  50%", "━".repeat(12), "╌".repeat(12)));
        assert!(bar(20, Some(12)).ends_with("100%"));
        assert_eq!(bar(6, None).trim(), "");
    }

    #[test]
    fn bars_are_full_once_all_is_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.csv");
        // Blank lines make the guess too high.
        std::fs::write(&path, "id,x\n1,a\n\n\n\n\n2,b\n").unwrap();
        let options = trueup_extract::Options::new(place.path());
        let names = ["a".to_owned(), "b".to_owned()];
        let inputs =
            names.each_ref().map(|name| Input::open(name, path.to_str().unwrap(), &options).unwrap());
        let spec = Spec { key: vec!["id".to_owned()], ..Spec::default() };
        let limits = Limits { memory: 64 << 20, threads: 2, temp_dir: place.path().to_owned() };
        let progress = Progress::new(2);
        trueup_reconcile::compare(&inputs, &spec, &limits, &progress, None).unwrap();
        let frame = frame(&progress, &names, Duration::from_secs(1), 80);
        assert_eq!(frame.matches("━ 100%          2 rows").count(), 2, "{frame}");
    }

    #[test]
    fn frames_fit_the_terminal() {
        let names = ["ledger".to_owned(), "bank".to_owned()];
        let frame = frame(&Progress::new(2), &names, Duration::from_secs(1), 30);
        assert_eq!(frame.lines().count(), 3);
        assert!(frame.lines().all(|line| line.trim_end_matches("\u{1b}[K").chars().count() < 30));
    }
}
