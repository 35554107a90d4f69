-- Takes the entries that have become visible out of the inbox; SQLite finds them after the last one that is linked.
-- Looks each of them up by its key: what the planner knows of the tables was true before they grew.
with visible as (
    delete from trueup.audit_inbox
    where audit_id = any (array(select audit_id from trueup.audit_inbox order by audit_id limit $1))
    returning audit_id
)
select a.id, a.at_ms, a.tenant_id, a.actor, a.action, a.subject, a.detail
from visible
cross join lateral (select * from trueup.audit where audit.id = visible.audit_id limit 1) as a
order by a.id
