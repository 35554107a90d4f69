"""A ledger in a database, and the program that makes, keeps and reads it: `crates/extract/examples/rows.rs`."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from lib import measure
from lib.contenders import ROOT

# A believable ledger; every value follows from the number of its row.
TABLE = """
create table {name} (
    id bigint not null, booked_on date not null, account text not null, amount numeric(18,2), posted_at timestamptz, memo text
);
insert into {name}
select i, date '2024-01-01' + (i % 700)::int, 'GB' || lpad((i * 7919 % 100003)::text, 8, '0'), ((i * 104729) % 100000007 - 50000000)::numeric / 100,
    timestamptz '2024-01-01 08:00Z' + i * interval '1.000037 s', case when i % 5 > 0 then 'invoice ' || i end
from generate_series(1, {rows}::bigint) as i;
alter table {name} add primary key (id);
vacuum analyze {name};
"""
SQLITE_TABLE = """
create table ledger (id integer primary key, booked_on text, account text, amount numeric, posted_at text, memo text);
with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < {rows})
insert into ledger
select i, date('2024-01-01', (i % 700) || ' days'), printf('GB%08d', i * 7919 % 100003), ((i * 104729) % 100000007 - 50000000) / 100.0,
    datetime('2024-01-01 08:00', i || ' seconds'), case when i % 5 > 0 then 'invoice ' || i end
from numbers;
"""


def release_folder() -> Path:
    """Returns where Cargo leaves what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"


def build() -> Path:
    """Builds the program."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "trueup-extract", "--example", "rows"]
    subprocess.run(command, cwd=ROOT, check=True)
    return release_folder() / "examples" / "rows"


@contextlib.contextmanager
def postgres(program: Path) -> Iterator[Callable[[], str]]:
    """Keeps a server, gone at the end; whoever calls what it gives gets the URL of a fresh database."""
    with subprocess.Popen([program, "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def database() -> str:
            server.stdin.write("another\n")
            server.stdin.flush()
            return server.stdout.readline().strip()

        yield database
        server.stdin.close()


def seed(program: Path, url: str, sql: str) -> None:
    """Runs statements one by one: some of them want no transaction around them."""
    for statement in filter(str.strip, sql.split(";\n")):
        measure.run([program, "seed", "postgres", url, statement])
