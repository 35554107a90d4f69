"""reladiff on two PostgreSQL tables, all columns: reladiff_count.py URL URL TABLE COLUMN…; the first column is the key."""

import json
import os
import sys
import time
from importlib.metadata import version
from urllib.parse import unquote, urlsplit

from reladiff import connect_to_table, diff_tables


def table(url: str, name: str, key: str):
    """Connects to a table; reladiff's own URLs know no socket."""
    parts = urlsplit(url)
    host = unquote(parts.netloc.partition("@")[2].rpartition(":")[0])
    settings = {"driver": "postgresql", "host": host, "port": parts.port, "dbname": parts.path[1:], "user": parts.username}
    return connect_to_table(settings, name, key, thread_count=os.cpu_count())


def main() -> None:
    """Counts the rows that differ, each of which is told once for each table that has it."""
    left, right, name, key, *columns = sys.argv[1:]
    started = time.perf_counter()
    tables = [table(url, name, key) for url in (left, right)]
    found = diff_tables(*tables, extra_columns=tuple(columns), max_threadpool_size=os.cpu_count())
    differing = len({row[0] for _, row in found})
    print(json.dumps({"version": version("reladiff"), "seconds": time.perf_counter() - started, "differing": differing}))


if __name__ == "__main__":
    main()
