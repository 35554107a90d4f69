"""Polars: a lazy full join that only counts, on the streaming engine."""

import polars as pl
from answer import Counts, Question, answer


def joined(question: Question) -> pl.LazyFrame:
    """Joins all sources; the columns of source n end in `@n`."""
    scan = pl.scan_csv if question.is_csv() else pl.scan_parquet
    whole = None
    for source, file in enumerate(question.files):
        frame = scan(file)
        own = [name for name in frame.collect_schema().names() if name not in question.key]
        frame = frame.rename({name: f"{name}@{source}" for name in own})
        frame = frame.with_columns(pl.lit(True).alias(f"in@{source}"))
        whole = frame if whole is None else whole.join(frame, on=question.key, how="full", coalesce=True)
    return whole


def compare(question: Question) -> Counts:
    """Counts over the join."""
    scan = pl.scan_csv if question.is_csv() else pl.scan_parquet
    columns = [name for name in scan(question.files[0]).collect_schema().names() if name not in question.key]
    sources = range(len(question.files))
    present = [pl.col(f"in@{source}").is_not_null() for source in sources]
    everywhere = pl.all_horizontal(present)
    differs = {
        name: pl.any_horizontal([pl.col(f"{name}@0").ne_missing(pl.col(f"{name}@{source}")) for source in sources[1:]])
        for name in columns
    }
    wanted = [
        pl.len().alias("rows"),
        everywhere.sum().alias("everywhere"),
        (everywhere & pl.any_horizontal(list(differs.values()))).sum().alias("different"),
        *((has & ~everywhere).sum().alias(f"only@{source}") for source, has in enumerate(present)),
    ]
    if question.by_column:
        wanted += [(everywhere & outside).sum().alias(name) for name, outside in differs.items()]
    found = joined(question).select(wanted).collect(engine="streaming").row(0, named=True)
    by_column = {name: found[name] for name in columns} if question.by_column else None
    unmatched = [found[f"only@{source}"] for source in sources]
    return Counts(found["rows"], found["everywhere"], unmatched, found["different"], by_column)


if __name__ == "__main__":
    answer(pl.__version__, pl.thread_pool_size(), compare)
