//! Measures the store on both databases: whole lives, appended events, and claims with many runs behind them.
//!
//! `bench/store` builds and runs it; see there for what is printed.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

mod appends;
mod bare;
mod crowd;
mod lives;
mod place;

use place::Bench;

#[tokio::main]
async fn main() {
    let short = std::env::args().any(|word| word == "--quick");
    let only = std::env::args().find_map(|word| word.strip_prefix("--only=").map(str::to_owned));
    for name in
        ["sqlite", "postgres"].into_iter().filter(|name| only.as_deref().is_none_or(|only| only == *name))
    {
        let bench = if name == "sqlite" { Bench::sqlite().await } else { Bench::postgres().await };
        println!("\n## {}\n", bench.name);
        bench.print_settings().await;
        lives::measure(&bench, short).await;
        appends::measure(&bench, short).await;
        crowd::measure(&bench, short).await;
    }
}

/// The value that so many percent of the sorted values do not exceed.
fn percentile(sorted: &[std::time::Duration], percent: usize) -> std::time::Duration {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}
