//! Conditions over rows in memory, by themselves and against SQLite.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, StringViewArray,
    Time64NanosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use rusqlite::Connection;
use trueup_compare::Kind;
use trueup_compare::single::{Format, TemporalKind, Zone};
use trueup_job::Job;

use super::{Condition, Known, Reader, compile};
use crate::shape::{MomentReader, Numerals};

/// A column by its name.
type Column = (&'static str, ArrayRef);

/// The condition of a job, held against columns.
fn condition(filter: &str, columns: &[Column]) -> Result<Condition, String> {
    let job = format!(
        "name: j\nkey: [a]\nparams: {{day: {{type: date, default: 2026-01-02}}, least: {{type: integer, default: 2}},
             at: {{type: instant, default: '2026-01-02T09:00:00Z'}}, name: {{type: string, default: b}}}}\n\
         sources: {{x: {{file: x, filter: {}}}, y: {{file: y}}}}\n",
        serde_json::Value::from(filter)
    );
    let job = Job::parse(job.as_bytes(), None).map_err(|faults| faults.to_string())?;
    let moment = trueup_job::Moment::at_ms(0, job.timezone()).unwrap();
    let arguments = job.arguments(&std::collections::BTreeMap::new(), moment).unwrap();
    let filter = job.sources[0].filter.as_ref().unwrap();
    let zone = Arc::new(Zone::named("+01:00").unwrap());
    let known: Vec<Known> = columns.iter().map(|(name, array)| known(name, array, &zone)).collect();
    let values = filter.values(&arguments).unwrap();
    compile(filter.condition(), &values, &known, Numerals::default(), Some(zone))
}

fn known(name: &str, array: &ArrayRef, zone: &Arc<Zone>) -> Known {
    let format = Format::compile("%d.%m.%Y").unwrap();
    let reader =
        MomentReader { kind: TemporalKind::Date, format: Some(format), zone: Some(Arc::clone(zone)) };
    let (kind, reader) = match name {
        "german" => (Kind::Date, Some(Reader::Moment(reader))),
        _ => (Kind::of(array.data_type()), None),
    };
    let is_integer = array.data_type() == &arrow_schema::DataType::Int64;
    Known { name: name.to_owned(), kind, reader, is_simple: true, is_integer }
}

/// The rows kept, from 1, or what keeps them from being known.
fn kept(filter: &str, columns: &[Column]) -> Result<Vec<usize>, String> {
    let condition = condition(filter, columns)?;
    let looked_at: Vec<ArrayRef> =
        condition.columns().iter().map(|index| Arc::clone(&columns[*index].1)).collect();
    let kept = condition.kept(&looked_at, columns[0].1.len());
    let kept = kept.map_err(|undecided| format!("{}: {}", undecided.row + 1, undecided.problem))?;
    Ok(kept.set_indices().map(|row| row + 1).collect())
}

fn texts(values: [Option<&str>; 4]) -> ArrayRef {
    Arc::new(StringViewArray::from(values.to_vec()))
}

/// Four rows of everything; the last is NULL.
fn columns() -> Vec<Column> {
    const DAY: i64 = 86_400_000_000;
    let day = 20_454; // 2026-01-01
    let at = |hours: i64| Some(i64::from(day) * DAY + hours * 3_600_000_000);
    let hour = |hours: i64| Some(hours * 3_600_000_000_000);
    let decimals = Decimal128Array::from(vec![Some(110), Some(-250), Some(0), None]);
    let big = 9_007_199_254_740_992;
    vec![
        ("n", Arc::new(Int64Array::from(vec![Some(1), Some(2), Some(3), None]))),
        ("big", Arc::new(Int64Array::from(vec![Some(big), Some(big + 1), Some(-big), None]))),
        ("huge", Arc::new(UInt64Array::from(vec![Some(u64::MAX), Some(0), Some(1), None]))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 2).unwrap())),
        ("float", Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::NAN), Some(-0.0), None]))),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None]))),
        ("day", Arc::new(Date32Array::from(vec![Some(day), Some(day + 1), Some(day + 2), None]))),
        ("time", Arc::new(Time64NanosecondArray::from(vec![hour(8), hour(12), hour(18), None]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![at(0), at(34), at(35), None]))),
        (
            "instant",
            Arc::new(TimestampMicrosecondArray::from(vec![at(0), at(33), at(35), None]).with_timezone("UTC")),
        ),
        ("text", texts([Some("a"), Some("B"), Some("a%b"), None])),
        ("amount", texts([Some("10.50"), Some("-3"), Some("0.00"), None])),
        ("wide", texts([Some("9007199254740992"), Some("9007199254740993"), Some("1e40"), None])),
        ("flag", texts([Some("true"), Some("FALSE"), Some("True"), None])),
        ("dates", texts([Some("2026-01-01"), Some("2026-01-02"), Some("2026-01-02 00:00:01"), None])),
        ("german", texts([Some("01.02.2026"), Some("31.12.2025"), Some("01.01.2026"), None])),
        ("mixed", texts([Some("7"), Some("x"), Some("007"), None])),
        ("padded", texts([Some(" a "), Some("größe"), Some(""), None])),
    ]
}

