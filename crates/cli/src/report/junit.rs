//! The report for a build server: a test case per measure, one for absent groups, one per finding; sources are properties.

use trueup_compare::{Break, Comparison, MeasureReport};

use super::figures::{self, Figures};
use super::{Report, phrases};
use crate::visible::{is_unprintable, visible};

/// Writes the XML that JUnit's own reports have made common.
pub(super) fn render(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let mut cases = vec![presence_case(comparison)];
    let figures = Figures::new(comparison);
    cases.extend(
        comparison.measures.iter().enumerate().map(|(index, it)| measure_case(report, &figures, index, it)),
    );
    cases.extend(comparison.findings.iter().map(|finding| Case {
        name: format!("column {}", finding.column),
        failure: Some((finding.problem.clone(), String::new())),
        figures: String::new(),
    }));
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let class = attribute(&comparison.sources.join(" against "));
    let body: String = properties(report) + &cases.iter().map(|case| case.xml(&class)).collect::<String>();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", cases.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"trueup diff\" {counts}>\n  \
         <testsuite name=\"{class}\" {counts}>\n{body}  </testsuite>\n</testsuites>\n"
    )
}

struct Case {
    name: String,
    /// The message and the details.
    failure: Option<(String, String)>,
    /// What was counted and summed up, one figure a line.
    figures: String,
}

impl Case {
    fn xml(&self, class: &str) -> String {
        let open = format!("    <testcase classname=\"{class}\" name=\"{}\"", attribute(&self.name));
        let failure = self.failure.as_ref().map_or_else(String::new, |(message, details)| {
            format!("      <failure message=\"{}\">{}</failure>\n", attribute(message), escaped(details))
        });
        let figures = match &*self.figures {
            "" => String::new(),
            figures => format!("      <system-out>{}</system-out>\n", escaped(figures)),
        };
        if failure.is_empty() && figures.is_empty() {
            return format!("{open}/>\n");
        }
        format!("{open}>\n{failure}{figures}    </testcase>\n")
    }
}

/// Where each source came from, how it was read, and what its keys look like.
fn properties(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let mut properties = Vec::new();
    for (source, (name, input)) in comparison.sources.iter().zip(report.inputs).enumerate() {
        let keys = &comparison.key_report[source];
        let figures = phrases::KEY_HEADINGS.iter().zip(phrases::key_figures(keys));
        let drift = (!keys.type_drift.is_empty()).then(|| phrases::type_drift(keys));
        properties.extend([
            (format!("{name}: from"), input.path.clone()),
            (format!("{name}: read as"), input.read_as.clone()),
        ]);
        properties.extend(figures.map(|(heading, figure)| (format!("{name}: {heading}"), figure)));
        properties.extend(drift.map(|drift| (format!("{name}: type drift"), drift)));
    }
    let listed: String = (properties.iter())
        .map(|(name, value)| {
            format!("      <property name=\"{}\" value=\"{}\"/>\n", attribute(name), attribute(value))
        })
        .collect();
    format!("    <properties>\n{listed}    </properties>\n")
}

fn presence_case(comparison: &Comparison) -> Case {
    let absent = phrases::absent_groups(comparison);
    let failure = (absent > 0).then(|| {
        let message = format!(
            "{} of {} absent somewhere",
            phrases::count(absent),
            phrases::counted(comparison.rows_compared, "group")
        );
        let details = (comparison.breaks.iter().filter(|found| !found.is_outside()))
            .map(|found| format!("{}: {}\n", phrases::key(found), found.absence(&comparison.sources)));
        (message, details.collect())
    });
    Case { name: "groups are in every source".to_owned(), failure, figures: String::new() }
}

fn measure_case(report: &Report<'_>, figures: &Figures<'_>, index: usize, measure: &MeasureReport) -> Case {
    let comparison = report.comparison;
    let failure = (!measure.passed).then(|| {
        let message = format!(
            "{} of {} outside {}",
            phrases::count(measure.outside),
            phrases::counted(measure.outside + measure.within, "group"),
            report.rule(measure)
        );
        let details = comparison.breaks.iter().filter_map(|found| details_line(comparison, found, index));
        (message, details.collect())
    });
    let counts = figures::COUNT_HEADINGS.map(str::to_owned).into_iter().zip(figures::counts(measure));
    let totals = figures.total_headings(visible).into_iter().zip(figures.totals(measure));
    let listed = (counts.chain(totals))
        .filter(|(_, figure)| !figure.is_empty())
        .map(|(heading, figure)| format!("{heading}: {figure}\n"));
    Case { name: measure.name.clone(), failure, figures: listed.collect() }
}

