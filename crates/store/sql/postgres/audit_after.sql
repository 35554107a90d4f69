-- Takes the entries that have become visible out of the inbox; SQLite finds them after the last one that is linked.
with visible as (
    delete from trueup.audit_inbox
    where audit_id in (select audit_id from trueup.audit_inbox order by audit_id limit $1)
    returning audit_id
)
select a.id, a.at_ms, a.tenant_id, a.actor, a.action, a.subject, a.detail
from visible join trueup.audit as a on a.id = visible.audit_id
order by a.id