#[test]
fn rows_are_kept_where_the_condition_is_true() {
    let table: &[(&str, &[usize])] = &[
        // Numbers, exactly.
        ("n = 2", &[2]),
        ("n <> 2", &[1, 3]),
        ("n != 2.0", &[1, 3]),
        ("2 < n", &[3]),
        ("n > 1.5", &[2, 3]),
        ("n >= {{ params.least }}", &[2, 3]),
        ("n < 1e-50", &[]),
        ("big = 9007199254740992", &[1]),
        ("big > 9007199254740992", &[2]),
        ("-big = 9007199254740992", &[3]),
        ("huge = 18446744073709551615", &[1]),
        ("decimal = 1.1", &[1]),
        ("decimal < 0", &[2]),
        ("decimal <> 0.000", &[1, 2]),
        ("float = 0.1", &[1]),
        ("float = 0", &[3]),
        ("float > 100", &[2]),
        ("n + decimal = 2.1", &[1]),
        ("n * 2 - 1 = 3", &[2]),
        ("n / 2 = 0.5 or n / 3 = 1", &[1, 3]),
        ("n % 2 = 1", &[1, 3]),
        ("-(n) < -2", &[3]),
        ("abs(decimal) = 2.5", &[2]),
        ("round(decimal) = -3", &[2]),
        ("round(decimal, 1) = 1.1", &[1]),
        (".5 < n and n < 2.", &[1]),
        ("n = 0002", &[2]),
        // Text, by its bytes, and what it says beside something else.
        ("text = 'a'", &[1]),
        ("text > 'a'", &[3]),
        ("text < 'a'", &[2]),
        ("lower(text) = {{ params.name }}", &[2]),
        ("upper(text) = 'A'", &[1]),
        ("amount <> 0", &[1, 2]),
        ("amount = 10.5", &[1]),
        ("amount = '10.5'", &[]),
        ("amount = '10.50'", &[1]),
        ("amount > n", &[1]),
        ("amount + 0.5 = 11", &[1]),
        ("wide = 9007199254740993", &[2]),
        ("wide > 9007199254740993", &[3]),
        ("flag", &[1, 3]),
        ("flag = false", &[2]),
        ("not truth", &[2]),
        ("truth and flag", &[1, 3]),
        ("n = '2'", &[2]),
        ("day = '2026-01-02'", &[2]),
        // Dates and times.
        ("day = {{ params.day }}", &[2]),
        ("day < DATE '2026-01-03'", &[1, 2]),
        ("day >= TIMESTAMP '2026-01-02 00:00:01'", &[3]),
        ("dates = {{ params.day }}", &[2]),
        ("dates > {{ params.day }}", &[3]),
        ("dates <= TIMESTAMP '2026-01-02 00:00:01'", &[1, 2, 3]),
        ("german > {{ params.day }}", &[1]),
        ("german = '2026-01-01'", &[3]),
        ("time > TIME '12:00'", &[3]),
        ("time = '12:00:00'", &[2]),
        ("at = TIMESTAMP '2026-01-02 10:00:00'", &[2]),
        // Ten o'clock an hour east of UTC.
        ("at = {{ params.at }}", &[2]),
        ("instant = {{ params.at }}", &[2]),
        ("instant > TIMESTAMP WITH TIME ZONE '2026-01-02T10:00:00+01:00'", &[3]),
        ("instant = at", &[2]),
        ("day < instant", &[1, 2]),
        // What is not known is not true.
        ("n is null", &[4]),
        ("n is not null", &[1, 2, 3]),
        ("text is null or n = 1", &[1, 4]),
        ("truth is true", &[1, 3]),
        ("truth is not true", &[2, 4]),
        ("truth is false", &[2]),
        ("truth is not false", &[1, 3, 4]),
        ("not (n = 2)", &[1, 3]),
        ("n = null", &[]),
        ("not (n = null)", &[]),
        ("null is null", &[1, 2, 3, 4]),
        ("n in (1, 3)", &[1, 3]),
        ("n in (1, null)", &[1]),
        ("n not in (1, 3)", &[2]),
        ("n not in (1, null)", &[]),
        ("text in ('a', 'B', 'c')", &[1, 2]),
        ("amount in (0, 10.500)", &[1, 3]),
        ("n in (decimal, 2, big - 9007199254740991)", &[1, 2]),
        ("day in ({{ params.day }}, '2026-01-03')", &[2, 3]),
        ("n between 2 and 3", &[2, 3]),
        ("n not between 2 and 3", &[1]),
        ("2 between n and decimal", &[]),
        ("coalesce(n, 7) = 7", &[4]),
        ("coalesce(null, amount, 1) = 1", &[4]),
        ("(truth or null) is null", &[2, 4]),
        ("(truth and null) is null", &[1, 3, 4]),
        // Text by pattern and by part.
        ("text like 'a%'", &[1, 3]),
        ("text like '_!%_' escape '!'", &[3]),
        ("text not like 'a%'", &[2]),
        ("padded like '%ö_e'", &[2]),
        ("trim(padded) = 'a'", &[1]),
        ("length(padded) = 5", &[2]),
        ("length(padded) = 0", &[3]),
        ("substr(padded, 3, 2) = 'öß'", &[2]),
        ("substr(padded, 4) = 'ße'", &[2]),
        ("substr(padded, -1, 3) = 'g'", &[2]),
        ("substring(padded from 1 for 2) = 'gr'", &[2]),
        // What decides comes first, and what follows it is not read.
        ("n = 1 and mixed > 5", &[1]),
        ("n > 1 or mixed = 7", &[1, 2, 3]),
        ("mixed = 'x'", &[2]),
        ("(((n)))=((2))", &[2]),
        ("\"n\" = 1 -- said\n or n /* or */ = 3", &[1, 3]),
    ];
    for (filter, expected) in table {
        assert_eq!(kept(filter, &columns()).as_deref(), Ok(*expected), "{filter}");
    }
}

