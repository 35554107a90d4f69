-- What a run says of its end and of a cancel can be read. Not checked for rows that are there: one that somebody has damaged is passed over, and must not keep the schema back.

alter table trueup.runs add constraint error_is_readable check (
    error is null or coalesce(json_typeof(error -> 'code') = 'string' and json_typeof(error -> 'message') = 'string', false)
) not valid;
alter table trueup.runs add constraint cancel_is_readable check (
    cancel is null or coalesce(json_typeof(cancel -> 'by') = 'string' and json_typeof(cancel -> 'at_ms') = 'number', false)
) not valid;
alter table trueup.runs add constraint beside_is_readable check (
    beside is null or coalesce(beside ->> 'result' in ('MATCHED', 'UNMATCHED'), json_typeof(beside -> 'error' -> 'code') = 'string', false)
) not valid;
