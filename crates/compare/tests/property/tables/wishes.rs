//! What a random comparison is asked to do.

use trueup_compare::{
    Aggregate, Allow, Base, Decimal, Duplicates, Measure, Normaliser, Rule, Spec, Tolerance,
};

use super::cell::Kind;
use super::random::Random;

const KINDS: [Kind; 15] = [
    Kind::Integer,
    Kind::Integer,
    Kind::Decimal,
    Kind::Decimal,
    Kind::Decimal,
    Kind::Special,
    Kind::Wild,
    Kind::Big,
    Kind::Boolean,
    Kind::Text,
    Kind::Text,
    Kind::Date,
    Kind::Timestamp,
    Kind::Time,
    Kind::Binary,
];

pub(super) fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|_| panic!("{text} is a decimal"))
}

/// Names and kinds of the columns; in a case where some source declares a zone, times are instants.
pub(super) fn columns(zoned: bool, random: &mut Random) -> (Vec<String>, Vec<Kind>) {
    let count = if random.percent(8) { 30 } else { 2 + random.below(6) };
    let kind = |random: &mut Random| match random.pick(&KINDS) {
        Kind::Timestamp if zoned || random.percent(30) => Kind::Instant,
        Kind::Boolean if random.percent(50) => Kind::Flag,
        kind => kind,
    };
    let kinds: Vec<Kind> = (0..count).map(|_| kind(random)).collect();
    ((0..count).map(|index| format!("c{index}")).collect(), kinds)
}

pub(super) fn spec(names: &[String], kinds: &[Kind], sources: usize, random: &mut Random) -> Spec {
    let keys = random.pick(&[1, 1, 1, 2, 2, 3]).min(names.len() - 1);
    let mut spec =
        Spec { key: names[..keys].to_vec(), limit: 10, verify: random.percent(30), ..Spec::default() };
    if random.percent(50) {
        spec.key.reverse();
    }
    spec.booleans = names
        .iter()
        .zip(kinds)
        .filter(|(_, kind)| **kind == Kind::Flag)
        .map(|(name, _)| name.clone())
        .collect();
    spec.reference = random.percent(30).then(|| random.below(sources));
    for (name, _) in names.iter().zip(kinds).filter(|(_, kind)| **kind == Kind::Text) {
        if random.percent(50) {
            let all = [Normaliser::Trim, Normaliser::CollapseSpace, Normaliser::Casefold, Normaliser::Nfc];
            spec.normalisers.insert(name.clone(), all.into_iter().filter(|_| random.percent(50)).collect());
        }
    }
    if random.percent(35) {
        spec.measures = measures(&names[keys..], &kinds[keys..], random);
        spec.duplicates = random.pick(&[None, None, Some(Duplicates::Aggregate), Some(Duplicates::Error)]);
    } else {
        spec.duplicates = random.pick(&[None, None, Some(Duplicates::Multiset), Some(Duplicates::Error)]);
        let one = random.pick(&names[keys..]);
        match random.below(10) {
            0 => spec.ignore.push(one),
            1 => spec.compare.push(one),
            _ => {}
        }
    }
    let by_row = spec.measures.is_empty();
    let compared: Vec<(String, Kind)> = if by_row {
        names.iter().cloned().zip(kinds.iter().copied()).skip(keys).collect()
    } else {
        let kind_of = |measure: &Measure| match measure.aggregate {
            Aggregate::Count | Aggregate::CountDistinct => Kind::Integer,
            _ => names
                .iter()
                .position(|name| *name == measure.column)
                .map_or(Kind::Integer, |index| kinds[index]),
        };
        spec.measures.iter().map(|measure| (measure.name.clone(), kind_of(measure))).collect()
    };
    for (name, kind) in compared {
        if !spec.ignore.contains(&name)
            && (spec.compare.is_empty() || spec.compare.contains(&name))
            && random.percent(60)
        {
            let rule = rule(kind, sources, by_row, random);
            let allow = random.pick(&[
                Allow::None,
                Allow::None,
                Allow::Count(2),
                Allow::Percent(decimal("10")),
                Allow::Percent(decimal("33.3")),
            ]);
            spec.tolerances.insert(name, Tolerance { rule, allow });
        }
    }
    spec
}

fn measures(names: &[String], kinds: &[Kind], random: &mut Random) -> Vec<Measure> {
    let mut measures: Vec<Measure> = Vec::new();
    for _ in 0..=random.below(5) {
        let index = random.below(names.len());
        let aggregates: &[(Aggregate, &str)] = match kinds[index] {
            Kind::Integer | Kind::Decimal | Kind::Special | Kind::Big => &[
                (Aggregate::Sum, "sum"),
                (Aggregate::Avg, "avg"),
                (Aggregate::Min, "min"),
                (Aggregate::Max, "max"),
                (Aggregate::CountDistinct, "count_distinct"),
            ],
            Kind::Text | Kind::Binary => {
                &[(Aggregate::Count, "count"), (Aggregate::CountDistinct, "count_distinct")]
            }
            _ => &[
                (Aggregate::Min, "min"),
                (Aggregate::Max, "max"),
                (Aggregate::Count, "count"),
                (Aggregate::CountDistinct, "count_distinct"),
            ],
        };
        let (aggregate, called) = random.pick(aggregates);
        let column = names[index].clone();
        let measure = if random.percent(10) {
            Measure { name: "count(*)".into(), aggregate: Aggregate::Count, column: "*".into() }
        } else {
            Measure { name: format!("{called}({column})"), aggregate, column }
        };
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    measures
}

fn rule(kind: Kind, sources: usize, by_row: bool, random: &mut Random) -> Rule {
    if kind.is_number() && random.percent(50) {
        return Rule::Absolute(decimal(random.pick(&["0", "0.01", "0.0001", "1", "0.5", "25"])));
    }
    if kind.is_number() {
        let named = Base::Source(random.below(sources));
        // Rows of three sources are paired two at a time, where the third cannot be the base.
        let base = random.pick(&[
            Base::Larger,
            Base::Smaller,
            Base::Mean,
            if by_row && sources > 2 { Base::Larger } else { named },
        ]);
        return Rule::Percentage { value: decimal(random.pick(&["0", "0.1", "1", "5", "50"])), base };
    }
    if kind.is_time() && random.percent(80) {
        let (from, to) = random.pick(&[
            ("-86400", "86400"),
            ("-5", "5"),
            ("-86400", "259200"),
            ("0", "172800"),
            ("-0.001", "0.001"),
            ("-3600", "0"),
        ]);
        return Rule::Duration { from: decimal(from), to: decimal(to) };
    }
    Rule::Exact
}