#[test]
fn what_cannot_be_decided_is_named() {
    let table = [
        ("mixed > 5", "2: column `mixed`: `x` is no number such as 1234.56"),
        (
            "n = 3 and mixed > 5",
            "3: column `mixed`: `007` has a leading zero, and is no number unless it is cast to one",
        ),
        ("mixed = true", "1: column `mixed`: `7` is neither true nor false"),
        (
            "mixed < {{ params.day }}",
            "1: column `mixed`: `7` is not a timestamp such as 2026-01-31 18:30:00; if it is written otherwise, declare `date_formats`",
        ),
        ("lower(text) = 1", "1: `a` is no number such as 1234.56"),
        ("n / (n - 2) > 0", "2: 2 / 0 is a division by 0"),
        ("n % 0 > 0", "1: 1 % 0 is a division by 0"),
        (
            "wide * 1e30 * 1e30 * 1.5000000000000000000000000000001 > 0",
            "1: 9.007199254740992e75 * 1.5000000000000000000000000000001 needs more than 38 digits",
        ),
        ("float + 1 > 0", "2: NaN + 1 cannot be calculated"),
        ("substr(text, 1.5) = 'a'", "1: substr takes whole numbers, and no negative length"),
        ("substr(text, 1, -1) = 'a'", "1: substr takes whole numbers, and no negative length"),
        // Before any row.
        ("nn = 1", "there is no column `nn`; did you mean `n`?"),
        ("amonut = 1", "there is no column `amonut`; did you mean `amount`?"),
        ("Text = 'a'", "there is no column `Text`; did you mean `text`?"),
        ("n = day", "`n` is a number and `day` is a date: they cannot be compared"),
        ("n = 'x'", "`x` is no number such as 1234.56"),
        ("n in (1, 'x')", "`x` is no number such as 1234.56"),
        ("truth = 1", "`truth` is a truth value and 1 is a number: they cannot be compared"),
        (
            "n",
            "`n` is a number where a truth value is expected; write a comparison, or cast a column to boolean",
        ),
        (
            "n and truth",
            "`n` is a number where a truth value is expected; write a comparison, or cast a column to boolean",
        ),
        ("n like '1%'", "`n` is a number where text is expected; cast a column to string"),
        ("length(n) = 1", "`n` is a number where text is expected; cast a column to string"),
        ("day + 1 > day", "`day` is a date where a number is expected"),
        ("time = day", "`time` is a time and `day` is a date: they cannot be compared"),
        (
            "day = '2026-02-30'",
            "`2026-02-30` is not a timestamp such as 2026-01-31 18:30:00; if it is written otherwise, declare `date_formats`",
        ),
    ];
    for (filter, expected) in table {
        assert_eq!(kept(filter, &columns()), Err(expected.to_owned()), "{filter}");
    }
}

