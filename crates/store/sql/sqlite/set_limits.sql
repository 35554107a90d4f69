insert into queues (tenant_id, name, max_running, max_waiting)
values (?1, ?2, ?3, ?4)
on conflict (tenant_id, name) do update set max_running = excluded.max_running, max_waiting = excluded.max_waiting
