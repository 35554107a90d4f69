//! Reports an execution through the crate `noetl-events`: each event is a line, as its sinks would send it.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_events::{EventEmitter, EventSink, ExecutorEvent};
use serde_json::json;

struct Lines;

#[async_trait]
impl EventSink for Lines {
    async fn emit(&self, event: ExecutorEvent) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string(&event)?);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let emitter = EventEmitter::new(478_775_660_589_088_776, Arc::new(Lines));
    emitter.emit("playbook.started", "flows/load", "STARTED", json!({})).await?;
    emitter.emit("step.enter", "fetch", "STARTED", json!({ "attempt": 1 })).await?;
    emitter.emit("command.completed", "fetch", "COMPLETED", json!({ "items": 42 })).await?;
    let whole = json!({
        "execution_id": 478_775_660_589_088_776_i64, "event_type": "playbook.completed", "step": "flows/load",
        "status": "COMPLETED", "created_at": "2026-05-31T03:14:15Z", "context": { "items": 42 },
        "event_id": 478_775_660_589_088_777_i64, "worker_id": "worker-7", "meta": { "attempts": 2 },
    });
    emitter.sink.emit(serde_json::from_value(whole)?).await
}
