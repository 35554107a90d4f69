"""The shapes of data that the benchmarks compare."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lib import venv

SEED = 20240607
# Raised whenever the generator writes other data for the same shape.
GENERATOR = 1
MILLION = 1_000_000
KEY = ["order_id", "account"]


@dataclass(frozen=True)
class Shape:
    """What a set of files looks like; the same shape always makes the same rows."""

    rows: int
    format: str = "parquet"
    sources: int = 2
    decimal: bool = False
    wide: bool = False
    one_key: bool = False
    amount_rate: float = 0.001
    qty_rate: float = 0.0005
    note_rate: float = 0.0002
    missing_rate: float = 0.0005


@dataclass(frozen=True)
class Dataset:
    """Files of a shape on disk, and the counts that every right answer has."""

    files: list[Path]
    source_rows: list[int]
    counts: dict

    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.stat().st_size for file in self.files)


BASE = Shape(5 * MILLION)
SAME = replace(BASE, amount_rate=0.0, qty_rate=0.0, note_rate=0.0, missing_rate=0.0)
SHAPES = {
    "parquet-5m": BASE,
    "csv-5m": replace(BASE, format="csv"),
    "parquet-20m": replace(BASE, rows=20 * MILLION),
    "csv-20m": replace(BASE, rows=20 * MILLION, format="csv"),
    "decimal-5m": replace(BASE, decimal=True),
    "same-5m": SAME,
    "all-different-5m": replace(SAME, amount_rate=1.0),
    "three-5m": replace(BASE, sources=3),
    "wide-1m": replace(BASE, rows=MILLION, wide=True),
    "parquet-1m": replace(BASE, rows=MILLION),
    "csv-1m": replace(BASE, rows=MILLION, format="csv"),
    "wide-200k": replace(BASE, rows=MILLION // 5, wide=True),
    "all-different-20m": replace(SAME, rows=20 * MILLION, amount_rate=1.0),
    "one-key-10m": replace(SAME, rows=10 * MILLION, amount_rate=0.000001, one_key=True),
    "one-key-all-different-10m": replace(SAME, rows=10 * MILLION, amount_rate=1.0, one_key=True),
}


def sized(name: str, rows: int | None) -> Shape:
    """Returns the named shape, with another number of rows if one is given."""
    shape = SHAPES[name]
    return shape if rows is None else replace(shape, rows=rows)


def prepare(name: str, shape: Shape, data: Path) -> Dataset:
    """Returns the files of the shape, generating them unless they are there already."""
    home = (data / f"{name.rsplit('-', 1)[0]}-{shape.rows}").resolve()
    made = home / "manifest.json"
    recipe = {"shape": asdict(shape), "seed": SEED, "generator": GENERATOR}
    if not made.exists() or json.loads(made.read_text())["recipe"] != recipe:
        print(f"generating {home}", file=sys.stderr)
        home.mkdir(parents=True, exist_ok=True)
        # In a process of its own: see the note on memory in measure.py.
        command = [venv.python_of("bench-venv"), "-m", "lib.generate", json.dumps(recipe), home]
        subprocess.run(command, check=True, cwd=Path(__file__).parent.parent)
    manifest = json.loads(made.read_text())
    return Dataset([home / file for file in manifest["files"]], manifest["source_rows"], manifest["counts"])
