-- Julian days, as every SQLite can, in place of the seconds with a fraction that only late ones have.
select cast(round((julianday('now') - 2440587.5) * 86400000) as integer)
