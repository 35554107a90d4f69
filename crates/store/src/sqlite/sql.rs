//! Every statement that SQLite is asked to run, each in a file of its own.

/// Names the statements, and lists them for a test that prepares them all.
macro_rules! statements {
    ($($name:ident = $file:literal,)*) => {
        $(pub(crate) const $name: &str = include_str!(concat!("../../sql/sqlite/", $file, ".sql"));)*

        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str)] = &[$(($file, $name)),*];
    };
}

statements! {
    ANSWER_OF = "answer_of",
    AUDIT_AFTER = "audit_after",
    AUDIT_CHAIN = "audit_chain",
    AUDIT_FROM = "audit_from",
    AUDIT_FROM_OF_TENANT = "audit_from_of_tenant",
    AUDIT_HEAD = "audit_head",
    AUDIT_LATE = "audit_late",
    CHECKED = "checked",
    CONNECTION = "connection",
    CONNECTIONS = "connections",
    DELETE_CONNECTION = "delete_connection",
    EVENT = "event",
    EVENTS_OF_RUN = "events_of_run",
    FIND_FINISHED = "find_finished",
    FIND_HANDED_OFF = "find_handed_off",
    FIND_LEASE_OUT = "find_lease_out",
    FIND_OVERDUE = "find_overdue",
    FIND_PAUSE_OVER = "find_pause_over",
    FIND_STALE_CLAIMS = "find_stale_claims",
    FIND_TO_TAKE = "find_to_take",
    FIND_TO_WITHDRAW = "find_to_withdraw",
    FIND_WAITING = "find_waiting",
    FORGET_ANSWERS = "forget_answers",
    FORGET_EVENTS = "forget_events",
    FORGET_EVENTS_OBSERVED = "forget_events_observed",
    FORGET_OBSERVED = "forget_observed",
    FORGET_LATE = "forget_late",
    FORGET_PASSES = "forget_passes",
    FORGET_RUN = "forget_run",
    HAS_KEYS = "has_keys",
    INSERT_AUDIT = "insert_audit",
    INSERT_CONNECTION = "insert_connection",
    INSERT_EVENT = "insert_event",
    INSERT_KEY = "insert_key",
    INSERT_LINK = "insert_link",
    INSERT_OBSERVED = "insert_observed",
    INSERT_REVISION = "insert_revision",
    INSERT_RUN = "insert_run",
    INSERT_TENANT = "insert_tenant",
    JOB = "job",
    JOB_BY_ID = "job_by_id",
    JOBS = "jobs",
    KEEP_ANSWER = "keep_answer",
    KEY = "key",
    KEY_OF = "key_of",
    KEYS = "keys",
    LIMITS = "limits",
    NEXT_PAUSE = "next_pause",
    NOTE_PASS = "note_pass",
    NOW_MS = "now_ms",
    NUMBERS_BETWEEN = "numbers_between",
    OBSERVED = "observed",
    OBSERVED_BETWEEN = "observed_between",
    OBSERVED_BY_ID = "observed_by_id",
    OBSERVED_IN_STATE = "observed_in_state",
    OBSERVED_SILENT = "observed_silent",
    OBSERVED_TO_FORGET = "observed_to_forget",
    OWNERS_OF_RUNS = "owners_of_runs",
    PASSES = "passes",
    QUEUES = "queues",
    READ_FROM = "read_from",
    READ_FROM_OF_TENANT = "read_from_of_tenant",
    REMEMBERS = "remembers",
    REVISION = "revision",
    REVISION_OF = "revision_of",
    REVISIONS = "revisions",
    REVOKE_KEY = "revoke_key",
    RUN = "run",
    RUN_OF_TENANT = "run_of_tenant",
    RUNS = "runs",
    RUNS_BETWEEN = "runs_between",
    RUNS_IN_STATE = "runs_in_state",
    RUNS_OF_JOB = "runs_of_job",
    RUNS_OF_JOB_IN_STATE = "runs_of_job_in_state",
    RUNS_OF_VERDICT = "runs_of_verdict",
    RUNS_SILENT = "runs_silent",
    SAVE_JOB = "save_job",
    SET_LIMITS = "set_limits",
    STAGES_OF_RUN = "stages_of_run",
    TAKE_NODE = "take_node",
    TENANT = "tenant",
    TENANT_BY_ID = "tenant_by_id",
    TENANTS = "tenants",
    TO_STOP = "to_stop",
    UNLINKED = "unlinked",
    WAITING = "waiting",
    WAITING_QUEUES = "waiting_queues",
    WITHDRAWN = "withdrawn",
    WRITE_CONNECTION = "write_connection",
    WRITE_OBSERVED = "write_observed",
    WRITE_RUN = "write_run",
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::migrate::migrate;
    use super::ALL;

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        connection
    }

    #[test]
    fn every_statement_can_be_prepared() {
        let connection = migrated();
        for (name, statement) in ALL {
            connection.prepare(statement).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn every_file_is_a_statement() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/sql/sqlite");
        let files =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files.collect();
        files.sort();
        let mut names: Vec<String> = ALL.iter().map(|(name, _)| format!("{name}.sql")).collect();
        names.sort();
        assert_eq!(files, names);
    }

    #[test]
    fn searches_use_an_index_and_sort_nothing() {
        let table = [
            ("run", "USING INDEX sqlite_autoindex_runs_1"),
            ("write_run", "USING INDEX sqlite_autoindex_runs_1"),
            ("checked", "USING INDEX sqlite_autoindex_runs_1"),
            ("find_waiting", "USING INDEX runs_waiting"),
            ("find_pause_over", "USING INDEX runs_pausing"),
            ("find_stale_claims", "USING INDEX runs_claimed"),
            ("find_handed_off", "USING INDEX runs_handed_off"),
            ("find_lease_out", "USING INDEX runs_leased"),
            ("find_overdue", "USING INDEX runs_retried"),
            ("find_to_take", "USING INDEX runs_to_take"),
            ("find_to_withdraw", "USING INDEX runs_to_stop"),
            ("next_pause", "USING INDEX runs_pausing"),
            ("withdrawn", "USING INDEX sqlite_autoindex_runs_1"),
            ("find_finished", "USING INDEX runs_finished (finished_at_ms>? AND finished_at_ms<?)"),
            ("to_stop", "USING INDEX runs_leased"),
            ("waiting", "USING COVERING INDEX runs_waiting"),
            ("runs", "USING INDEX runs_of_a_tenant (tenant_id=? AND number>? AND number<?)"),
            ("runs_between", "USING INDEX sqlite_autoindex_runs_1 (id>? AND id<?)"),
            (
                "runs_in_state",
                "USING INDEX runs_in_a_state (tenant_id=? AND state=? AND number>? AND number<?)",
            ),
            (
                "runs_of_verdict",
                "USING INDEX runs_of_a_verdict (tenant_id=? AND verdict=? AND number>? AND number<?)",
            ),
            ("runs_of_job", "USING INDEX runs_of_a_job (job_id=? AND number>? AND number<?)"),
            (
                "runs_of_job_in_state",
                "USING INDEX runs_of_a_job_in_a_state (job_id=? AND <expr>=? AND number>? AND number<?)",
            ),
            ("numbers_between", "INDEX runs_of_a_tenant (tenant_id=? AND number>?)"),
            ("numbers_between", "runs USING INTEGER PRIMARY KEY (rowid=?)"),
            ("owners_of_runs", "USING INDEX sqlite_autoindex_runs_1"),
            ("observed", "USING INDEX observed_of_a_tenant (tenant_id=? AND number>? AND number<?)"),
            ("observed_between", "INDEX observed_by_time (tenant_id=? AND opened_at_ms<?)"),
            ("observed_between", "INDEX observed_by_time (tenant_id=? AND opened_at_ms>?)"),
            ("observed_by_id", "USING INDEX sqlite_autoindex_observed_1 (id=? AND tenant_id=?)"),
            (
                "observed_in_state",
                "USING INDEX observed_in_a_state (tenant_id=? AND state=? AND number>? AND number<?)",
            ),
            ("observed_silent", "USING INDEX observed_going_on"),
            ("observed_to_forget", "USING INDEX observed_finished"),
            ("write_observed", "USING INDEX sqlite_autoindex_observed_1 (id=? AND tenant_id=?)"),
            ("stages_of_run", "USING INDEX events_of_a_run"),
            ("events_of_run", "USING INDEX events_of_a_run"),
            ("read_from", "USING INTEGER PRIMARY KEY"),
            ("read_from_of_tenant", "USING INDEX events_of_a_tenant"),
            ("keys", "USING INDEX keys_of_a_tenant (tenant_id=? AND id>?)"),
            ("key_of", "USING INDEX sqlite_autoindex_keys_2 (hash=?)"),
            ("tenants", "USING PRIMARY KEY (id>?)"),
            ("jobs", "USING INDEX sqlite_autoindex_jobs_2 (tenant_id=? AND name>?)"),
            ("revisions", "USING INDEX sqlite_autoindex_job_revisions_1 (job_id=? AND revision<?)"),
            ("connections", "USING PRIMARY KEY (tenant_id=? AND name>?)"),
            ("answer_of", "USING INDEX sqlite_autoindex_answers_1 (tenant_id=? AND key=?)"),
            ("forget_answers", "USING COVERING INDEX answers_by_age (kept_at_ms<?)"),
            ("audit_after", "USING INTEGER PRIMARY KEY"),
            ("audit_late", "audit_chain USING COVERING INDEX sqlite_autoindex_audit_chain_1 (audit_id=?)"),
            ("audit_from", "audit_chain USING INTEGER PRIMARY KEY"),
            ("audit_from_of_tenant", "audit_chain USING INDEX audit_of_a_tenant (tenant_id=? AND number>?)"),
        ];
        // Whatever somebody has let the planner count.
        for connection in [migrated(), analysed()] {
            for (name, index) in table {
                let plan = plan(&connection, name);
                assert!(plan.contains(index), "{name}: {plan}");
                assert!(!plan.contains("B-TREE"), "{name} sorts: {plan}");
            }
            let queues = plan(&connection, "waiting_queues");
            for index in ["COVERING INDEX runs_waiting", "INDEX runs_holding_a_slot"] {
                assert!(queues.contains(index), "waiting_queues: {queues}");
            }
        }
    }

    /// A store with a long log of what was done, of which the planner knows.
    fn analysed() -> Connection {
        let connection = migrated();
        let log = "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1000)
            insert into audit (at_ms, tenant_id, actor, action, subject, detail) select n, '', '', '', '', '{}' from numbers;
            insert into audit_chain (number, audit_id, hash, tenant_id) select id, id, zeroblob(32), '' from audit;
            analyze";
        connection.execute_batch(log).unwrap();
        connection
    }

    fn plan(connection: &Connection, name: &str) -> String {
        let (_, statement) = ALL.iter().find(|(file, _)| *file == name).unwrap();
        let mut explain = connection.prepare(&format!("explain query plan {statement}")).unwrap();
        let count = explain.parameter_count();
        let steps = explain
            .query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get::<_, String>(3))
            .unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }
}
