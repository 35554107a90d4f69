//! The one list of statements; every connection prepares them all in one flight.

use futures_util::future::try_join_all;
use tokio_postgres::{Client, Error, Statement};

macro_rules! statements {
    ($($name:ident)*) => {
        /// What one connection has prepared.
        #[derive(Debug)]
        pub(crate) struct Statements {
            $(pub(crate) $name: Statement,)*
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        const TEXTS: &[&str] =
            &[$(include_str!(concat!("../../sql/postgres/", stringify!($name), ".sql"))),*];

        impl Statements {
            pub(crate) async fn prepare(client: &Client) -> Result<Self, Error> {
                let prepared = try_join_all(TEXTS.iter().map(|text| client.prepare(text))).await?;
                let [$($name),*] = <[Statement; TEXTS.len()]>::try_from(prepared)
                    .unwrap_or_else(|_| unreachable!("every text gives a statement"));
                Ok(Self { $($name),* })
            }
        }
    };
}

statements! {
    answer_of append_events audit_after audit_chain audit_from audit_from_of_tenant audit_head checked connection connection_for_update
    connections delete_connection event events_of_run find_finished find_handed_off find_lease_out find_overdue find_pause_over
    find_stale_claims find_to_take find_to_withdraw find_waiting forget forget_answers forget_observed forget_passes has_keys insert_audit
    insert_connection insert_key insert_link insert_observed insert_revision insert_run insert_tenant is_fenced is_idle job job_by_id jobs
    keep_answer key key_of keys last_position limits lock_keys lock_name lock_observed lock_queues lock_sequencer lock_waiting next_pause
    note_pass notify now_ms number_events numbers_between observed observed_between observed_by_id observed_in_state observed_silent offers
    owners_of_runs passes queues read_from read_from_of_tenant remembers revision revision_of revisions revoke_key run run_of_tenant runs
    runs_between runs_by_id runs_in_state runs_of_job runs_of_job_in_state runs_of_verdict runs_silent save_job set_limits settings
    stages_of_run take_node tell_events tenant tenant_by_id tenants to_stop unlinked up_for_ms waiting waiting_queues withdrawn
    write_connection write_observed write_run
}

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn every_file_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/postgres");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let statements = files.filter(|path| path.is_file());
        let mut names: Vec<String> =
            statements.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        assert_eq!(names, NAMES);
    }
}
