//! One suite that every database must pass: each case runs on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod admission;
mod attempts;
mod audit;
mod bench;
mod cancelling;
mod connections;
mod jobs;
mod lives;
mod log;
mod observed;
mod property;
mod reference;
mod sweeps;
mod text;
mod upkeep;

/// Makes a test of each case for each database.
macro_rules! conformance {
    ($($module:ident::$case:ident,)*) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $case() {
                crate::$module::$case(crate::bench::Bench::sqlite().await).await;
            })*
        }

        mod postgres {
            $(#[tokio::test]
            async fn $case() {
                crate::$module::$case(crate::bench::Bench::postgres().await).await;
            })*
        }
    };
}

conformance! {
    lives::a_run_lives_from_trigger_to_finalised,
    lives::every_outcome_ends_in_its_state,
    lives::an_attempt_that_died_is_retried_if_the_job_says_so,
    lives::a_late_outcome_is_kept_beside_the_first,
    lives::an_unknown_job_starts_nothing,
    lives::a_run_that_is_asked_for_again_is_the_same,
    lives::many_executors_claim_each_run_once,
    lives::scheduling_is_a_claim_and_a_hand_off,
    lives::a_run_keeps_the_revision_it_started_with,
    lives::runs_are_listed_latest_first_by_page,
    lives::runs_are_listed_by_what_they_found_and_when_they_were_asked_for,
    lives::times_are_exact_where_numbers_are_in_another_order,
    lives::runs_are_found_by_a_range_of_ids,
    access::a_key_is_found_by_the_hash_of_its_text,
    access::a_key_that_is_made_again_is_the_same,
    access::a_key_is_revoked_once_and_by_its_tenant,
    access::keys_are_listed_by_page,
    access::the_first_key_is_made_once,
    access::a_tenant_is_made_once_and_its_name_is_its_own,
    connections::a_connection_is_changed_if_it_is_what_it_is_taken_to_be,
    connections::of_puts_at_once_one_is_made,
    connections::connections_are_their_tenants,
    connections::the_first_answer_stands,
    connections::answers_are_forgotten_by_age,
    jobs::a_job_is_saved_if_it_is_what_it_is_taken_to_be,
    jobs::of_changes_at_once_one_is_made,
    jobs::jobs_are_listed_by_name_and_page,
    jobs::a_job_and_its_revisions_are_its_tenants,
    admission::a_queue_lets_in_as_many_as_it_has_slots,
    admission::a_full_waiting_line_refuses,
    admission::of_wishes_at_once_each_has_its_own_answer,
    admission::executors_together_never_overfill_a_queue,
    cancelling::the_cancel_table_holds,
    cancelling::a_secret_in_a_reason_is_not_kept,
    cancelling::a_cancel_races_a_finish,
    cancelling::another_tenants_run_does_not_exist,
    sweeps::a_stale_claim_is_taken_over,
    sweeps::a_poison_run_fails_and_blocks_nobody,
    sweeps::a_lost_hand_off_is_submitted_again,
    sweeps::a_lost_worker_is_told_apart_from_a_slow_one,
    sweeps::the_engine_is_to_be_told_of_what_ended_without_its_word,
    sweeps::dead_entries_do_not_starve_a_live_one,
    sweeps::a_deadline_is_enforced_when_the_worker_is_gone,
    sweeps::a_run_that_waits_past_its_deadline_times_out,
    attempts::a_lost_lease_refuses_to_tell_and_to_hand_back,
    attempts::what_a_worker_tells_is_in_the_log_and_prolongs_its_lease,
    attempts::what_is_told_gets_other_ids_when_some_are_taken,
    attempts::a_run_that_is_handed_back_is_the_next_workers,
    attempts::an_engine_answers_for_a_silent_run,
    attempts::one_run_is_claimed_when_its_turn_has_come,
    attempts::one_run_is_taken_and_no_other,
    upkeep::only_what_has_ended_is_forgotten,
    upkeep::what_cannot_be_forgotten_holds_up_no_other,
    upkeep::the_last_pass_of_each_task_is_kept,
    upkeep::queues_tell_what_is_in_them,
    upkeep::a_worker_hears_which_runs_to_stop,
    upkeep::commits_are_on_stable_storage,
    upkeep::a_revision_can_be_read_when_it_is_an_old_one,
    log::positions_are_gapless_and_in_order,
    log::a_repeated_event_adds_nothing,
    log::what_comes_again_moves_no_ids_ahead,
    log::who_tells_the_same_at_once_tells_it_once,
    log::only_a_change_tells_of_a_change,
    log::a_batch_is_all_or_nothing,
    log::a_long_batch_keeps_its_order_around_what_is_repeated,
    log::what_others_tell_of_an_end_is_kept,
    log::nobody_tells_of_another_tenants_run_or_hears_of_it,
    log::a_reader_is_woken,
    text::a_nul_is_refused_by_the_name_of_its_field,
    text::so_it_is_in_keys_connections_and_answers,
    text::a_nul_within_json_is_kept,
    observed::what_others_execute_is_observed,
    observed::a_repetition_moves_nothing,
    observed::an_execution_with_a_uuid_has_as_many_ends_as_are_told,
    observed::both_kinds_are_listed_in_one_order,
    observed::the_stages_of_a_run_are_its_steps,
    observed::an_observed_execution_is_cancelled_here,
    observed::what_is_silent_is_found,
    observed::old_observed_executions_are_forgotten,
    observed::many_who_tell_at_once_open_it_once,
    audit::every_change_is_in_the_audit_log,
    audit::the_audit_log_can_be_read,
    property::random_verbs_agree_with_the_reference,
}
