//! A server on a store of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use trueup_control::Stopping;
use trueup_events::TenantId;
use trueup_server::{App, Limits, Secret};
use trueup_store::{Key, KeyRole, NewKey, Options, Place, Role, Store};
use trueup_testkit::Http;
use uuid::Uuid;

/// A server that answers until it is dropped.
pub(crate) struct Served {
    pub(crate) store: Arc<Store>,
    pub(crate) tenant_id: TenantId,
    pub(crate) runtime: Runtime,
    pub(crate) address: SocketAddr,
    _folder: TempDir,
}

impl Served {
    /// Serves a new SQLite store.
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    /// Serves it with limits of its own.
    pub(crate) fn with(limits: Limits) -> Self {
        Self::start(limits, None)
    }

    /// Serves it, to those without a key as to those of a role.
    pub(crate) fn open_to(role: KeyRole) -> Self {
        Self::start(Limits::default(), Some(role))
    }

    fn start(limits: Limits, anonymous: Option<KeyRole>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let (store, tenant_id, address) = runtime.block_on(async {
            let place = Place::Sqlite(folder.path().join("trueup.db"));
            let store = Arc::new(Store::open(&place, Role::Server, Options::default()).await.unwrap());
            let tenant_id = store.tenant("default").await.unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let app = App::new(Arc::clone(&store), folder.path().join("runs"), limits, anonymous);
            trueup_server::listen(listener, Arc::new(app), &Stopping::default());
            (store, tenant_id, address)
        });
        Self { store, tenant_id, runtime, address, _folder: folder }
    }

    /// Who shows no key.
    pub(crate) fn nobody(&self) -> Http {
        Http::new(self.address)
    }

    /// Who has a new key of a role.
    pub(crate) fn as_role(&self, role: KeyRole) -> Http {
        self.as_role_of(self.tenant_id, role, None).0
    }

    /// Who has a new key of a tenant.
    pub(crate) fn as_role_of(
        &self,
        tenant_id: TenantId,
        role: KeyRole,
        expires_at_ms: Option<i64>,
    ) -> (Http, Key) {
        let (secret, key) = self.make_key(tenant_id, role, expires_at_ms);
        (self.nobody().key(secret.reveal()), key)
    }

    /// A new key of a role, for clients of their own.
    pub(crate) fn secret(&self, role: KeyRole) -> String {
        self.make_key(self.tenant_id, role, None).0.reveal().to_owned()
    }

    fn make_key(&self, tenant_id: TenantId, role: KeyRole, expires_at_ms: Option<i64>) -> (Secret, Key) {
        let secret = Secret::random();
        let (id, name) = (Uuid::now_v7(), format!("{}'s", role.name()));
        let new = NewKey { id, tenant_id, name, role, hash: secret.hash(), expires_at_ms };
        let key = self.runtime.block_on(self.store.make_key(new, "ann")).unwrap();
        (secret, key)
    }
}
