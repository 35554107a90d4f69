//! Connections: how the jobs of a tenant reach their sources.

use std::fmt;

use serde_json::Value;
use trueup_events::TenantId;

/// How something is reached that jobs read.
#[derive(Clone, PartialEq)]
pub struct Connection {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Its name, unique within a tenant.
    pub name: String,
    /// What is reached.
    pub kind: String,
    /// What is no secret.
    pub settings: Value,
    /// What is one, encrypted by somebody else; the store cannot read it.
    pub sealed: Vec<u8>,
    /// Counts how often it was changed, from 1.
    pub version: u32,
    /// When it was last changed.
    pub changed_at_ms: i64,
    /// Who changed it.
    pub changed_by: String,
}

/// What a connection is to say.
#[derive(Clone, PartialEq)]
pub struct NewConnection {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Its name, unique within a tenant.
    pub name: String,
    /// What is reached.
    pub kind: String,
    /// What is no secret.
    pub settings: Value,
    /// What is one, encrypted.
    pub sealed: Vec<u8>,
}

impl NewConnection {
    /// Whether a connection says just that.
    pub(crate) fn is(&self, connection: &Connection) -> bool {
        (&self.kind, &self.settings, &self.sealed)
            == (&connection.kind, &connection.settings, &connection.sealed)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant_id, name, kind, version, .. } = self;
        f.debug_struct("Connection")
            .field("tenant_id", tenant_id)
            .field("name", name)
            .field("kind", kind)
            .field("version", version)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for NewConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant_id, name, kind, .. } = self;
        f.debug_struct("NewConnection")
            .field("tenant_id", tenant_id)
            .field("name", name)
            .field("kind", kind)
            .finish_non_exhaustive()
    }
}
