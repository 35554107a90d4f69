//! Connections and answers in a transaction.

use rusqlite::params;
use trueup_events::TenantId;

use super::SqliteTx;
use crate::columns::json;
use crate::connection::Connection;
use crate::error::StoreError;
use crate::record::Answer;
use crate::sqlite::{rows, sql};
use crate::tx::Kept;

impl Kept for SqliteTx<'_> {
    async fn connection(
        &mut self,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<Option<Connection>, StoreError> {
        let of = params![tenant_id.to_string(), name];
        self.ask(|connection| rows::first(connection, sql::CONNECTION, of, rows::connection))
    }

    async fn insert_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.put(sql::INSERT_CONNECTION, connection)
    }

    async fn write_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.put(sql::WRITE_CONNECTION, connection)
    }

    async fn delete_connection(&mut self, tenant_id: TenantId, name: &str) -> Result<(), StoreError> {
        let of = params![tenant_id.to_string(), name];
        self.ask(|connection| Ok(connection.prepare_cached(sql::DELETE_CONNECTION)?.execute(of).map(drop)?))
    }

    async fn keep_answer(
        &mut self,
        tenant_id: TenantId,
        key: &str,
        answer: &Answer,
        kept_at_ms: i64,
    ) -> Result<Answer, StoreError> {
        let tenant_id = tenant_id.to_string();
        self.ask(|connection| {
            let before = rows::first(connection, sql::ANSWER_OF, params![tenant_id, key], rows::answer)?;
            if let Some(answer) = before {
                return Ok(answer);
            }
            let Answer { request_hash, status, body } = answer;
            connection.prepare_cached(sql::KEEP_ANSWER)?.execute(params![
                tenant_id,
                key,
                request_hash,
                status,
                body,
                kept_at_ms
            ])?;
            Ok(answer.clone())
        })
    }

    async fn forget_answers(&mut self, before_ms: i64, limit: u32) -> Result<u64, StoreError> {
        let of = params![before_ms, limit];
        self.ask(|connection| Ok(connection.prepare_cached(sql::FORGET_ANSWERS)?.execute(of)? as u64))
    }
}

impl SqliteTx<'_> {
    fn put(&self, statement: &str, put: &Connection) -> Result<(), StoreError> {
        let Connection { tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by } = put;
        let (tenant_id, settings) = (tenant_id.to_string(), json(settings));
        let of = params![tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by];
        self.ask(|connection| Ok(connection.prepare_cached(statement)?.execute(of).map(drop)?))
    }
}
