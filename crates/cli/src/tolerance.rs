//! Reads `--tolerance`: `amount=0.01`, `rate=0.5%,base=smaller,allow=5`.

use std::collections::BTreeMap;

use trueup_compare::{Allow, Base, Decimal, Rule, RuleError, Tolerance, near_miss, parse_rule};

use crate::failure::Failure;
use crate::source_names::SourceNames;

/// How many characters of a rule an error shows.
const SHOWN: usize = 60;

/// Reads all of them, by column or measure, which some names are known to be.
pub(crate) fn parse(
    given: &[String],
    sources: &SourceNames,
    is_known: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Tolerance>, Failure> {
    let mut tolerances = BTreeMap::new();
    for text in given {
        for (name, tolerance) in parse_one(text, sources, &is_known)? {
            if tolerances.insert(name.clone(), tolerance).is_some() {
                return Err(Failure::usage(format!("`{name}` has two tolerances")));
            }
        }
    }
    Ok(tolerances)
}

/// One option: a tolerance and what belongs to it, perhaps more of them behind commas.
fn parse_one(
    text: &str,
    sources: &SourceNames,
    is_known: &impl Fn(&str) -> bool,
) -> Result<Vec<(String, Tolerance)>, Failure> {
    let mut found: Vec<(String, Tolerance)> = Vec::new();
    for piece in assignments(text) {
        let Some((name, value)) = piece.rsplit_once('=') else {
            return Err(Failure::usage_hint(
                format!("`{piece}` is no tolerance"),
                format!("name the column, and how far its values may be apart: {piece}=0.01"),
            ));
        };
        let meant =
            near_miss(name.trim(), ["base", "allow"].into_iter()).filter(|meant| *meant != name.trim());
        if let Some(meant) = meant.filter(|_| !found.is_empty() && !is_known(name)) {
            return Err(Failure::usage_hint(
                format!("`{}` is neither a column nor a part of a tolerance", name.trim()),
                format!("did you mean {meant}={}?", value.trim()),
            ));
        }
        match (name.trim(), found.last_mut()) {
            ("base", Some((_, tolerance))) => set_base(tolerance, value.trim(), sources)?,
            ("allow", Some((_, tolerance))) => tolerance.allow = parse_allow(value.trim())?,
            _ => {
                let rule = parse_rule(value.trim()).map_err(|error| refused(name, value.trim(), &error))?;
                found.push((name.to_owned(), Tolerance { rule, allow: Allow::None }));
            }
        }
    }
    Ok(found)
}

/// A rule that cannot be read, the beginning of a long one.
fn refused(name: &str, value: &str, error: &RuleError) -> Failure {
    if value.chars().count() <= SHOWN {
        return Failure::usage(format!("{name}: {error}"));
    }
    let shown: String = value.chars().take(SHOWN).collect();
    Failure::usage_hint(
        format!("{name}: the tolerance `{shown}…` is too long"),
        "a number may have 38 digits: write 0.01, 0.5%, 2d, -1d..+3d or exact",
    )
}

/// Splits at commas, except where no `=` follows before the next: those belong to a name.
pub(crate) fn assignments(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = String::new();
    for piece in text.split(',') {
        open.push_str(piece);
        if open.contains('=') {
            pieces.push(std::mem::take(&mut open));
        } else {
            open.push(',');
        }
    }
    if !open.is_empty() {
        open.pop();
        pieces.push(open);
    }
    pieces
}

fn set_base(tolerance: &mut Tolerance, value: &str, sources: &SourceNames) -> Result<(), Failure> {
    let Rule::Percentage { base, .. } = &mut tolerance.rule else {
        return Err(Failure::usage_hint(
            "base= is only for percentages",
            "write the tolerance as 0.5%, or leave out base=",
        ));
    };
    *base = match value {
        "larger" => Base::Larger,
        "smaller" => Base::Smaller,
        "mean" => Base::Mean,
        source => Base::Source(sources.find(source)?),
    };
    Ok(())
}

fn parse_allow(value: &str) -> Result<Allow, Failure> {
    let parsed = match value.strip_suffix('%').map(str::parse::<Decimal>) {
        Some(Ok(share)) if share > Decimal::from(100_u64) => {
            return Err(Failure::usage_hint(
                format!("`allow={value}` is more than all groups"),
                "write a share of at most 100%, or a number of groups",
            ));
        }
        Some(share) => share.ok().filter(|share| !share.is_negative()).map(Allow::Percent),
        None => value.parse().ok().map(Allow::Count),
    };
    parsed.ok_or_else(|| {
        Failure::usage_hint(format!("`allow={value}` is no number of groups"), "write allow=5, or allow=0.1%")
    })
}

#[cfg(test)]
mod tests {
    use trueup_compare::{Allow, Base, Rule};

    use super::{assignments, parse};
    use crate::source_names;

    fn parsed(text: &str) -> Result<Vec<(String, String)>, String> {
        let (sources, _) = source_names::parse(&["ledger=a".to_owned(), "bank=b".to_owned()]).unwrap();
        let known = |name: &str| name == "below";
        let tolerances = parse(&[text.to_owned()], &sources, known).map_err(|failure| failure.to_string())?;
        let shown = |rule: &Rule| match rule {
            Rule::Percentage { base: Base::Larger, .. } => rule.to_string(),
            Rule::Percentage { base, .. } => format!("{rule} of {base:?}"),
            _ => rule.to_string(),
        };
        Ok(tolerances
            .into_iter()
            .map(|(name, it)| {
                let allow = match it.allow {
                    Allow::None => String::new(),
                    Allow::Count(count) => format!(" allow {count}"),
                    Allow::Percent(share) => format!(" allow {share}%"),
                };
                (name, format!("{}{allow}", shown(&it.rule)))
            })
            .collect())
    }

    #[test]
    fn tolerances_and_their_options() {
        let cases: [(&str, &[(&str, &str)]); 8] = [
            ("amount=0.01", &[("amount", "0.01")]),
            ("sum(amount)=0.5%,base=smaller,allow=5", &[("sum(amount)", "0.5% of Smaller allow 5")]),
            ("rate=0.5%,base=bank,allow=0.1%", &[("rate", "0.5% of Source(1) allow 0.1%")]),
            ("a=1,b=2,allow=3", &[("a", "1"), ("b", "2 allow 3")]),
            ("base=0.01", &[("base", "0.01")]),
            ("last, first=exact", &[("last, first", "exact")]),
            ("booked=-1d..+3d", &[("booked", "-1d..+3d")]),
            ("a=b=2d", &[("a=b", "2d")]),
        ];
        for (text, expected) in cases {
            let found = parsed(text).unwrap();
            let found: Vec<(&str, &str)> =
                found.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_break_files_say_is_read_back() {
        let (sources, _) = source_names::parse(&["ledger=a".to_owned(), "bank=b".to_owned()]).unwrap();
        let names = sources.all();
        for text in [
            "exact,allow=5",
            "0.01",
            "0.5%,base=larger",
            "0.5%,base=mean,allow=0.1%",
            "0.5%,base=ledger",
            "0.5%,base=smaller,allow=3",
            "-1d..+3d,allow=2",
        ] {
            let read = |text: &str| {
                parse(&[format!("amount={text}")], &sources, |_| true).unwrap()["amount"].clone()
            };
            let tolerance = read(text);
            assert_eq!(tolerance.written(names), text);
            assert_eq!(read(&tolerance.written(names)), tolerance);
        }
    }

    #[test]
    fn what_is_no_tolerance() {
        let cases = [
            ("amount", "`amount` is no tolerance"),
            ("a=0.01,base=mean", "base= is only for percentages"),
            ("a=1%,base=ledgr", "there is no source `ledgr`"),
            ("a=1,allow=-1", "`allow=-1` is no number of groups"),
            ("a=1,a=2", "`a` has two tolerances"),
            ("a=1,allow=200%", "`allow=200%` is more than all groups"),
            ("a=1,alow=5", "`alow` is neither a column nor a part of a tolerance"),
            ("a=1%,bse=mean", "`bse` is neither a column nor a part of a tolerance"),
        ];
        for (text, message) in cases {
            assert_eq!(parsed(text).unwrap_err(), message);
        }
        assert!(parsed("a=1x").unwrap_err().starts_with("a: "));
        let long = parsed(&format!("a={}", "1".repeat(500))).unwrap_err();
        assert_eq!(long, format!("a: the tolerance `{}…` is too long", "1".repeat(60)));
        assert_eq!(parsed("a=1,below=2").unwrap().len(), 2);
    }

    #[test]
    fn commas_in_names_stay() {
        assert_eq!(assignments("a,b=1,c=2,d"), ["a,b=1", "c=2", "d"]);
    }
}
