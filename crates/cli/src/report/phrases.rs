//! The words and numbers that all reports share.

use trueup_compare::{
    Break, Cell, ColumnReport, Comparison, Concentration, KeyReport, MeasureReport, Outside, Role, RuleType,
    Verdict,
};

use crate::visible::visible;

/// How many columns, findings or concentrations a report for people lists before "and N more".
pub(super) const MANY: usize = 20;

/// How many columns of one break a report for people lists before "and N more".
pub(super) const MANY_OF_ONE: usize = 10;

/// The verdict in one line.
pub(crate) fn verdict_line(comparison: &Comparison) -> String {
    format!("{}: {}", verdict(comparison), summary(comparison))
}

/// `MATCHED` or `UNMATCHED`.
pub(super) fn verdict(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Verdict::Matched => "MATCHED",
        Verdict::Unmatched => "UNMATCHED",
    }
}

/// The counts in one sentence.
pub(super) fn summary(comparison: &Comparison) -> String {
    let counts = Counts {
        compared: comparison.rows_compared,
        joined: comparison.matched_groups,
        matched: comparison.rows_matched,
        findings: comparison.findings.len(),
    };
    counts.sentence()
}

/// How the groups of a comparison fared, and what else is wrong.
pub(crate) struct Counts {
    /// Distinct groups.
    pub(crate) compared: u64,
    /// Those present everywhere.
    pub(crate) joined: u64,
    /// Those of them within every tolerance.
    pub(crate) matched: u64,
    /// What is in none of these.
    pub(crate) findings: usize,
}

impl Counts {
    /// `4 of 6 groups match, 1 outside a tolerance, 1 absent somewhere`.
    pub(crate) fn sentence(&self) -> String {
        let verb = if self.compared == 1 { "matches" } else { "match" };
        let mut parts =
            vec![format!("{} of {} {verb}", count(self.matched), counted(self.compared, "group"))];
        let outside = self.joined.saturating_sub(self.matched);
        if outside > 0 {
            parts.push(format!("{} outside a tolerance", count(outside)));
        }
        let absent = self.compared.saturating_sub(self.joined);
        if absent > 0 {
            parts.push(format!("{} absent somewhere", count(absent)));
        }
        if self.findings > 0 {
            parts.push(counted(self.findings as u64, "finding"));
        }
        parts.join(", ")
    }
}

/// Groups present everywhere with a measure outside.
pub(super) fn outside_groups(comparison: &Comparison) -> u64 {
    comparison.matched_groups.saturating_sub(comparison.rows_matched)
}

/// Groups that some source lacks.
pub(super) fn absent_groups(comparison: &Comparison) -> u64 {
    comparison.rows_compared.saturating_sub(comparison.matched_groups)
}

/// A count with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 group`, `2 groups`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A share in percent with one decimal, or more where that would be nothing.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0.0%".to_owned();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    match percent {
        tiny if part > 0 && tiny < 0.001 => "<0.001%".to_owned(),
        small if part > 0 && small < 0.1 => format!("{small:.3}%"),
        other => format!("{other:.1}%"),
    }
}

/// The rule of a measure: `EXACT`, `ABSOLUTE 0.01`, `PERCENTAGE 0.5%`.
pub(super) fn rule(measure: &MeasureReport) -> String {
    let rule_type = measure.tolerance_type;
    match &measure.tolerance_value {
        None => rule_type.name().to_owned(),
        Some(value) if rule_type == RuleType::Percentage && !value.ends_with('%') => {
            format!("{} {value}%", rule_type.name())
        }
        Some(value) => format!("{} {value}", rule_type.name()),
    }
}

/// Whether a key column is not of the same kind in every source.
pub(super) fn keys_drift(comparison: &Comparison) -> bool {
    comparison.key_report.iter().any(|report| !report.type_drift.is_empty())
}

/// What the key report says of each source, in this order: [`key_figures`].
pub(super) const KEY_HEADINGS: [&str; 4] =
    ["rows", "distinct keys", "repeated keys", "rows with NULL in the key"];

/// The counts of the key report.
pub(super) fn key_figures(report: &KeyReport) -> [String; 4] {
    [report.rows, report.distinct_keys, report.duplicated_keys, report.null_keys].map(count)
}

/// What the key columns that drift are in one source: `account is text, day is date`.
pub(super) fn type_drift(report: &KeyReport) -> String {
    let kinds = report.type_drift.iter().map(|drift| format!("{} is {}", drift.column, drift.kind.name()));
    kinds.collect::<Vec<_>>().join(", ")
}

