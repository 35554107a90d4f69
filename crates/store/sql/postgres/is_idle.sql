select not exists (select from trueup.event_inbox) and not exists (select from trueup.audit_inbox), (select last_position from trueup.meta)
