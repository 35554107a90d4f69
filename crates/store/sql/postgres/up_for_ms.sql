select floor(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint
