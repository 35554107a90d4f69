//! Who is told how a run ended.

use crate::cursor::At;
use crate::shape::{Kind, Shape, TEXTS, optional, required};
use crate::word::words;

words! {
    /// How a run ended.
    pub Ending {
        /// Everything agreed.
        Matched = "MATCHED",
        /// Something did not.
        Unmatched = "UNMATCHED",
        /// It could not be compared.
        Error = "ERROR",
    }
}

words! {
    /// How much a message says.
    pub Detail {
        /// Numbers.
        Counts = "COUNTS",
        /// Numbers and where the breaks are.
        Summary = "SUMMARY",
        /// The breaks too.
        Full = "FULL",
    }
}

const ROWS_MAX: u64 = 10_000;

pub(crate) const NOTIFY: Shape = Shape {
    fields: &[
        required("emails", TEXTS, "Who gets a mail."),
        optional("detail", Kind::Word(Detail::NAMES), "How much it says; SUMMARY unless said."),
        optional(
            "max_rows",
            Kind::Whole { least: 1, most: ROWS_MAX },
            "How many breaks it shows, with FULL.",
        ),
        optional(
            "on",
            Kind::List { of: &Kind::Word(Ending::NAMES), least: 1 },
            "How a run has to end; UNMATCHED and ERROR unless said.",
        ),
    ],
};

/// Who is told how a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notify {
    /// Who gets a mail.
    pub emails: Vec<String>,
    /// How much it says.
    pub detail: Detail,
    /// How many breaks it shows, with [`Detail::Full`].
    pub max_rows: Option<u64>,
    /// How a run has to end.
    pub on: Vec<Ending>,
}

/// The endings that are told unless others are named.
pub(crate) const ON_DEFAULT: [Ending; 2] = [Ending::Unmatched, Ending::Error];

pub(crate) fn read(at: &At<'_>) -> Option<Notify> {
    let fields = at.fields(&NOTIFY)?;
    let emails = fields.get("emails").and_then(|at| {
        for item in at.items()?.iter().filter(|item| item.text().is_some_and(|text| !is_address(&text))) {
            item.fault("expected an address such as data@example.com", None);
        }
        at.texts()
    });
    let detail = fields.maybe("detail", At::word)?.unwrap_or(Detail::Summary);
    let max_rows = fields.maybe("max_rows", |at| at.whole(1..=ROWS_MAX));
    if let Some(at) = fields.get("max_rows").filter(|_| detail != Detail::Full) {
        at.fault_name(format!("this is for FULL, and the detail is {detail}"), None);
    }
    let on = fields.maybe("on", |at| {
        let mut endings: Vec<Ending> = at.each(At::word)?;
        if endings.is_empty() {
            at.fault("the list is empty", "leave out `notify` to tell nobody".to_owned());
        }
        endings.sort_unstable();
        endings.dedup();
        Some(endings)
    });
    Some(Notify { emails: emails?, detail, max_rows: max_rows?, on: on?.unwrap_or(ON_DEFAULT.to_vec()) })
}

/// Whether mail could be sent there; only sending tells for certain.
fn is_address(text: &str) -> bool {
    let is_plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | ';' | '<' | '>' | '"');
    let parts = text.split_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty());
    parts.is_some_and(|(_, host)| !host.contains('@')) && text.chars().all(is_plain)
}
