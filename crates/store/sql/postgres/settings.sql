-- Only here: SQLite has pragmas for it.
select name, setting from pg_settings where name in ('fsync', 'server_version', 'synchronous_commit') order by name
