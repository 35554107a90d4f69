"""datacompy: its documented comparison, of pandas data frames."""

import pandas as pd
from answer import Counts, Question, answer
from datacompy import PandasCompare, __version__
from datacompy.base import BaseCompare


def counted(found: BaseCompare, question: Question) -> Counts:
    """Reads the counts out of a finished comparison."""
    everywhere = len(found.intersect_rows)
    unmatched = [len(found.df1_unq_rows), len(found.df2_unq_rows)]
    different = everywhere - found.count_matching_rows()
    stats = [stat for stat in found.column_stats if stat["column"] not in question.key]
    by_column = {stat["column"]: int(stat["unequal_cnt"]) for stat in stats} if question.by_column else None
    return Counts(everywhere + sum(unmatched), everywhere, unmatched, int(different), by_column)


def compare(question: Question) -> Counts:
    """Reads both files and compares them."""
    read = pd.read_csv if question.is_csv() else pd.read_parquet
    left, right = (read(file) for file in question.files)
    return counted(PandasCompare(left, right, join_columns=question.key), question)


if __name__ == "__main__":
    answer(__version__, 1, compare)
