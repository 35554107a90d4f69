//! Connections, and answers that are given again.

use trueup_events::TenantId;

use super::{Backend, Store};
use crate::connection::{Connection, NewConnection};
use crate::error::StoreError;
use crate::record::{Answer, Expected};
use crate::text::refuse_nul;
use crate::verbs;

impl Store {
    /// Makes or changes a connection if it is what it is taken to be; one that says the same as before stays as it is.
    pub async fn put_connection(
        &self,
        new: NewConnection,
        expected: Expected,
        by: &str,
    ) -> Result<Connection, StoreError> {
        refuse_nul([("name", new.name.as_str()), ("kind", &new.kind), ("by", by)])?;
        self.transact(verbs::PutConnection { new, expected, by: by.to_owned() }).await
    }

    /// A connection of a tenant.
    pub async fn connection(
        &self,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<Option<Connection>, StoreError> {
        refuse_nul([("name", name)])?;
        ask!(self, backend => backend.connection(tenant_id, name).await)
    }

    /// The connections of a tenant after a name, by name.
    pub async fn connections(
        &self,
        tenant_id: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let after = after.unwrap_or_default();
        refuse_nul([("after", after)])?;
        ask!(self, backend => backend.connections(tenant_id, after, limit).await)
    }

    /// Deletes a connection; says whether there was one.
    pub async fn delete_connection(
        &self,
        tenant_id: TenantId,
        name: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        refuse_nul([("name", name), ("by", by)])?;
        let (name, by) = (name.to_owned(), by.to_owned());
        self.transact(verbs::DeleteConnection { tenant_id, name, by }).await
    }

    /// The answer that was given to a request with this key.
    pub async fn answer_of(&self, tenant_id: TenantId, key: &str) -> Result<Option<Answer>, StoreError> {
        refuse_nul([("key", key)])?;
        ask!(self, backend => backend.answer_of(tenant_id, key).await)
    }

    /// Keeps the answer to a request with this key; the first one stands, and is what this gives.
    pub async fn keep_answer(
        &self,
        tenant_id: TenantId,
        key: &str,
        answer: Answer,
    ) -> Result<Answer, StoreError> {
        refuse_nul([("key", key), ("body", &answer.body)])?;
        self.transact(verbs::KeepAnswer { tenant_id, key: key.to_owned(), answer }).await
    }

    /// Forgets answers that were kept before a time, no more than so many; says how many.
    pub async fn forget_answers(&self, before_ms: i64, limit: u32) -> Result<u64, StoreError> {
        self.transact(verbs::ForgetAnswers { before_ms, limit }).await
    }
}
