//! The links of the audit log.

use rusqlite::{Connection, Row, params};

use super::rows::{self, Loaded};
use super::sql;
use crate::audit::{Audited, Head, Link, ROOT, Walk};
use crate::columns::damaged;

/// Links the entries that have no link yet: those behind all that have one in the order in which they were written, which here is the order of commits, and
/// then those that were put before them.
pub(crate) fn link(connection: &Connection) -> Loaded<()> {
    let head = rows::first(connection, sql::AUDIT_HEAD, [], |row| {
        let hash: Link = row.get::<_, Vec<u8>>(2)?.try_into().map_err(|_| damaged("a link is too short"))?;
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, hash))
    })?;
    let (mut number, audit_id, mut hash) = head.unwrap_or((0, i64::MIN, ROOT));
    let mut insert = connection.prepare_cached(sql::INSERT_LINK)?;
    let mut link = |row: &Row<'_>| -> Loaded<()> {
        let entry = rows::entry(row, 0)?;
        hash = entry.link(&hash);
        number += 1;
        insert.execute(params![number, entry.id, hash, entry.tenant_id])?;
        Ok(())
    };
    each(connection, sql::AUDIT_AFTER, [audit_id], &mut link)?;
    if each(connection, sql::AUDIT_LATE, [], &mut link)? > 0 {
        connection.prepare_cached(sql::FORGET_LATE)?.execute([])?;
    }
    Ok(())
}

/// Does something for every row that a statement gives, and counts them.
fn each(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
    act: &mut impl FnMut(&Row<'_>) -> Loaded<()>,
) -> Loaded<u64> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        act(row)?;
        count += 1;
    }
    Ok(count)
}

/// Goes through all links.
pub(crate) fn verify(connection: &Connection, expected: Option<Head>) -> Loaded<Audited> {
    let mut walk = Walk::new(expected);
    let mut links = connection.prepare(sql::AUDIT_CHAIN)?;
    let mut links = links.query([])?;
    while let Some(row) = links.next()? {
        let entry = row.get::<_, Option<i64>>(2)?.map(|_| rows::entry(row, 2)).transpose()?;
        let link = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        if !walk.step(row.get(0)?, entry.as_ref(), link) {
            break;
        }
    }
    let unlinked: i64 = connection.query_row(sql::UNLINKED, [], |row| row.get(0))?;
    Ok(walk.end(unlinked.cast_unsigned()))
}
