//! Kills the real process at every boundary of every verb, starts it again, and looks for what was lost, doubled or left hanging.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// Makes a test of each case for each database.
macro_rules! on_both {
    ($($case:ident,)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(crate::scene::Kind::Sqlite).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(crate::scene::Kind::Postgres).await;
            })*
        }
    };
}

mod chaos;
mod commands;
mod engine;
mod process;
mod scene;
mod servers;
mod slots;
mod storms;
mod verbs;
