//! Looking for runs, past rows that cannot be read.

use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Found, Search, Tx};

/// Finds runs, no more than asked; a row that cannot be read is logged and passed over, so that it holds up no other.
pub(super) async fn find<T: Tx>(
    tx: &mut T,
    context: &Context,
    search: Search,
    limit: u32,
) -> Result<Vec<Record>, StoreError> {
    find_all(tx, context, &[(search, limit)]).await
}

/// Finds runs by several searches at once, each with its own limit.
pub(super) async fn find_all<T: Tx>(
    tx: &mut T,
    context: &Context,
    searches: &[(Search, u32)],
) -> Result<Vec<Record>, StoreError> {
    let mut asked = searches.to_vec();
    loop {
        let found = tx.find(&asked).await?;
        let mut is_short = false;
        for (((_, limit), (_, asked)), found) in searches.iter().zip(&mut asked).zip(&found) {
            if let Some(wanted) = short_of(found, *limit, *asked) {
                (*asked, is_short) = (wanted, true);
            }
        }
        if !is_short {
            return Ok(readable(context, found.into_iter().flatten()));
        }
    }
}

/// How many rows to ask for so that as many runs as wanted can be read; none if they can, or if there are no more.
pub(crate) fn short_of(found: &[Found], limit: u32, asked: u32) -> Option<u32> {
    let unreadable = found.iter().filter(|run| run.is_err()).count();
    let wanted = limit.saturating_add(unreadable.try_into().unwrap_or(u32::MAX));
    // Less than was asked for is all that there is.
    (found.len() >= asked as usize && wanted > asked).then_some(wanted)
}

/// The runs among rows; those that cannot be read are logged.
pub(crate) fn readable(context: &Context, found: impl IntoIterator<Item = Found>) -> Vec<Record> {
    let readable = |run: Found| run.map_err(|unreadable| context.pass_over(&unreadable)).ok();
    found.into_iter().filter_map(readable).collect()
}
