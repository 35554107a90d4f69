insert into trueup.runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, finished_at_ms, verdict, error)
select '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), jobs.tenant_id, jobs.id, 1, 'default', '{}', 'IMMEDIATE', 'bench', n, 3600000, 0,
    case when n > :finished then 'requested' when n % 10 = 0 then 'failed' else 'completed' end,
    case when n > :finished then 0 else 2 end,
    case when n > :finished then null else n end,
    case when n > :finished or n % 10 = 0 then null else 'MATCHED' end,
    case when n <= :finished and n % 10 = 0 then '{"code":"UNKNOWN","message":"…"}'::json end
from generate_series(1, :finished + :waiting) n, trueup.jobs where jobs.name = 'revenue';
