//! Executor, worker and sweeps on real stores; each case runs on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod lives;
mod system;

/// Makes a test of each case for each database.
macro_rules! on_both {
    ($($module:ident::$case:ident,)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                crate::$module::$case(crate::system::System::sqlite().await).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                crate::$module::$case(crate::system::System::postgres().await).await;
            })*
        }
    };
}

on_both! {
    lives::a_run_is_executed_and_told_of,
    lives::a_cancel_stops_a_running_attempt,
    lives::a_run_past_its_deadline_times_out,
    lives::stopping_hands_back_what_is_under_way,
}
