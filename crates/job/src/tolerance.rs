//! How far values may be apart.

use crate::context::Context;
use crate::cursor::{At, Fields};
use crate::decimal::{Decimal, DecimalError};
use crate::duration::{DurationError, parse_span};
use crate::node::shortened;
use crate::shape::{Kind, Shape, optional};
use crate::spelling;
use crate::word::words;

words! {
    /// The kinds of rules.
    pub(crate) RuleKind {
        /// `|a − b| <= value`.
        Absolute = "ABSOLUTE",
        /// `|a − b| <= value % of base`.
        Percentage = "PERCENTAGE",
        /// Equal.
        Exact = "EXACT",
        /// Dates and times that are this far apart at most.
        Duration = "DURATION",
    }
}

words! {
    /// What is done to text before it is compared.
    pub Normaliser {
        /// Removes white space at both ends.
        Trim = "trim",
        /// Turns each run of white space into one space.
        CollapseSpace = "collapse_space",
        /// Full Unicode case folding.
        Casefold = "casefold",
        /// Unicode normalisation form C.
        Nfc = "nfc",
    }
}

pub(crate) const TOLERANCE: Shape = Shape {
    fields: &[
        optional(
            "measure",
            Kind::Text,
            "The measure or, row by row, the column; where tolerances are a list.",
        ),
        optional("type", Kind::Word(RuleKind::NAMES), "The kind of rule."),
        optional("value", Kind::Numeral, "A number, a percentage, or a duration such as `2d` or `-1d..+3d`."),
        optional("base", Kind::Text, "Of what the percentage is: `larger`, `smaller`, `mean`, or a source."),
        optional("allow", Kind::Numeral, "How many groups may be outside: `5`, or `0.1%` of them."),
        optional(
            "normalise",
            Kind::List { of: &Kind::Word(Normaliser::NAMES), least: 1 },
            "What is done to text before it is compared.",
        ),
    ],
};

/// Tolerances as a list, or by the name of what they are for.
pub(crate) const TOLERANCES: Kind = Kind::Either(&[
    Kind::List { of: &Kind::Object(&TOLERANCE), least: 0 },
    Kind::Map { of: &Kind::Either(&[Kind::Numeral, Kind::Object(&TOLERANCE)]), least: 0 },
]);

/// How far the values of a measure may be apart.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tolerance {
    /// The measure or, row by row, the column.
    pub measure: String,
    /// The rule for one group.
    pub rule: Rule,
    /// How many groups may break the rule.
    pub allow: Allow,
}

/// The rule for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Equal.
    Exact {
        /// What is done to text first.
        normalise: Vec<Normaliser>,
    },
    /// `|a − b| <= value`, which is not negative.
    Absolute(Decimal),
    /// `|a − b| <= value % of base`.
    Percentage {
        /// `0.1` is a tenth of a percent; not negative.
        value: Decimal,
        /// What it is a share of.
        base: Base,
    },
    /// `from <= other − reference <= to`, in seconds.
    Duration {
        /// Zero or negative.
        from: Decimal,
        /// Zero or positive.
        to: Decimal,
    },
}

/// What a percentage is a share of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Base {
    /// The larger magnitude of the two.
    #[default]
    Larger,
    /// The smaller magnitude of the two.
    Smaller,
    /// The mean of the two magnitudes.
    Mean,
    /// The magnitude in a source of this name.
    Source(String),
}

/// How many groups may break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allow {
    /// None.
    #[default]
    None,
    /// This many.
    Count(u64),
    /// This many in a hundred.
    Percent(Decimal),
}

/// Reads the tolerances of a stage, one for a measure at most.
pub(crate) fn read_all(at: &At<'_>, context: &Context<'_>) -> Option<Vec<Tolerance>> {
    let items = at.named_or_listed()?;
    let count = items.len();
    let mut tolerances: Vec<Tolerance> = Vec::new();
    for (name, item) in items {
        let Some(tolerance) = read(name, &item, context) else { continue };
        if tolerances.iter().any(|known| known.measure == tolerance.measure) {
            item.fault(format!("{:?} has two tolerances", tolerance.measure), None);
        }
        if matches!(tolerance.rule, Rule::Duration { .. }) && context.is_number(&tolerance.measure) {
            item.fault("DURATION is for dates and times, and this measure is a number", None);
        }
        tolerances.push(tolerance);
    }
    // Their order says nothing, so they have one of their own.
    tolerances.sort_by(|a, b| a.measure.cmp(&b.measure));
    (tolerances.len() == count).then_some(tolerances)
}

fn read(name: Option<String>, at: &At<'_>, context: &Context<'_>) -> Option<Tolerance> {
    if let (Some(measure), false) = (&name, at.is_map()) {
        let is_known = check_measure(measure, context, |message, hint| at.fault_name(message, hint));
        let rule = at.parsed(short_rule);
        return is_known.then_some(Tolerance { measure: measure.clone(), rule: rule?, allow: Allow::None });
    }
    let fields = at.fields(&TOLERANCE)?;
    let measure = at.name_of(name, "measure").filter(|measure| match fields.get("measure") {
        Some(at) => check_measure(measure, context, |message, hint| at.fault(message, hint)),
        None => check_measure(measure, context, |message, hint| at.fault_name(message, hint)),
    });
    let rule = read_rule(&fields, context);
    let allow = fields.maybe("allow", |at| at.parsed(parse_allow));
    Some(Tolerance { measure: measure?, rule: rule?, allow: allow?.unwrap_or_default() })
}

