"""DuckDB: one query of FULL OUTER JOINs that only counts, default settings."""

import duckdb
from answer import Counts, Question, answer


def any_differs(column: str, sources: range) -> str:
    """Writes the condition that some source's value is not the first source's."""
    return " OR ".join(f"s0.{column} IS DISTINCT FROM s{source}.{column}" for source in sources[1:])


def query(question: Question, columns: list[str]) -> str:
    """Writes the query: distinct, everywhere, unmatched per source, then different rows or each column's."""
    read = "read_csv" if question.is_csv() else "read_parquet"
    sources = range(len(question.files))
    # No key column is NULL in the generated data, so a NULL means that the source lacks the row.
    present = [f"s{source}.{question.key[0]} IS NOT NULL" for source in sources]
    everywhere = " AND ".join(present)
    joined = f"{read}('{question.files[0]}') s0" + "".join(
        f" FULL OUTER JOIN {read}('{question.files[source]}') s{source} USING ({', '.join(question.key)})"
        for source in sources[1:]
    )
    row_differs = " OR ".join(any_differs(column, sources) for column in columns)
    unmatched = [f"{has} AND NOT ({everywhere})" for has in present]
    conditions = [everywhere, *unmatched, f"{everywhere} AND ({row_differs})"]
    if question.by_column:
        conditions += [f"{everywhere} AND ({any_differs(column, sources)})" for column in columns]
    return f"SELECT count(*), {', '.join(f'count(*) FILTER ({condition})' for condition in conditions)} FROM {joined}"


def compare(question: Question) -> Counts:
    """Runs the query."""
    read = duckdb.read_csv if question.is_csv() else duckdb.read_parquet
    columns = [column for column in read(question.files[0]).columns if column not in question.key]
    found = duckdb.execute(query(question, columns)).fetchone()
    rows, everywhere, *rest = found
    count = len(question.files)
    by_column = dict(zip(columns, rest[count + 1 :], strict=True)) if question.by_column else None
    return Counts(rows, everywhere, rest[:count], rest[count], by_column)


if __name__ == "__main__":
    threads = duckdb.execute("SELECT current_setting('threads')").fetchone()[0]
    answer(duckdb.__version__, threads, compare)
