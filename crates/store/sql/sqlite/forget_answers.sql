delete from answers
where rowid in (select rowid from answers where kept_at_ms < ?1 order by kept_at_ms limit ?2)