/// Notes a name that is no measure or, row by row, is part of the key.
fn check_measure(name: &str, context: &Context<'_>, note: impl Fn(String, Option<String>)) -> bool {
    let is_measure = context.measures.iter().any(|known| known == name);
    let is_key = context.dimensions.iter().any(|known| known == name);
    if !context.measures.is_empty() && !is_measure {
        let hint = spelling::hint(name, context.measures.iter().map(String::as_str));
        note(format!("there is no measure {}", shortened(name)), hint);
        return false;
    }
    if context.measures.is_empty() && is_key {
        let hint = "keys belong together when they are equal".to_owned();
        note(format!("{name:?} is part of the key, so it has no tolerance"), Some(hint));
        return false;
    }
    true
}

fn read_rule(fields: &Fields<'_>, context: &Context<'_>) -> Option<Rule> {
    let Some(at) = fields.get("type") else {
        fields.at.fault_name("`type` is missing", Some(format!("expected {}", RuleKind::NAMES.join(", "))));
        return None;
    };
    let kind: RuleKind = at.word()?;
    let only_for = |field: &'static str, wanted: RuleKind| {
        if let Some(at) = fields.get(field).filter(|_| kind != wanted) {
            at.fault_name(format!("this is for {wanted}, and the tolerance is {kind}"), None);
        }
    };
    only_for("base", RuleKind::Percentage);
    only_for("normalise", RuleKind::Exact);
    let value = fields.get("value");
    match (&value, kind) {
        (Some(at), RuleKind::Exact) => at.fault_name("EXACT has no value: it is equal or not", None),
        (None, RuleKind::Absolute | RuleKind::Percentage | RuleKind::Duration) => {
            fields.at.fault_name(format!("`value` is missing: how far {kind} lets values be apart"), None);
        }
        _ => {}
    }
    match kind {
        RuleKind::Exact => {
            let normalise = fields.maybe("normalise", |at| at.each(At::word));
            let mut normalise = normalise?.unwrap_or_default();
            // They are always applied in one order, so that is all there is to say.
            normalise.sort_unstable();
            normalise.dedup();
            Some(Rule::Exact { normalise })
        }
        RuleKind::Absolute => Some(Rule::Absolute(value?.parsed(parse_amount)?)),
        RuleKind::Percentage => {
            let base = fields.maybe("base", |at| read_base(at, context));
            let value = value?.parsed(|text| parse_amount(text.strip_suffix('%').unwrap_or(text)));
            Some(Rule::Percentage { value: value?, base: base?.unwrap_or_default() })
        }
        RuleKind::Duration => {
            let (from, to) = value?.parsed(parse_span)?;
            Some(Rule::Duration { from, to })
        }
    }
}

fn read_base(at: &At<'_>, context: &Context<'_>) -> Option<Base> {
    let text = at.text()?;
    Some(match text.as_str() {
        "larger" => Base::Larger,
        "smaller" => Base::Smaller,
        "mean" => Base::Mean,
        name if context.sources.iter().any(|source| source == name) => Base::Source(text),
        name => {
            let known = ["larger", "smaller", "mean"].into_iter();
            at.unknown("base", name, known.chain(context.sources.iter().map(String::as_str)));
            return None;
        }
    })
}

fn parse_amount(text: &str) -> Result<Decimal, String> {
    let amount: Decimal = text.trim().parse().map_err(|error: DecimalError| error.to_string())?;
    if amount.is_negative() { Err("a tolerance cannot be negative".to_owned()) } else { Ok(amount) }
}

fn parse_allow(text: &str) -> Result<Allow, String> {
    let expected = || "expected a number of groups such as 5, or a share such as 0.1%".to_owned();
    match text.trim().strip_suffix('%') {
        Some(share) => parse_amount(share).map(Allow::Percent).map_err(|_| expected()),
        None => text.trim().parse().map(Allow::Count).map_err(|_| expected()),
    }
    .map(|allow| if allow == Allow::Count(0) { Allow::None } else { allow })
}

/// Reads a rule as `trueup diff` takes it: `0.01`, `0.5%`, `2d`, `-1d..+3d` or `exact`.
fn short_rule(text: &str) -> Result<Rule, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("exact") {
        return Ok(Rule::Exact { normalise: Vec::new() });
    }
    if let Some(share) = text.strip_suffix('%') {
        return parse_amount(share).map(|value| Rule::Percentage { value, base: Base::default() });
    }
    if text.contains("..") || text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return match parse_span(text) {
            Ok((from, to)) => Ok(Rule::Duration { from, to }),
            Err(DurationError::NotDuration) => Err("expected 0.01, 0.5%, 2d, -1d..+3d or exact".to_owned()),
            Err(error) => Err(error.to_string()),
        };
    }
    parse_amount(text).map(Rule::Absolute)
}
