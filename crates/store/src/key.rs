//! Keys, by which requests say who they are, and the tenants whose they are.

use std::fmt;

use trueup_events::TenantId;
use uuid::Uuid;

/// What the holder of a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyRole {
    /// Look.
    Viewer,
    /// Look, start, cancel and retry.
    Operator,
    /// Everything that can be done within a tenant.
    Admin,
    /// Tell events.
    Ingest,
    /// Carry out runs.
    Worker,
}

impl KeyRole {
    /// Every role.
    pub const ALL: [Self; 5] = [Self::Viewer, Self::Operator, Self::Admin, Self::Ingest, Self::Worker];

    /// The one spelling of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
            Self::Ingest => "ingest",
            Self::Worker => "worker",
        }
    }

    /// The role of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// A key, without what would prove that somebody has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its id, which is no secret.
    pub id: Uuid,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// What people call it.
    pub name: String,
    /// What its holder may do.
    pub role: KeyRole,
    /// When it was made.
    pub created_at_ms: i64,
    /// Who made it.
    pub created_by: String,
    /// From when on it is good for nothing.
    pub expires_at_ms: Option<i64>,
    /// When somebody took it back.
    pub revoked_at_ms: Option<i64>,
}

/// A key that is to be made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Its id, made by who asks: to ask again after an answer was lost makes no second key.
    pub id: Uuid,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// What people call it.
    pub name: String,
    /// What its holder may do.
    pub role: KeyRole,
    /// The SHA-256 of its whole text, which nobody keeps.
    pub hash: [u8; 32],
    /// From when on it is good for nothing.
    pub expires_at_ms: Option<i64>,
}

impl NewKey {
    /// Whether a key that is there is what this one was to become.
    pub(crate) fn is(&self, key: &Key, hash: &[u8; 32]) -> bool {
        let wanted = (self.id, self.tenant_id, &self.name, self.role, self.expires_at_ms, &self.hash);
        wanted == (key.id, key.tenant_id, &key.name, key.role, key.expires_at_ms, hash)
    }
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, tenant_id, name, role, .. } = self;
        f.debug_struct("NewKey")
            .field("id", id)
            .field("tenant_id", tenant_id)
            .field("name", name)
            .field("role", role)
            .finish_non_exhaustive()
    }
}

/// Whose everything else is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name, which no other has.
    pub name: String,
    /// When it was made; 0 if that was before a store noted it.
    pub made_at_ms: i64,
}
