//! Which text can be kept.

use trueup_events::Event;

use crate::error::StoreError;

/// Refuses text with a NUL character, by the name of its field: PostgreSQL cannot keep it, and so no store does. JSON has an escape for it.
pub(crate) fn refuse_nul<'a>(
    texts: impl IntoIterator<Item = (&'static str, &'a str)>,
) -> Result<(), StoreError> {
    match texts.into_iter().find(|(_, text)| text.contains('\0')) {
        Some((field, _)) => Err(StoreError::Nul { field }),
        None => Ok(()),
    }
}

/// What of an event is kept as text.
pub(crate) fn texts_of(event: &Event) -> impl Iterator<Item = (&'static str, &str)> {
    let traceparent = event.traceparent.as_deref().map(|text| ("traceparent", text));
    [("type", event.name.as_str()), ("source", event.source.as_str())].into_iter().chain(traceparent)
}
