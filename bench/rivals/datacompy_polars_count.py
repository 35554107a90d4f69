"""datacompy: the faster of its comparisons, of Polars data frames."""

import polars as pl
from answer import Counts, Question, answer
from datacompy import PolarsCompare, __version__
from datacompy_count import counted


def compare(question: Question) -> Counts:
    """Reads both files and compares them."""
    read = pl.read_csv if question.is_csv() else pl.read_parquet
    left, right = (read(file) for file in question.files)
    return counted(PolarsCompare(left, right, join_columns=question.key), question)


if __name__ == "__main__":
    answer(__version__, pl.thread_pool_size(), compare)
