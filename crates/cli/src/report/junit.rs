//! The report for a build server: one test case per measure, one for absent groups, one per finding.

use trueup_compare::{Break, Comparison, MeasureReport};

use super::{Report, phrases};

/// Writes the XML that JUnit's own reports have made common.
pub fn render(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let mut cases = vec![presence_case(comparison)];
    cases.extend(comparison.measures.iter().enumerate().map(|(index, it)| measure_case(report, index, it)));
    cases.extend(comparison.findings.iter().map(|finding| Case {
        name: format!("column {}", finding.column),
        failure: Some((finding.problem.clone(), String::new())),
    }));
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let class = escaped(&comparison.sources.join(" against "));
    let body: String = cases.iter().map(|case| case.xml(&class)).collect();
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
}

impl Case {
    fn xml(&self, class: &str) -> String {
        let open = format!("    <testcase classname=\"{class}\" name=\"{}\"", escaped(&self.name));
        match &self.failure {
            None => format!("{open}/>\n"),
            Some((message, details)) => format!(
                "{open}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                escaped(message),
                escaped(details)
            ),
        }
    }
}

fn presence_case(comparison: &Comparison) -> Case {
    let absent = phrases::absent_groups(comparison);
    let failure = (absent > 0).then(|| {
        let message = format!(
            "{} of {} absent somewhere",
            phrases::count(absent),
            phrases::counted(comparison.rows_compared, "group")
        );
        let details = (comparison.breaks.iter().filter(|found| !found.is_outside())).map(|found| {
            format!(
                "{}: absent from {}\n",
                phrases::key(found),
                phrases::sources_where(comparison, found, false)
            )
        });
        (message, details.collect())
    });
    Case { name: "groups are in every source".to_owned(), failure }
}

fn measure_case(report: &Report<'_>, index: usize, measure: &MeasureReport) -> Case {
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
    Case { name: measure.name.clone(), failure }
}

fn details_line(comparison: &Comparison, found: &Break, measure: usize) -> Option<String> {
    let cell = found.cells.get(measure)?;
    let outside = cell.outside.as_ref()?;
    let values: Vec<String> = (comparison.sources.iter().zip(&cell.values))
        .map(|(name, value)| {
            let value = value.as_ref().map_or("absent", |value| phrases::or_null(value.as_deref()));
            format!("{name} {}", phrases::visible(value))
        })
        .collect();
    let difference = outside.difference.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
    Some(format!("{}: {}{difference}\n", phrases::key(found), values.join(", ")))
}

/// Text for an element or an attribute; what XML cannot hold at all becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' | '\t' => xml.push(character),
            '\r' => xml.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            control if control < ' ' => xml.push('\u{fffd}'),
            other => xml.push(other),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Look, samples};
    use super::escaped;

    #[test]
    fn unmatched() {
        insta::assert_snapshot!(samples::unmatched(Format::Junit, Look::PLAIN), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="trueup diff" tests="5" failures="4" errors="0">
          <testsuite name="ledger against bank" tests="5" failures="4" errors="0">
            <testcase classname="ledger against bank" name="groups are in every source">
              <failure message="25 of 1,005 groups absent somewhere">T-3, DE02: absent from ledger
        </failure>
            </testcase>
            <testcase classname="ledger against bank" name="amount">
              <failure message="5 of 980 groups outside ABSOLUTE 0.01">T-1, DE|01: ledger 10.00, bank 10.03 (0.03)
        T-2, NULL: ledger 7.5, bank NULL
        </failure>
            </testcase>
            <testcase classname="ledger against bank" name="booked"/>
            <testcase classname="ledger against bank" name="note">
              <failure message="2 of 980 groups outside EXACT">T-1, DE|01: ledger a long note that begins alike &lt;one&gt; and goes on &amp; on, and ends alike as well, bank a long note that begins alike &lt;two&gt; and goes on &amp; on, and ends alike as well
        </failure>
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
            <testcase classname="ledger against bank" name="groups are in every source"/>
            <testcase classname="ledger against bank" name="amount"/>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn xml_holds_anything() {
        assert_eq!(escaped("<a b=\"c\">&\u{0}\u{1b}"), "&lt;a b=&quot;c&quot;&gt;&amp;\u{fffd}\u{fffd}");
    }
}
