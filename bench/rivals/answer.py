"""How a rival is asked, and the one form in which it answers."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Question:
    """What to compare."""

    files: list[str]
    key: list[str]
    by_column: bool

    def is_csv(self) -> bool:
        """Whether the files are CSV; otherwise they are Parquet."""
        return Path(self.files[0]).suffix == ".csv"


@dataclass
class Counts:
    """What was found; `by_column` only where it was asked for."""

    rows_compared: int
    matched_groups: int
    unmatched: list[int]
    different: int
    by_column: dict[str, int] | None = None


def answer(version: str, threads: int | None, compare: Callable[[Question], Counts]) -> None:
    """Compares what the command line names and prints counts and seconds.

    The clock starts after the imports, so a rival is not charged for the start of Python.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--key", required=True)
    parser.add_argument("--by-column", action="store_true")
    args = parser.parse_args()
    question = Question(args.files, args.key.split(","), args.by_column)
    started = time.perf_counter()
    counts = compare(question)
    seconds = time.perf_counter() - started
    print(json.dumps({"version": version, "threads": threads, "seconds": seconds, "counts": vars(counts)}))