/// Notes on the comparison, then those on columns that were used, as `column: note`.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let used = |column: &&ColumnReport| matches!(column.role, Role::Key | Role::Compared);
    let of_columns = (comparison.columns.iter().filter(used))
        .flat_map(|column| column.notes.iter().map(move |note| format!("{}: {note}", column.name)));
    comparison.notes.iter().cloned().chain(of_columns).collect()
}

/// The compared columns by what they were compared as, the first [`MANY`] of them, and how many more there are.
pub(super) fn compared_as(comparison: &Comparison) -> (Vec<(&'static str, Vec<&str>)>, Option<String>) {
    let compared: Vec<(&'static str, &str)> = (comparison.columns.iter())
        .filter(|column| column.role == Role::Compared)
        .filter_map(|column| Some((column.compared_as?.name(), column.name.as_str())))
        .collect();
    let mut kinds: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for &(kind, name) in compared.iter().take(MANY) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(name),
            None => kinds.push((kind, vec![name])),
        }
    }
    (kinds, more(compared.len(), MANY, "column"))
}

/// A concentration in words.
pub(super) fn concentration(found: &Concentration) -> String {
    format!(
        "{} of {} in a break ({}; {} overall)",
        count(found.broken_rows),
        counted(found.rows, "row"),
        percent(found.broken_rows, found.rows),
        percent(found.all_broken_rows, found.all_rows)
    )
}

/// A value for people: quotes are around a text that would be taken for NULL, or not be seen.
pub(super) fn or_null(value: Option<&str>) -> &str {
    match value {
        None => "NULL",
        Some("NULL") => "'NULL'",
        Some("") => "''",
        Some(text) => text,
    }
}

/// The key of a break, as `a, b`, and which break of that key it is after the first.
pub(super) fn key(found: &Break) -> String {
    let parts: Vec<String> = found.key.iter().map(|part| visible(or_null(part.as_deref()))).collect();
    let occurrence = if found.occurrence > 1 {
        format!(" (occurrence {})", count(found.occurrence))
    } else {
        String::new()
    };
    parts.join(", ") + &occurrence
}

/// Whether breaks of one key have to be told apart.
pub(super) fn keys_recur(comparison: &Comparison) -> bool {
    comparison.breaks.iter().any(|found| found.occurrence > 1)
}

/// What is outside in a break: the measure, its values, and why.
pub(super) type OutsideCell<'a> = (&'a MeasureReport, &'a Cell, &'a Outside);

/// The first measures of a break that are outside, and how many more there are, in words.
pub(super) fn outside_cells<'a>(
    comparison: &'a Comparison,
    found: &'a Break,
) -> (Vec<OutsideCell<'a>>, Option<String>) {
    let mut cells: Vec<OutsideCell<'a>> = (comparison.measures.iter().zip(&found.cells))
        .filter_map(|(measure, cell)| Some((measure, cell, cell.outside.as_ref()?)))
        .collect();
    let more = more(cells.len(), MANY_OF_ONE, "column");
    cells.truncate(MANY_OF_ONE);
    (cells, more)
}

/// What each source has of a group that some lack; `absent` is for those that lack its key.
pub(super) fn presence<'a>(found: &Break, absent: &'a str) -> impl Iterator<Item = &'a str> {
    (found.present.iter().zip(&found.has_key)).map(move |flags| match flags {
        (true, _) => "present",
        (false, true) => "no more",
        (false, false) => absent,
    })
}

/// `and 3 more columns`, when there are more than are shown.
pub(super) fn more(all: usize, shown: usize, noun: &str) -> Option<String> {
    let rest = all.checked_sub(shown).filter(|&rest| rest > 0)?;
    Some(format!("and {} more {noun}{}", count(rest as u64), if rest == 1 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use super::{count, more, or_null, percent};

    #[test]
    fn no_text_looks_like_null_or_nothing() {
        let cases = [(None, "NULL"), (Some("NULL"), "'NULL'"), (Some(""), "''"), (Some("null"), "null")];
        for (value, shown) in cases {
            assert_eq!(or_null(value), shown);
        }
    }

    #[test]
    fn counts_and_shares() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(count(number), text);
        }
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(percent(0, 0), "0.0%");
        assert_eq!(percent(1, 3000), "0.033%");
        assert_eq!(percent(1, 1_000_000_000), "<0.001%");
        assert_eq!(more(21, 20, "column").as_deref(), Some("and 1 more column"));
        assert_eq!(more(20, 20, "column"), None);
    }
}
