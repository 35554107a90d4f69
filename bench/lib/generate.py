"""Writes the files of a shape: every value is a function of the seed and the row's number."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from lib.shapes import Shape

# pyarrow's own default for the rows of a row group.
ROW_GROUP_ROWS = 1 << 20
ACCOUNTS = pa.array([f"AC{number:08d}" for number in range(200_000)])
CURRENCIES = pa.array(["AUD", "CAD", "CHF", "EUR", "GBP", "JPY", "NOK", "NZD", "SEK", "USD"])
FIRST_DAY = 19_723
HEX_PAIRS = np.array([f"{byte:02x}" for byte in range(256)], dtype="S2")


@dataclass(frozen=True)
class Column:
    """A column, and the share of rows in which later sources differ from the first."""

    name: str
    kind: str
    salt: int
    rate: float = 0.0


def mix(rows: np.ndarray, salt: int) -> np.ndarray:
    """Scrambles row numbers into 64 bits each (the finaliser of splitmix64)."""
    word = (rows + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt * 0xD1342543DE82EF95 % 2**64)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def chosen(rows: np.ndarray, salt: int, rate: float) -> np.ndarray:
    """Says which rows belong to a random share of all."""
    if rate >= 1:
        return np.ones(len(rows), dtype=bool)
    return mix(rows, salt) < np.uint64(int(rate * 2**64))


def columns_of(shape: Shape, seed: int) -> list[Column]:
    """Lists the columns of the shape, the two of the key first."""
    money = "decimal" if shape.decimal else "double"
    keys = [("one_order", 0.0), ("one_account", 0.0)] if shape.one_key else [("order", 0.0), ("account", 0.0)]
    if shape.wide:
        kinds = ["double", "bigint", "text16", "double", "date"]
        names = ["order_id", "account", *(f"c{number:02d}" for number in range(98))]
        values = [(kinds[number % 5], shape.qty_rate if number % 10 == 3 else 0.0) for number in range(98)]
    else:
        names = ["order_id", "account", "trade_date", "ccy", "amount", "qty", "price", "note"]
        values = [
            ("date", 0.0),
            ("currency", 0.0),
            (money, shape.amount_rate),
            ("int", shape.qty_rate),
            (money, 0.0),
            ("text32", shape.note_rate),
        ]
    kinds_and_rates = zip(names, [*keys, *values], strict=True)
    return [Column(name, kind, seed + 1000 * at, rate) for at, (name, (kind, rate)) in enumerate(kinds_and_rates)]


def changed(column: Column, rows: np.ndarray, source: int) -> np.ndarray:
    """Says in which rows the source's value differs from the first source's."""
    if source == 0 or column.rate == 0:
        return np.zeros(len(rows), dtype=bool)
    return chosen(rows, column.salt + source, column.rate)


def missing(shape: Shape, rows: np.ndarray, source: int, seed: int) -> np.ndarray:
    """Says which rows the source does not have."""
    return chosen(rows, seed - 1 - source, shape.missing_rate)


def hexadecimal(words: list[np.ndarray]) -> pa.Array:
    """Writes 16 hexadecimal digits for each word of each row."""
    count, width = len(words[0]), 16 * len(words)
    digits = HEX_PAIRS[np.stack(words, axis=1).view(np.uint8).ravel()]
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(digits)))


def decimals(cents: np.ndarray) -> pa.Array:
    """Makes decimal(18,2) of whole cents."""
    words = np.stack([cents, cents >> 63], axis=1)
    return pa.Array.from_buffers(pa.decimal128(18, 2), len(cents), [None, pa.py_buffer(np.ascontiguousarray(words))])


def values(column: Column, rows: np.ndarray, source: int) -> pa.Array:
    """Makes the column's values in the given rows of a source."""
    word = mix(rows, column.salt)
    # A changed value is a little larger, so it is never the one it was.
    bump = np.where(changed(column, rows, source), 1 + word % np.uint64(500), 0).astype(np.int64)

    def below(limit: int) -> np.ndarray:
        return (word % np.uint64(limit)).astype(np.int64) + bump

    match column.kind:
        case "order":
            return pa.array(rows.astype(np.int64) + 1_000_000_000)
        case "one_order":
            return pa.array(np.full(len(rows), 1_000_000_000))
        case "account":
            return ACCOUNTS.take(pa.array(below(len(ACCOUNTS))))
        case "one_account":
            return ACCOUNTS.take(pa.array(np.zeros(len(rows), dtype=np.int64)))
        case "currency":
            return CURRENCIES.take(pa.array(below(len(CURRENCIES))))
        case "date":
            return pa.array((FIRST_DAY + below(730)).astype(np.int32)).cast(pa.date32())
        case "double":
            return pa.array(below(100_000_000) / 100)
        case "decimal":
            return decimals(below(100_000_000))
        case "int":
            return pa.array(below(10_000).astype(np.int32))
        case "bigint":
            return pa.array(below(1 << 40))
        case "text16":
            return hexadecimal([word + bump.view(np.uint64)])
        case "text32":
            first = word + bump.view(np.uint64)
            return hexadecimal([first, mix(first, 1)])
    raise ValueError(f"no such kind of column: {column.kind}")


def write_source(shape: Shape, seed: int, source: int, file: Path) -> int:
    """Writes one source in a random order of its own and returns its number of rows."""
    columns = columns_of(shape, seed)
    rows = np.arange(shape.rows, dtype=np.uint64)
    rows = np.random.default_rng([seed, source]).permutation(rows[~missing(shape, rows, source, seed)])

    def table(start: int) -> pa.Table:
        some = rows[start : start + ROW_GROUP_ROWS]
        return pa.table({column.name: values(column, some, source) for column in columns})

    schema = table(len(rows)).schema
    opened = pa.parquet.ParquetWriter if shape.format == "parquet" else pa.csv.CSVWriter
    with opened(file, schema) as writer:
        for start in range(0, len(rows), ROW_GROUP_ROWS):
            writer.write_table(table(start))
    return len(rows)


def counts(shape: Shape, seed: int) -> dict:
    """Works out what a right comparison finds, from the rules and not from the files."""
    rows = np.arange(shape.rows, dtype=np.uint64)
    present = [~missing(shape, rows, source, seed) for source in range(shape.sources)]
    everywhere = np.logical_and.reduce(present)
    per_column = {}
    different = np.zeros(shape.rows, dtype=bool)
    for column in columns_of(shape, seed)[2:]:
        outside = np.logical_or.reduce([changed(column, rows, source) for source in range(shape.sources)]) & everywhere
        per_column[column.name] = int(outside.sum())
        different |= outside
    return {
        "rows_compared": int(np.logical_or.reduce(present).sum()),
        "matched_groups": int(everywhere.sum()),
        "unmatched": [int((has & ~everywhere).sum()) for has in present],
        "different": int(different.sum()),
        "different_by_column": per_column,
    }


def main() -> None:
    """Writes the files of the recipe given as JSON into a directory, and last of all their manifest."""
    recipe, home = json.loads(sys.argv[1]), Path(sys.argv[2])
    shape, seed = Shape(**recipe["shape"]), recipe["seed"]
    files = [f"source_{source}.{shape.format}" for source in range(shape.sources)]
    source_rows = [write_source(shape, seed, source, home / file) for source, file in enumerate(files)]
    manifest = {"recipe": recipe, "files": files, "source_rows": source_rows, "counts": counts(shape, seed)}
    (home / "manifest.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
