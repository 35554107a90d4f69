"""Who is measured: trueup, its rivals, and the bare decoding of the same files."""

import json
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lib import measure, venv
from lib.shapes import KEY, Dataset, Shape

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
ENVIRONMENTS = {
    "duckdb": "bench-venv",
    "polars": "bench-venv",
    "datacompy": "bench-venv-datacompy",
    "datacompy-polars": "bench-venv-datacompy",
}
# Those who keep both tables and their join in memory, uncompressed, and take long over it.
HEAVY = ("datacompy", "datacompy-polars")
# What they run on, as often as everyone: the same tables, small enough for that.
HEAVY_CASES = ("parquet-1m", "csv-1m", "wide-200k")
# What trueup also runs on with `--breaks`.
BREAKS_CASES = ("same-5m", "all-different-5m")


class WrongCounts(Exception):
    """A contender's counts are not those of the generated data."""


@dataclass
class Sample:
    """One run of one contender on one case; `compared_s` leaves out the start of Python."""

    case: str
    contender: str
    run: int
    wall_s: float
    compared_s: float
    cpu_s: float
    peak_bytes: int
    version: str
    threads: int | None


def sampled(contender: str, case: str, run: int, cost: measure.Cost, version: str = "") -> Sample:
    """Makes a sample of a process's cost, all of its time counting."""
    return Sample(case, contender, run, cost.wall_s, cost.wall_s, cost.cpu_s, cost.peak_bytes, version, None)


def expected(counts: dict, by_column: bool) -> dict:
    """Returns the generator's counts in the form in which contenders are checked."""
    checked = {name: counts[name] for name in ("rows_compared", "matched_groups", "unmatched", "different")}
    return checked | {"by_column": counts["different_by_column"] if by_column else None}


def check(who: str, found: dict, right: dict) -> None:
    """Refuses counts that are not right."""
    wrong = [f"  {name}: {found[name]}, not {right[name]}" for name in right if found[name] != right[name]]
    if wrong:
        raise WrongCounts("\n".join([f"{who} counts otherwise than the data was made:", *wrong]))


def trueup_counts(report: dict, by_column: bool) -> dict:
    """Reads the counts out of the JSON that `trueup diff` prints."""
    stats = report["join_stats"]
    outside = {entry["measure_name"]: entry["outside_tolerance_count"] for entry in report["tolerances"]}
    return {
        "rows_compared": report["rows_compared"],
        "matched_groups": stats["matched_groups"],
        "unmatched": list(stats["unmatched_by_source"].values()),
        "different": stats["matched_groups"] - report["rows_matched"],
        "by_column": outside if by_column else None,
    }


@dataclass(frozen=True)
class Trueup:
    """The binary under test."""

    binary: Path
    version: str
    name: str = "trueup"

    def takes(self, case: str) -> bool:
        """Everything."""
        return True

    def run(self, dataset: Dataset, options: list, by_column: bool) -> measure.Cost:
        """Compares the files, checks the counts, and returns the cost."""
        common = ["--key", ",".join(KEY), "--format", "json", "--quiet"]
        cost = measure.run([self.binary, "diff", *dataset.files, *common, *options], answers=(0, 1))
        try:
            found = trueup_counts(json.loads(cost.stdout), by_column)
        except (ValueError, KeyError) as problem:
            told = f"{self.binary} printed no report: {problem!r}\n{cost.stdout[:400]}"
            raise measure.CommandFailed(told) from problem
        check(self.name, found, expected(dataset.counts, by_column))
        return cost

    def sample(self, case: str, shape: Shape, dataset: Dataset, run: int) -> Sample:
        """Measures one comparison from start to exit."""
        cost = self.run(dataset, [], shape.wide)
        return sampled(self.name, case, run, cost, self.version)


@dataclass(frozen=True)
class TrueupBreaks:
    """The same binary, writing every break to a Parquet file."""

    trueup: Trueup
    name: str = "trueup-breaks"

    def takes(self, case: str) -> bool:
        """The cases without and with nothing but breaks."""
        return case in BREAKS_CASES

    def sample(self, case: str, shape: Shape, dataset: Dataset, run: int) -> Sample:
        """Measures one comparison from start to exit."""
        with tempfile.TemporaryDirectory() as home:
            cost = self.trueup.run(dataset, ["--breaks", Path(home) / "breaks.parquet"], shape.wide)
        return sampled(self.name, case, run, cost, self.trueup.version)


@dataclass(frozen=True)
class Decode:
    """The reader of trueup alone: every column of every file decoded and dropped."""

    binary: Path
    name: str = "decode"

    def takes(self, case: str) -> bool:
        """Everything."""
        return True

    def sample(self, case: str, shape: Shape, dataset: Dataset, run: int) -> Sample:
        """Measures one reading of all files; its answer is the number of rows."""
        cost = measure.run([self.binary, *dataset.files])
        check(self.name, {"rows": int(cost.stdout)}, {"rows": sum(dataset.source_rows)})
        return sampled(self.name, case, run, cost)


@dataclass(frozen=True)
class Rival:
    """A package from PyPI, run by a small script."""

    name: str
    python: Path

    def takes(self, case: str) -> bool:
        """Everything, but for the heavy only small tables."""
        return self.name not in HEAVY or case in HEAVY_CASES

    def sample(self, case: str, shape: Shape, dataset: Dataset, run: int) -> Sample:
        """Measures one comparison, the script's own clock leaving out the start of Python."""
        script = BENCH / "rivals" / f"{self.name.replace('-', '_')}_count.py"
        options = ["--key", ",".join(KEY), *(["--by-column"] if shape.wide else [])]
        cost = measure.run([self.python, script, *dataset.files, *options])
        told = json.loads(cost.stdout)
        check(self.name, told["counts"], expected(dataset.counts, shape.wide))
        sample = sampled(self.name, case, run, cost, told["version"])
        return replace(sample, compared_s=told["seconds"], threads=told["threads"])


def build_trueup(binary: Path | None) -> Trueup:
    """Returns the given binary, or the one that cargo builds."""
    if binary is None:
        subprocess.run(["cargo", "build", "--release", "--locked", "-p", "trueup-cli"], check=True, cwd=ROOT)
        binary = target_dir() / "release" / "trueup"
    binary = Path(shutil.which(binary) or binary).resolve()
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    return Trueup(binary, version.split()[-1])


def build_decode() -> Decode:
    """Builds the example that only decodes."""
    build = ["cargo", "build", "--release", "--locked", "-p", "trueup-extract", "--example", "decode"]
    subprocess.run(build, check=True, cwd=ROOT)
    return Decode(target_dir() / "release" / "examples" / "decode")


def target_dir() -> Path:
    """Asks cargo where it builds."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    told = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    return Path(json.loads(told.stdout)["target_directory"])


def rivals(names: list[str]) -> list[Rival]:
    """Returns the named rivals, installed."""
    return [Rival(name, venv.python_of(ENVIRONMENTS[name])) for name in names]


def raw(samples: list[Sample]) -> list[dict]:
    """Returns the samples as JSON can hold them."""
    return [asdict(sample) for sample in samples]