fn details_line(comparison: &Comparison, found: &Break, measure: usize) -> Option<String> {
    let cell = found.cells.get(measure)?;
    let outside = cell.outside.as_ref()?;
    let values: Vec<String> = (comparison.sources.iter().zip(&cell.values))
        .map(|(name, value)| {
            let value = value.as_ref().map_or("absent", |value| phrases::or_null(value.as_deref()));
            format!("{name} {}", visible(value))
        })
        .collect();
    let difference = outside.difference.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
    Some(format!("{}: {}{difference}\n", phrases::key(found), values.join(", ")))
}

/// Text for an attribute, where a line break as it is would be read as a space.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;")
}

/// Text for an element; what XML cannot hold is spelt out, or becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' => xml.push(character),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            unprintable if is_unprintable(unprintable) => xml.extend(unprintable.escape_default()),
            other => xml.push(other),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Look, samples};
    use super::{attribute, escaped};

    #[test]
    fn unmatched() {
        insta::assert_snapshot!(samples::unmatched(Format::Junit, Look::PLAIN), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="trueup diff" tests="5" failures="4" errors="0">
          <testsuite name="ledger against bank" tests="5" failures="4" errors="0">
            <properties>
              <property name="ledger: from" value="ledger.csv"/>
              <property name="ledger: read as" value="CSV, UTF-8, `,` `&quot;`"/>
              <property name="ledger: rows" value="1,000"/>
              <property name="ledger: distinct keys" value="999"/>
              <property name="ledger: repeated keys" value="1"/>
              <property name="ledger: rows with NULL in the key" value="0"/>
              <property name="ledger: type drift" value="txn_id is text"/>
              <property name="bank: from" value="bank.parquet"/>
              <property name="bank: read as" value="Parquet"/>
              <property name="bank: rows" value="1,005"/>
              <property name="bank: distinct keys" value="1,005"/>
              <property name="bank: repeated keys" value="0"/>
              <property name="bank: rows with NULL in the key" value="2"/>
              <property name="bank: type drift" value="txn_id is number"/>
            </properties>
            <testcase classname="ledger against bank" name="groups are in every source">
              <failure message="25 of 1,005 groups absent somewhere">T-3, DE02: absent from ledger
        </failure>
            </testcase>
            <testcase classname="ledger against bank" name="amount">
              <failure message="5 of 980 groups outside ABSOLUTE 0.01">T-1, DE|01: ledger 10.00, bank 10.03 (0.03)
        T-2, NULL: ledger 7.5, bank NULL
        </failure>
              <system-out>within: 975
        outside: 5
        share: 0.5%
        largest difference: 0.03
        total ledger: 12345678901234567890.12
        total bank: 12345678901234567890.27
        </system-out>
            </testcase>
            <testcase classname="ledger against bank" name="booked">
              <system-out>within: 980
        outside: 0
        share: 0.0%
        </system-out>
            </testcase>
            <testcase classname="ledger against bank" name="note">
              <failure message="2 of 980 groups outside EXACT">T-1, DE|01: ledger a long note that begins alike &lt;one&gt; and goes on &amp; on, and ends alike as well, bank a long note that begins alike &lt;two&gt; and goes on &amp; on, and ends alike as well
        </failure>
              <system-out>within: 978
        outside: 2
        share: 0.2%
        </system-out>
            </testcase>
            <testcase classname="ledger against bank" name="column memo">
              <failure message="missing in bank"></failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn matched() {
        insta::assert_snapshot!(samples::matched(Format::Junit), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="trueup diff" tests="2" failures="0" errors="0">
          <testsuite name="ledger against bank" tests="2" failures="0" errors="0">
            <properties>
              <property name="ledger: from" value="ledger.csv"/>
              <property name="ledger: read as" value="CSV, UTF-8, `,` `&quot;`"/>
              <property name="ledger: rows" value="1,000"/>
              <property name="ledger: distinct keys" value="1,000"/>
              <property name="ledger: repeated keys" value="0"/>
              <property name="ledger: rows with NULL in the key" value="0"/>
              <property name="bank: from" value="bank.parquet"/>
              <property name="bank: read as" value="Parquet"/>
              <property name="bank: rows" value="1,000"/>
              <property name="bank: distinct keys" value="1,000"/>
              <property name="bank: repeated keys" value="0"/>
              <property name="bank: rows with NULL in the key" value="0"/>
            </properties>
            <testcase classname="ledger against bank" name="groups are in every source"/>
            <testcase classname="ledger against bank" name="amount">
              <system-out>within: 1,000
        outside: 0
        share: 0.0%
        </system-out>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn xml_holds_anything() {
        assert_eq!(attribute("two\nlines & more"), "two&#10;lines &amp; more");
        assert_eq!(escaped("<a b=\"c\">&\u{1b}\u{ffff}"), "&lt;a b=&quot;c&quot;&gt;&amp;\\u{1b}\u{fffd}");
    }
}
