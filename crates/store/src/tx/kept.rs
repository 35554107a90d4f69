//! What a verb can do about connections, and about answers that are given again.

use trueup_events::TenantId;

use crate::connection::Connection;
use crate::error::StoreError;
use crate::record::Answer;

/// A transaction, as far as it is about what requests leave behind.
pub(crate) trait Kept: Send {
    /// Loads a connection.
    fn connection(
        &mut self,
        tenant_id: TenantId,
        name: &str,
    ) -> impl Future<Output = Result<Option<Connection>, StoreError>> + Send;

    /// Adds a connection.
    fn insert_connection(
        &mut self,
        connection: &Connection,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Changes a connection.
    fn write_connection(
        &mut self,
        connection: &Connection,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes a connection.
    fn delete_connection(
        &mut self,
        tenant_id: TenantId,
        name: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps an answer, unless there is one for the key, and gives the one that there is.
    fn keep_answer(
        &mut self,
        tenant_id: TenantId,
        key: &str,
        answer: &Answer,
        kept_at_ms: i64,
    ) -> impl Future<Output = Result<Answer, StoreError>> + Send;

    /// Deletes answers that were kept before a time, no more than so many; says how many.
    fn forget_answers(
        &mut self,
        before_ms: i64,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}
