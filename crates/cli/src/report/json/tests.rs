//! The JSON report of samples, whole.

use super::super::{Format, Look, samples};
use super::{numeral_or_text, spelt};

#[test]
fn unmatched() {
    insta::assert_snapshot!(samples::unmatched(Format::Json, Look::PLAIN), @r#"
    {
      "source_row_counts": {
        "ledger": 1000,
        "bank": 1005
      },
      "join_stats": {
        "matched_groups": 980,
        "unmatched_by_source": {
          "ledger": 5,
          "bank": 20
        }
      },
      "tolerances": [
        {
          "measure_name": "amount",
          "tolerance_type": "ABSOLUTE",
          "tolerance_value": 0.01,
          "tolerance_base": null,
          "allowed": 0,
          "within_tolerance_count": 975,
          "outside_tolerance_count": 5,
          "passed": false,
          "largest_difference": "0.03"
        },
        {
          "measure_name": "booked",
          "tolerance_type": "DURATION",
          "tolerance_value": "-1d..+3d",
          "tolerance_base": null,
          "allowed": 0,
          "within_tolerance_count": 980,
          "outside_tolerance_count": 0,
          "passed": true,
          "largest_difference": null
        },
        {
          "measure_name": "note",
          "tolerance_type": "EXACT",
          "tolerance_value": null,
          "tolerance_base": null,
          "allowed": 0,
          "within_tolerance_count": 978,
          "outside_tolerance_count": 2,
          "passed": false,
          "largest_difference": null
        }
      ],
      "result": "UNMATCHED",
      "rows_compared": 1005,
      "rows_matched": 975,
      "rows_unmatched": 30,
      "sources": [
        {
          "name": "ledger",
          "path": "ledger.csv",
          "read_as": "CSV, UTF-8, `,` `\"`"
        },
        {
          "name": "bank",
          "path": "bank.parquet",
          "read_as": "Parquet"
        }
      ],
      "key": [
        "txn_id",
        "account"
      ],
      "key_report": {
        "ledger": {
          "rows": 1000,
          "distinct_keys": 999,
          "duplicated_keys": 1,
          "null_keys": 0,
          "type_drift": {
            "txn_id": "text"
          }
        },
        "bank": {
          "rows": 1005,
          "distinct_keys": 1005,
          "duplicated_keys": 0,
          "null_keys": 2,
          "type_drift": {
            "txn_id": "number"
          }
        }
      },
      "columns": [
        {
          "name": "txn_id",
          "role": "key",
          "compared_as": "text",
          "types": {
            "ledger": "text",
            "bank": "Utf8"
          },
          "notes": [
            "text in ledger because of one value of 1000: `N/A` (ledger.csv, line 17); all others are numbers"
          ]
        },
        {
          "name": "amount",
          "role": "compared",
          "compared_as": "number",
          "types": {
            "ledger": "text: number",
            "bank": "Decimal128(18, 2)"
          },
          "notes": []
        },
        {
          "name": "memo",
          "role": "missing",
          "compared_as": null,
          "types": {
            "ledger": "text",
            "bank": null
          },
          "notes": []
        }
      ],
      "totals": {
        "amount": {
          "ledger": "12345678901234567890.12",
          "bank": "12345678901234567890.27"
        }
      },
      "findings": [
        {
          "column": "memo",
          "problem": "missing in bank"
        }
      ],
      "notes": [
        "1 key has many rows"
      ],
      "concentration": [
        {
          "column": "ccy",
          "value": "<JPY>",
          "rows": 40,
          "broken_rows": 12,
          "all_rows": 2005,
          "all_broken_rows": 35
        }
      ],
      "breaks": [
        {
          "key": {
            "txn_id": "T-1",
            "account": "DE|01"
          },
          "occurrence": 1,
          "status": "outside",
          "present_in": [
            "ledger",
            "bank"
          ],
          "key_in": [
            "ledger",
            "bank"
          ],
          "measures": [
            {
              "measure_name": "amount",
              "values": {
                "ledger": "10.00",
                "bank": "10.03"
              },
              "outside": true,
              "pair": [
                "ledger",
                "bank"
              ],
              "difference": "0.03"
            },
            {
              "measure_name": "note",
              "values": {
                "ledger": "a long note that begins alike <one> and goes on & on, and ends alike as well",
                "bank": "a long note that begins alike <two> and goes on & on, and ends alike as well"
              },
              "outside": true,
              "pair": [
                "ledger",
                "bank"
              ],
              "difference": null
            }
          ]
        },
        {
          "key": {
            "txn_id": "T-2",
            "account": null
          },
          "occurrence": 1,
          "status": "outside",
          "present_in": [
            "ledger",
            "bank"
          ],
          "key_in": [
            "ledger",
            "bank"
          ],
          "measures": [
            {
              "measure_name": "amount",
              "values": {
                "ledger": "7.5",
                "bank": null
              },
              "outside": true,
              "pair": [
                "ledger",
                "bank"
              ],
              "difference": null
            }
          ]
        },
        {
          "key": {
            "txn_id": "T-3",
            "account": "DE02"
          },
          "occurrence": 1,
          "status": "unmatched",
          "present_in": [
            "bank"
          ],
          "key_in": [
            "bank"
          ],
          "measures": [
            {
              "measure_name": "amount",
              "values": {
                "bank": "1"
              },
              "outside": false,
              "pair": null,
              "difference": null
            },
            {
              "measure_name": "booked",
              "values": {
                "bank": "2026-02-01"
              },
              "outside": false,
              "pair": null,
              "difference": null
            },
            {
              "measure_name": "note",
              "values": {
                "bank": ""
              },
              "outside": false,
              "pair": null,
              "difference": null
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn tolerances_keep_their_digits() {
    let cases = [
        ("0.010", "0.010"),
        ("0.5%", "0.5"),
        ("12345678901234567890.000000000000000001", "12345678901234567890.000000000000000001"),
        ("2d", "\"2d\""),
        ("-1d..+3d", "\"-1d..+3d\""),
    ];
    for (value, json) in cases {
        assert_eq!(numeral_or_text(value).get(), json);
    }
}

#[test]
fn terminals_are_left_alone() {
    assert_eq!(spelt("{\n\"a\": \"\u{9b}31m\u{202e}é\"}"), "{\n\"a\": \"\\u009b31m\\u202eé\"}");
}
