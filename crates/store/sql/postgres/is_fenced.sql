-- Only here: whether reads for a tenant can be done as a role that sees nothing else. SQLite knows no roles.
select exists (
    select from pg_roles
    where rolname = 'trueup_tenant'
        and pg_has_role(current_user, oid, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
        and has_schema_privilege(oid, 'trueup', 'usage')
        and has_table_privilege(oid, 'trueup.runs', 'select')
)