/// Random expressions that SQLite means the same by: whole numbers, texts and NULLs.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn number(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.pick(&["a", "b", "0", "1", "-2", "5", "NULL", "b", "a"]).to_owned();
        }
        let (first, second) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(6) {
            0 => format!("({first} + {second})"),
            1 => format!("({first} - {second})"),
            2 => format!("({first} * {second})"),
            3 => format!("({first} % 3)"),
            4 => format!("coalesce({first}, {second})"),
            _ => format!("(- abs({first}))"),
        }
    }

    fn text(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.pick(&["s", "t", "'a'", "'Ab'", "''", "NULL", "s", "t"]).to_owned();
        }
        let (first, second) = (self.text(depth - 1), self.text(depth - 1));
        match self.below(5) {
            0 => format!("lower({first})"),
            1 => format!("upper({first})"),
            2 => format!("trim({first})"),
            3 => format!("coalesce({first}, {second})"),
            _ => format!("substr({first}, 1 + abs({} % 3), 2)", self.number(1)),
        }
    }

    fn relation(&mut self) -> &'static str {
        self.pick(&["=", "<>", "<", "<=", ">", ">="])
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(7) {
                0 | 1 => format!("{} {} {}", self.number(1), self.relation(), self.number(1)),
                2 => format!("{} {} {}", self.text(1), self.relation(), self.text(1)),
                3 => format!(
                    "{} {}",
                    self.text(1),
                    self.pick(&["like 'a%'", "not like '_b%'", "like '%'", "is null"])
                ),
                4 => format!(
                    "{} {} ({}, {})",
                    self.number(1),
                    self.pick(&["in", "not in"]),
                    self.number(1),
                    self.number(0)
                ),
                5 => format!(
                    "{} {} {} and {}",
                    self.number(1),
                    self.pick(&["between", "not between"]),
                    self.number(0),
                    self.number(0)
                ),
                _ => format!("length({}) {} {}", self.text(1), self.relation(), self.number(0)),
            };
        }
        let (first, second) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.below(5) {
            0 => format!("not ({first})"),
            1 => format!(
                "({first}) is {}",
                self.pick(&["true", "not true", "false", "not false", "null", "not null"])
            ),
            2 => format!("({first}) or ({second})"),
            3 => format!("({first}) = ({second})"),
            _ => format!("({first}) and ({second})"),
        }
    }
}

#[test]
fn conditions_mean_what_they_mean_to_sqlite() {
    let numbers = [None, Some(-2i64), Some(0), Some(1), Some(5)];
    let words = [None, Some(""), Some("a"), Some("Ab"), Some(" b")];
    let mut rows = Vec::new();
    let mut random = Random(42);
    for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
        rows.push((a, b, words[random.below(5) as usize], words[random.below(5) as usize]));
    }
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite
        .execute_batch(
            "pragma case_sensitive_like = on; create table x (a integer, b integer, s text, t text)",
        )
        .unwrap();
    for row in &rows {
        sqlite.execute("insert into x values (?, ?, ?, ?)", *row).unwrap();
    }
    let strings = |numbers: Vec<Option<i64>>| -> ArrayRef {
        let texts = numbers.into_iter().map(|number| number.map(|number| number.to_string()));
        Arc::new(texts.collect::<StringViewArray>())
    };
    let a: Vec<Option<i64>> = rows.iter().map(|row| row.0).collect();
    let b: Vec<Option<i64>> = rows.iter().map(|row| row.1).collect();
    let s: ArrayRef = Arc::new(rows.iter().map(|row| row.2).collect::<StringViewArray>());
    let t: ArrayRef = Arc::new(rows.iter().map(|row| row.3).collect::<StringViewArray>());
    let columns: Vec<Column> =
        vec![("a", Arc::new(Int64Array::from(a))), ("b", strings(b)), ("s", s), ("t", t)];
    let mut agreed = 0;
    for _ in 0..3000 {
        let filter = random.condition(3);
        let mut statement =
            sqlite.prepare(&format!("select rowid from x where {filter} order by rowid")).unwrap();
        let expected: Vec<usize> = statement
            .query_map([], |row| Ok(row.get::<_, u32>(0)? as usize))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        match kept(&filter, &columns) {
            Ok(kept) => assert_eq!(kept, expected, "{filter}"),
            Err(problem) => panic!("{filter}: {problem}"),
        }
        agreed += usize::from(!expected.is_empty() && expected.len() < rows.len());
    }
    assert!(agreed > 1000, "only {agreed} conditions kept some rows and left out others");
}
