//! Changing and deleting connections.

use serde_json::{Value, json};
use trueup_events::TenantId;

use super::now_ms;
use crate::connection::{Connection, NewConnection};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Entry, Expected};
use crate::tx::{Tx, Verb};

pub(crate) struct PutConnection {
    pub(crate) new: NewConnection,
    pub(crate) expected: Expected,
    pub(crate) by: String,
}

impl Verb for PutConnection {
    type Output = Connection;
    const DOING: &'static str = "changing a connection";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Connection, StoreError> {
        let NewConnection { tenant_id, name, kind, settings, sealed } = self.new.clone();
        if tx.tenant_by_id(tenant_id).await?.is_none() {
            return Err(StoreError::NoSuchTenant(tenant_id));
        }
        let present = tx.connection(tenant_id, &name).await?;
        let version = present.as_ref().map(|connection| connection.version);
        self.expected.check(version)?;
        if let Some(same) = present.filter(|present| self.new.is(present)) {
            return Ok(same);
        }
        let put = Connection {
            tenant_id,
            name,
            kind,
            settings,
            sealed,
            version: version.unwrap_or(0) + 1,
            changed_at_ms: now_ms(tx, context).await?,
            changed_by: self.by.clone(),
        };
        match version {
            None => tx.insert_connection(&put).await?,
            Some(_) => tx.write_connection(&put).await?,
        }
        let detail = json!({ "kind": put.kind, "version": put.version });
        let entry = entry(tenant_id, &put.name, "put_connection", &self.by, put.changed_at_ms, detail);
        tx.audit(&entry).await?;
        Ok(put)
    }
}

pub(crate) struct DeleteConnection {
    pub(crate) tenant_id: TenantId,
    pub(crate) name: String,
    pub(crate) by: String,
}

impl Verb for DeleteConnection {
    type Output = bool;
    const DOING: &'static str = "deleting a connection";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<bool, StoreError> {
        let Some(gone) = tx.connection(self.tenant_id, &self.name).await? else { return Ok(false) };
        let at_ms = now_ms(tx, context).await?;
        tx.delete_connection(self.tenant_id, &self.name).await?;
        let detail = json!({ "kind": gone.kind, "version": gone.version });
        tx.audit(&entry(self.tenant_id, &self.name, "delete_connection", &self.by, at_ms, detail)).await?;
        Ok(true)
    }
}

fn entry(
    tenant_id: TenantId,
    name: &str,
    action: &'static str,
    by: &str,
    at_ms: i64,
    detail: Value,
) -> Entry {
    Entry { at_ms, tenant_id, actor: by.to_owned(), action: action.into(), subject: name.to_owned(), detail }
}
