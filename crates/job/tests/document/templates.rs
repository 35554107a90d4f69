//! Parameters and templates: bound in queries, plain text in paths.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde_json::{Value as Json, json};
use trueup_job::{ArgumentError, Arguments, Job, Moment, Rows, TemplateError, Type, Value};

use crate::examples::{examples, job};

/// Half past eleven in the evening in London, where the next day starts at 23:00 UTC.
fn moment(job: &Job) -> Moment {
    let now = DateTime::parse_from_rfc3339("2026-07-01T23:30:00Z").unwrap();
    Moment::new(now.to_utc(), job.timezone())
}

fn arguments(job: &Job, given: &Json) -> Result<Arguments, Vec<ArgumentError>> {
    let given: BTreeMap<String, Json> = given.as_object().unwrap().clone().into_iter().collect();
    job.arguments(&given, moment(job))
}

#[test]
fn values_are_bound_in_queries() {
    let positions = job(examples()[2]);
    let arguments = arguments(&positions, &json!({"day": "2026-03-31"})).unwrap();
    let Rows::Query { query, .. } = &positions.sources[0].rows else { panic!("it is a query") };
    let query = query.bind(&arguments).unwrap();
    let values: Vec<String> =
        query.values().iter().map(|value| format!("{} {value}", value.kind())).collect();
    assert_eq!(values, ["date 2026-03-24", "date 2026-03-31", "decimal 0.5"]);
    let sql = query.sql(|number, _| format!("${number}"));
    assert!(sql.ends_with("where day between $1 and $2\n  and price > $3\n"), "{sql}");
    let filter = positions.sources[3].filter.as_ref().unwrap();
    let values = filter.values(&arguments).unwrap();
    assert_eq!(values.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2026-03-31"]);
}

#[test]
fn values_cannot_change_a_query() {
    let text = "name: a\nkey: [k]\nparams: {s: {type: string}}\nsources:\n  x: {connection: c, query: \"select {{ params.s }}\"}\n  y: {connection: c, table: t}\n";
    let job = job(text);
    let nasty = "1'; drop table t; -- {{ today }} $1 ?";
    let arguments = arguments(&job, &json!({"s": nasty})).unwrap();
    let Rows::Query { query, .. } = &job.sources[0].rows else { panic!("it is a query") };
    let query = query.bind(&arguments).unwrap();
    assert_eq!(query.sql(|_, _| "?".to_owned()), "select ?");
    assert_eq!(query.values(), [Value::String(nasty.to_owned())]);
}

#[test]
fn expressions() {
    let table = [
        ("today", Ok("2026-07-02")),
        ("now", Ok("2026-07-01T23:30:00Z")),
        ("now - 90m + 1s", Ok("2026-07-01T22:00:01Z")),
        ("today-1d", Ok("2026-07-01")),
        ("today + 1w - 1y", Ok("2025-07-09")),
        ("params.d - 1mo", Ok("2026-02-28")),
        ("params.d | format('%Y%m%d')", Ok("20260331")),
        ("params.t + 2h", Ok("2026-01-01T02:00:00")),
        ("params.i", Ok("7")),
        ("params.d + 9999y", Err("is outside the years 1 to 9999")),
        ("params.d - 999999d - 999999d", Err("is outside the years 1 to 9999")),
    ];
    for (expression, expected) in table {
        let text = format!(
            "name: a\nkey: [k]\nschedule: {{cron: 0 6 * * *, timezone: Europe/London}}\nparams: {{d: {{type: date}}, t: {{type: timestamp}}, i: {{type: integer}}}}\nsources: {{x: {{file: x}}, y: {{file: y}}}}\nthen: [{{job: b, params: {{p: \"{{{{ {expression} }}}}\"}}}}]\n"
        );
        let job = job(&text);
        let given = json!({"d": "2026-03-31", "t": "2026-01-01T00:00:00", "i": 7});
        let found = job.then[0].params["p"].evaluate(&arguments(&job, &given).unwrap());
        match expected {
            Ok(expected) => assert_eq!(found.unwrap().to_string(), expected, "{expression}"),
            Err(expected) => assert!(found.unwrap_err().to_string().ends_with(expected), "{expression}"),
        }
    }
}

#[test]
fn values_stay_within_their_part_of_a_path() {
    let fill = |path: &str, value: &str| {
        let job = job(&format!(
            "name: a\nkey: [k]\nparams: {{v: {{type: string}}}}\nsources: {{x: {{file: \"{path}\"}}, y: {{file: y}}}}\n"
        ));
        let Rows::Files { path, .. } = &job.sources[0].rows else { panic!("it is a file") };
        path.fill(&arguments(&job, &json!({"v": value})).unwrap())
    };
    let good = [
        ("in/{{ params.v }}.csv", "2026-01-31", "in/2026-01-31.csv"),
        ("in/{{ params.v }}/*.csv", "a..b", "in/a..b/*.csv"),
        ("s3://b/{{ params.v }}/x", "10:00", "s3://b/10:00/x"),
        ("../{{ params.v }}", "50%", "../50%"),
    ];
    for (path, value, expected) in good {
        assert_eq!(fill(path, value).unwrap(), expected);
    }
    let bad = [
        ("in/{{ params.v }}/x.csv", ".."),
        ("in/{{ params.v }}/x.csv", "."),
        ("in/{{ params.v }}/x.csv", ""),
        ("in/.{{ params.v }}/x.csv", "."),
        ("in/{{ params.v }}{{ params.v }}/x.csv", "."),
        ("in/{{ params.v }}.csv", "../../etc/passwd"),
        ("in/{{ params.v }}.csv", "a/b"),
        ("in/{{ params.v }}.csv", "a\\b"),
        ("in/{{ params.v }}.csv", "*"),
        ("in/{{ params.v }}.csv", "a\nb"),
        ("{{ params.v }}//bucket/x", "s3:"),
        ("{{ params.v }}", "-"),
        ("{{ params.v }}/x", "~"),
        ("https://host/{{ params.v }}/x", "%2e%2e"),
        ("https://host/{{ params.v }}", "a?b"),
        ("https://host/a?b={{ params.v }}", "c&d=e"),
    ];
    for (path, value) in bad {
        assert!(matches!(fill(path, value), Err(TemplateError::Path { .. })), "{path} {value:?}");
    }
}

#[test]
fn arguments_are_of_their_types() {
    let positions = job(examples()[2]);
    let found = arguments(&positions, &json!({"day": "2026-03-31", "limit": 0.25})).unwrap();
    assert_eq!(found.get("desk").unwrap().to_string(), "2026-equities");
    let again: Json = found.to_json().into_iter().collect::<serde_json::Map<_, _>>().into();
    assert_eq!(again, json!({"day": "2026-03-31", "desk": "2026-equities", "limit": "0.25"}));
    assert_eq!(arguments(&positions, &again).unwrap(), found);

    let errors = arguments(&positions, &json!({"dya": "2026-03-31", "limit": "much"})).unwrap_err();
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "there is no parameter `dya`; did you mean `day`?",
            "the parameter `day` is missing: expected a date such as 2026-01-31",
            "the parameter `limit` is \"much\": expected a number such as 0.01",
        ]
    );
    assert_eq!(errors[1], ArgumentError::Missing { name: "day".to_owned(), kind: Type::Date });
}
