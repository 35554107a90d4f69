-- What a run says of its end and of a cancel can be read. A trigger, because SQLite adds no constraint to a table that is there.

create trigger runs_stay_readable before update on runs
when (new.error is not null and coalesce(json_type(new.error, '$.code') = 'text' and json_type(new.error, '$.message') = 'text', 0) = 0)
    or (new.cancel is not null and coalesce(json_type(new.cancel, '$.by') = 'text' and json_type(new.cancel, '$.at_ms') = 'integer', 0) = 0)
    or (new.beside is not null
        and coalesce(json_extract(new.beside, '$.result') in ('MATCHED', 'UNMATCHED'), json_type(new.beside, '$.error.code') = 'text', 0) = 0)
begin select raise(abort, 'the end of a run, and a cancel, stay readable'); end;
