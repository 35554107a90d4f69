//! Numbers against tables and big-integer arithmetic.

use num_bigint::BigInt;

use super::test_random::Random;
use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn parts(decimal: Decimal) -> (i128, i32) {
    (decimal.mantissa(), decimal.exponent())
}

#[test]
fn numerals() {
    let nines = "9".repeat(38);
    let padded = format!("0.000{nines}000");
    let long_zeros = format!("1{}", "0".repeat(60));
    let zeros = format!("0.{}", "0".repeat(60));
    let huge: i128 = nines.parse().unwrap();
    let cases: &[(&str, (i128, i32))] = &[
        ("0", (0, 0)),
        ("-0", (0, 0)),
        ("-0.00", (0, 0)),
        ("0e999999999999999999999", (0, 0)),
        (&zeros, (0, 0)),
        ("1.10", (11, -1)),
        ("1.1", (11, -1)),
        ("11e-1", (11, -1)),
        ("11E-01", (11, -1)),
        ("110e-2", (11, -1)),
        ("0.11e+1", (11, -1)),
        ("-12345.67", (-1_234_567, -2)),
        ("9007199254740993", (9_007_199_254_740_993, 0)),
        ("18446744073709551616", (18_446_744_073_709_551_616, 0)),
        ("9999999999999999999", (9_999_999_999_999_999_999, 0)),
        ("1e10000", (1, 10_000)),
        ("10e9999", (1, 10_000)),
        ("1e-10000", (1, -10_000)),
        (&nines, (huge, 0)),
        (&padded, (huge, -41)),
        (&long_zeros, (1, 60)),
    ];
    for (text, expected) in cases {
        assert_eq!(Decimal::parse(text.as_bytes()).map(parts), Ok(*expected), "{text}");
    }
}

#[test]
fn what_is_no_numeral() {
    use NumeralError::{ExponentOutOfRange, LeadingZero, NotNumeral, TooManyDigits};
    let digits_39 = "1".repeat(39);
    let digits_39_behind = format!("0.{}", "1".repeat(39));
    let split = format!("1{}1", "0".repeat(37));
    let apart = format!("1{}1", "0".repeat(4_000));
    let cases: &[(&str, NumeralError)] = &[
        ("", NotNumeral),
        ("-", NotNumeral),
        ("+1", NotNumeral),
        (" 1", NotNumeral),
        ("1 ", NotNumeral),
        (".5", NotNumeral),
        ("5.", NotNumeral),
        ("1e", NotNumeral),
        ("1e+", NotNumeral),
        ("1e1.5", NotNumeral),
        ("1,000", NotNumeral),
        ("0x10", NotNumeral),
        ("--1", NotNumeral),
        ("٣", NotNumeral),
        ("NaN", NotNumeral),
        ("00x", NotNumeral),
        ("007", LeadingZero),
        ("-007", LeadingZero),
        ("00", LeadingZero),
        ("00.5", LeadingZero),
        (&digits_39, TooManyDigits),
        (&digits_39_behind, TooManyDigits),
        (&split, TooManyDigits),
        (&apart, TooManyDigits),
        ("1e10001", ExponentOutOfRange),
        ("10e10000", ExponentOutOfRange),
        ("1e-10001", ExponentOutOfRange),
        ("1e999999999999999999999999", ExponentOutOfRange),
        ("12345678901234567890e-999999999999999999999999", ExponentOutOfRange),
    ];
    for (text, expected) in cases {
        assert_eq!(Decimal::parse(text.as_bytes()), Err(*expected), "{text}");
    }
}

#[test]
fn the_words() {
    let cases = [
        ("NaN", Some(Number::NaN)),
        ("inf", Some(Number::Infinity)),
        ("Infinity", Some(Number::Infinity)),
        ("-inf", Some(Number::NegInfinity)),
        ("-Infinity", Some(Number::NegInfinity)),
        ("nan", None),
        ("-NaN", None),
        ("INF", None),
        ("+inf", None),
    ];
    for (text, expected) in cases {
        assert_eq!(Number::parse(text.as_bytes()).ok(), expected, "{text}");
    }
    for word in [Number::NaN, Number::Infinity, Number::NegInfinity] {
        assert_eq!(word.to_string().parse(), Ok(word));
    }
}

