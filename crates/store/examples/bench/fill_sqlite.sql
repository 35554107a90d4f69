with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < :finished + :waiting)
insert into runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, finished_at_ms, verdict, error)
select printf('00000000-0000-4000-8000-%012d', n), jobs.tenant_id, jobs.id, 1, 'default', '{}', 'IMMEDIATE', 'bench', n, 3600000, 0,
    case when n > :finished then 'requested' when n % 10 = 0 then 'failed' else 'completed' end,
    case when n > :finished then 0 else 2 end,
    case when n > :finished then null else n end,
    case when n > :finished or n % 10 = 0 then null else 'MATCHED' end,
    case when n <= :finished and n % 10 = 0 then '{"code":"UNKNOWN","message":"…"}' end
from numbers, jobs where jobs.name = 'revenue';
analyze;
