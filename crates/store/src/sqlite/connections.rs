//! Connections, and answers that are given again, as they are read.

use rusqlite::params;
use trueup_events::TenantId;

use super::{Sqlite, rows, sql};
use crate::connection::Connection;
use crate::error::StoreError;
use crate::record::Answer;

impl Sqlite {
    pub(crate) async fn connection(
        &self,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<Option<Connection>, StoreError> {
        let of = (tenant_id.to_string(), name.to_owned());
        let read = move |connection: &_| rows::first(connection, sql::CONNECTION, of, rows::connection);
        self.readers.read("reading a connection", read).await
    }

    pub(crate) async fn connections(
        &self,
        tenant_id: TenantId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let after = after.to_owned();
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), after, limit];
            rows::all(connection, sql::CONNECTIONS, of, rows::connection)
        };
        self.readers.read("listing connections", read).await
    }

    pub(crate) async fn answer_of(
        &self,
        tenant_id: TenantId,
        key: &str,
    ) -> Result<Option<Answer>, StoreError> {
        let of = (tenant_id.to_string(), key.to_owned());
        let read = move |connection: &_| rows::first(connection, sql::ANSWER_OF, of, rows::answer);
        self.readers.read("looking for an answer", read).await
    }
}