#[test]
fn written_plainly_unless_absurdly_long() {
    let cases = [
        ("-0.05", "-0.05"),
        ("12e2", "1200"),
        ("1234.5670", "1234.567"),
        ("-0", "0"),
        ("1e39", "1000000000000000000000000000000000000000"),
        ("1e40", "1e40"),
        ("-15e60", "-1.5e61"),
        ("1e-40", "0.0000000000000000000000000000000000000001"),
        ("15e-42", "1.5e-41"),
    ];
    for (text, expected) in cases {
        assert_eq!(decimal(text).to_string(), expected);
    }
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let value = random.decimal(38, 80);
        assert_eq!(value.to_string().parse(), Ok(value));
    }
}

#[test]
fn floats_mean_their_shortest_decimal() {
    let cases = [
        (0.0, "0"),
        (-0.0, "0"),
        (10.01, "10.01"),
        (-12345.67, "-12345.67"),
        (0.1 + 0.2, "0.30000000000000004"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (1e15, "1e15"),
        (1e22, "1e22"),
        (1e23, "1e23"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e308"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ];
    for (float, expected) in cases {
        assert_eq!(Number::from(float), expected.parse().unwrap(), "{float}");
    }
    assert_eq!(Number::from(0.1f32), "0.1".parse().unwrap());
    assert_eq!(Number::from(f32::NAN), Number::NaN);
    assert_eq!(widen(0.1f32).to_bits(), 0.1f64.to_bits());
}

#[test]
fn floats_agree_with_the_standard_library() {
    let mut random = Random::new(2);
    for round in 0..200_000u32 {
        let double = match round % 4 {
            0 => f64::from_bits(random.next()),
            1 => random.below(10u64.pow(round % 17)) as f64 / 10f64.powi((round / 4 % 23).cast_signed()),
            2 => (random.below(1 << 40) as f64 / 1e4).next_up(),
            _ => random.below(1_000_000) as f64 / -100.0,
        };
        let single = match round % 3 {
            0 => f32::from_bits(random.next() as u32),
            1 => double as f32,
            _ => random.below(3_000_000) as f32 / 100.0,
        };
        if double.is_finite() {
            assert_eq!(Number::from(double), format!("{double:e}").parse().unwrap(), "{double:e}");
            let back = Number::from(double).finite().unwrap().to_f64();
            assert_eq!((back + 0.0).to_bits(), (double + 0.0).to_bits());
        }
        if single.is_finite() {
            assert_eq!(Number::from(single), format!("{single:e}").parse().unwrap(), "{single:e}");
            assert_eq!(Number::from(widen(single)), Number::from(single));
        }
    }
}

#[test]
fn units() {
    let cases = [
        ("12.34", 2, Some(1234)),
        ("12.34", 3, Some(12340)),
        ("12.345", 2, None),
        ("-0.5", 1, Some(-5)),
        ("1200", 0, Some(1200)),
        ("0", 300, Some(0)),
        ("9223372036854775807", 0, Some(i64::MAX)),
        ("-9223372036854775808", 0, Some(i64::MIN)),
        ("9223372036854775808", 0, None),
        ("92233720368547758.07", 2, Some(i64::MAX)),
        ("1e18", 0, Some(10i64.pow(18))),
        ("1e18", 1, None),
        ("1", 19, None),
        ("1e-19", 37, Some(10i64.pow(18))),
        ("1e9000", 0, None),
    ];
    for (text, scale, expected) in cases {
        assert_eq!(decimal(text).units(scale), expected, "{text} at {scale}");
    }
}

fn lifted(decimal: Decimal, lift: i32) -> BigInt {
    BigInt::from(decimal.mantissa()) * BigInt::from(10).pow((decimal.exponent() + lift).cast_unsigned())
}

#[test]
fn order_arithmetic_and_sort_keys_agree_with_big_integers() {
    let mut random = Random::new(3);
    for round in 0..100_000 {
        let digits = [2, 18, 38][round % 3];
        let (a, b) = (random.decimal(digits, 45), random.decimal(digits, [2, 45][round % 2]));
        let (big_a, big_b) = (lifted(a, 90), lifted(b, 90));
        assert_eq!(a.cmp(&b), big_a.cmp(&big_b), "{a} {b}");
        assert_eq!(a == b, big_a == big_b);
        let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
        a.sort_key(&mut key_a);
        b.sort_key(&mut key_b);
        assert_eq!(key_a.cmp(&key_b), a.cmp(&b), "{a} {b}");
        let exact = Quantity::from(a).minus(&b.into()).unwrap();
        assert_eq!(exact.cmp(&Decimal::ZERO.into()), a.cmp(&b));
        if let Some(difference) = a.checked_sub(b) {
            assert_eq!(lifted(difference, 90), &big_a - &big_b);
            assert_eq!(exact, difference.into());
        }
        if let Some(product) = a.checked_mul(b) {
            assert_eq!(lifted(product, 180), big_a * big_b);
        }
    }
}

#[test]
fn the_order_of_everything() {
    let ascending = [
        "-inf",
        "-1e9999",
        "-1e40",
        "-1.5",
        "-1.25",
        "-1",
        "-1e-9999",
        "0",
        "1e-9999",
        "0.99",
        "1",
        "1.01",
        "2",
        "10",
        "9007199254740992",
        "9007199254740993",
        "1e9999",
        "inf",
        "NaN",
    ];
    let numbers: Vec<Number> = ascending.iter().map(|text| text.parse().unwrap()).collect();
    for (i, a) in numbers.iter().enumerate() {
        for (j, b) in numbers.iter().enumerate() {
            assert_eq!(a.cmp(b), i.cmp(&j), "{a} {b}");
            assert_eq!(Quantity::from(*a).cmp(&Quantity::from(*b)), i.cmp(&j));
            let key = |first: &Number| {
                let mut key = Vec::new();
                first.sort_key(&mut key);
                key.push(if *first == *b { 0 } else { 255 });
                key
            };
            assert_eq!(key(a).cmp(&key(b)), i.cmp(&j), "{a} {b}");
        }
    }
}

#[test]
fn averages() {
    let cases = [
        ("10", 4, "2.5"),
        ("6", 3, "2"),
        ("-1", 3, "-0.333333333333"),
        ("2", 3, "0.666666666667"),
        ("1e-30", 7, "1.42857142857e-31"),
        ("1234567890123.45", 7, "176366841446.207143"),
        ("1", 1 << 40, "0.0000000000009094947017729282379150390625"),
        ("0", 3, "0"),
        ("1e30", 3, "333333333333333333333333333333.333333"),
        ("NaN", 3, "NaN"),
        ("-inf", 3, "-inf"),
    ];
    for (sum, count, expected) in cases {
        let average = Quantity::average(sum.parse().unwrap(), count).unwrap();
        assert_eq!(average.to_string(), expected);
    }
    let average = |sum: &str, count| Quantity::average(sum.parse().unwrap(), count).unwrap();
    assert_eq!(Quantity::average(Number::NaN, 0), None);
    assert_eq!(average("1", 3), average("2", 6));
    assert_eq!(average("1", 2), decimal("0.5").into());
    assert!(average("1", 3) > decimal("0.33333333333333333333333333333333333333").into());
    assert!(average("1", 3) < Number::NaN.into());
    assert!(Quantity::from(Number::NegInfinity) < average("-1e9", 3));
}

#[test]
fn exact_differences_are_shown_whole() {
    let cases = [
        ("1e30", "1e-30", "999999999999999999999999999999.999999999999999999999999999999"),
        ("1e38", "1e-38", "99999999999999999999999999999999999999.99999999999999999999999999999999999999"),
        ("1e200", "1", "1e200"),
        ("0.3", "0.1", "0.2"),
    ];
    for (a, b, expected) in cases {
        let difference = Quantity::from(decimal(a)).minus(&decimal(b).into()).unwrap();
        assert_eq!(difference.to_string(), expected);
    }
}
