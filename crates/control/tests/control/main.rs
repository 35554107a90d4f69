//! Executor, worker and sweeps on real stores; each case runs on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod engines;
mod gate;
mod hangs;
mod lives;
mod races;
mod script;
mod starts;
mod sweeps;
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
    lives::a_failure_that_would_come_again_is_not_retried,
    lives::an_attempt_that_dies_is_tried_again,
    lives::a_cancel_stops_a_running_attempt,
    lives::a_run_past_its_deadline_times_out,
    lives::stopping_hands_back_what_is_under_way,
    lives::what_the_caller_wrote_names_nobody,
    lives::what_a_lost_run_came_to_is_kept_beside_its_end,
    starts::what_was_committed_before_anybody_listened_is_started,
    starts::a_claim_whose_executor_is_gone_is_taken_over,
    starts::a_claim_of_ones_own_is_taken_up_at_once,
    starts::a_poison_start_fails_and_holds_up_nobody,
    starts::dead_entries_do_not_starve_a_live_one,
    starts::four_executors_start_each_run_once,
    sweeps::a_silent_run_is_what_its_engine_says,
    sweeps::one_sweep_ends_what_was_lost,
    sweeps::a_sign_of_life_leaves_nothing_to_tell_the_engine,
    sweeps::an_engine_is_told_of_what_another_process_has_ended,
    sweeps::not_to_know_is_not_to_be_lost,
    sweeps::an_engine_that_is_not_well_loses_nothing,
    sweeps::a_lost_run_is_retried_if_its_job_says_so,
    sweeps::a_hand_off_that_the_engine_forgot_is_submitted_again,
    sweeps::a_hand_off_that_the_engine_may_have_is_left_to_it,
    sweeps::what_is_old_is_forgotten_and_what_lives_is_not,
    sweeps::a_worker_deletes_what_its_runs_left,
    sweeps::reports_of_processes_that_are_gone_are_forgotten,
    sweeps::reports_tell_of_illegal_transitions,
    engines::a_cancel_is_passed_on,
    engines::a_cancel_that_fails_or_hangs_is_passed_on_again,
    engines::a_submit_that_hangs_holds_up_nobody,
    engines::a_submit_that_failed_is_tried_again_without_a_sweep,
    engines::what_the_engine_cannot_delete_is_kept_until_it_can,
    engines::an_engine_that_cannot_be_asked_loses_nothing,
    engines::a_run_past_its_deadline_waits_for_no_cancel,
    races::a_thousand_cancels_at_random_moments,
    races::a_queue_runs_no_more_than_it_may_and_in_order,
}
