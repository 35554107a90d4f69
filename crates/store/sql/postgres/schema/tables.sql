select to_regclass('trueup.migrations') is not null, exists (select from pg_namespace where nspname = 'trueup'), current_setting('server_version_num')::bigint, current_setting('server_version')
