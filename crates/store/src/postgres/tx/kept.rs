//! Connections and answers in a transaction.

use tokio_postgres::types::ToSql;
use trueup_events::TenantId;

use super::PgTx;
use crate::connection::Connection;
use crate::error::StoreError;
use crate::postgres::rows::{self, Json};
use crate::record::Answer;
use crate::tx::Kept;

impl Kept for PgTx<'_> {
    async fn connection(
        &mut self,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<Option<Connection>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.connection_for_update, &[&tenant_id.to_string(), &name]).await?;
        found.first().map(rows::connection).transpose()
    }

    async fn insert_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.put(&sql.insert_connection, connection).await
    }

    async fn write_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.put(&sql.write_connection, connection).await
    }

    async fn delete_connection(&mut self, tenant_id: TenantId, name: &str) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.query(&sql.delete_connection, &[&tenant_id.to_string(), &name]).await.map(drop)
    }

    async fn keep_answer(
        &mut self,
        tenant_id: TenantId,
        key: &str,
        answer: &Answer,
        kept_at_ms: i64,
    ) -> Result<Answer, StoreError> {
        let sql = &self.connection.sql;
        let Answer { request_hash, status, body } = answer;
        let (tenant_id, hash, status) = (tenant_id.to_string(), &request_hash[..], i64::from(*status));
        let keep: &[&(dyn ToSql + Sync)] = &[&tenant_id, &key, &hash, &status, body, &kept_at_ms];
        self.query(&sql.keep_answer, keep).await?;
        // A statement of its own, so that it sees what another has kept meanwhile.
        let found = self.query(&sql.answer_of, &[&tenant_id, &key]).await?;
        found.first().map_or_else(|| Ok(answer.clone()), rows::answer)
    }

    async fn forget_answers(&mut self, before_ms: i64, limit: u32) -> Result<u64, StoreError> {
        let sql = &self.connection.sql;
        let gone = self.query(&sql.forget_answers, &[&before_ms, &i64::from(limit)]).await?;
        Ok(gone.len() as u64)
    }
}

impl PgTx<'_> {
    async fn put(
        &mut self,
        statement: &tokio_postgres::Statement,
        connection: &Connection,
    ) -> Result<(), StoreError> {
        let Connection { tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by } =
            connection;
        let (tenant_id, settings) = (tenant_id.to_string(), Json(settings.to_string()));
        let version = i64::from(*version);
        let put: &[&(dyn ToSql + Sync)] =
            &[&tenant_id, name, kind, &settings, sealed, &version, changed_at_ms, changed_by];
        self.query(statement, put).await.map(drop)
    }
}
