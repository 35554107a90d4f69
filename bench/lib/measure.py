"""Runs a command and says what it cost."""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


class CommandFailed(Exception):
    """A measured command ended with an exit code that is not one of its answers."""


@dataclass
class Cost:
    """What one run of a command took, its children included."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    stdout: str
    exit_code: int


def run(command: list, answers: tuple = (0,), env: dict | None = None, cwd: Path | None = None) -> Cost:
    """Runs the command to its end; an exit code outside `answers` is an error.

    The kernel counts the memory of the process that forks towards the child's peak,
    which is why nothing large may be imported here.
    """
    command = [str(part) for part in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=env, cwd=cwd)
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode not in answers:
            raise CommandFailed(f"exit {child.returncode}: {' '.join(command)}\n{err.read()[-4000:]}")
        return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.read(), child.returncode)


def warm(files: list[Path]) -> None:
    """Reads the files once, so that every contender finds them in the page cache."""
    block = bytearray(1 << 20)
    for file in files:
        with file.open("rb", buffering=0) as stream:
            while stream.readinto(block):
                pass
