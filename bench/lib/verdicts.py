"""Turns samples into tables: medians, ratios, and whether the targets are reached."""

import statistics
from dataclasses import dataclass

from lib.contenders import HEAVY, HEAVY_CASES, Sample

MB = 1_000_000
FIELDS = ("compared_s", "wall_s", "peak_bytes")


@dataclass(frozen=True)
class Median:
    """The middle of a contender's runs on one case."""

    runs: int
    compared_s: float
    wall_s: float
    peak_bytes: float


@dataclass(frozen=True)
class Target:
    """A ratio that must not be exceeded: `who` on `case` over `rival` on `rival_case`, in time or memory."""

    what: str
    case: str
    rival: str
    rival_case: str
    field: str
    at_most: float
    who: str = "trueup"


def targets() -> list[Target]:
    """Lists what is to be reached."""
    listed = []
    for case in ("parquet-5m", "parquet-20m", "csv-5m", "csv-20m"):
        listed.append(Target(f"{case}: time to DuckDB", case, "duckdb", case, "compared_s", 0.75))
        listed.append(Target(f"{case}: peak memory to DuckDB", case, "duckdb", case, "peak_bytes", 0.55))
    wide, different = "wide-1m", "all-different-5m"
    listed.append(Target(f"{wide}: time to DuckDB", wide, "duckdb", wide, "compared_s", 0.6))
    for case in HEAVY_CASES:
        for rival in HEAVY:
            listed.append(Target(f"{case}: time to {rival}", case, rival, case, "compared_s", 0.1))
    for who in ("trueup", "trueup-breaks"):
        what = f"{different}: time of {who} to same-5m"
        listed.append(Target(what, different, who, "same-5m", "compared_s", 3.0, who))
    return listed


def medians(samples: list[Sample]) -> dict[tuple[str, str], Median]:
    """Groups the samples by case and contender, in the order in which they first appear."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.case, sample.contender), []).append(sample)
    return {
        which: Median(len(runs), *(statistics.median(getattr(run, field) for run in runs) for field in FIELDS))
        for which, runs in groups.items()
    }



def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Lays out a table."""
    rule = ["---" if at == 0 else "---:" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def results(found: dict[tuple[str, str], Median], cases: list[str]) -> str:
    """Shows each contender's medians and what trueup takes of them."""
    rows = []
    for case in cases:
        ours = found.get((case, "trueup"))
        for (of, contender), median in sorted(found.items(), key=lambda item: item[0][1] != "trueup"):
            if of != case:
                continue
            ratios = ["", ""]
            if ours and contender != "trueup":
                ratios = [f"{ours.compared_s / median.compared_s:.2f}", f"{ours.peak_bytes / median.peak_bytes:.2f}"]
            peak = f"{median.peak_bytes / MB:,.0f}"
            times = [f"{median.compared_s:.2f}", f"{median.wall_s:.2f}"]
            rows.append([case, contender, str(median.runs), *times, peak, *ratios])
    head = ["case", "contender", "runs", "s", "process s", "peak MB", "trueup's time", "trueup's memory"]
    return markdown(head, rows)


def judged(found: dict[tuple[str, str], Median]) -> str:
    """Shows the targets that this run can judge."""
    rows = []
    for target in targets():
        ours, theirs = found.get((target.case, target.who)), found.get((target.rival_case, target.rival))
        if ours and theirs:
            ratio = getattr(ours, target.field) / getattr(theirs, target.field)
            verdict = "ok" if ratio <= target.at_most else "miss"
            rows.append([target.what, f"{ratio:.2f}", f"{target.at_most:.2f}", verdict])
    return markdown(["target", "ratio", "at most", "verdict"], rows)
