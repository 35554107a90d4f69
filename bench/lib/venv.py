"""Python environments with the packages a benchmark needs, made when missing."""

import os
import subprocess
import sys
from pathlib import Path

# datacompy holds polars back to an older release, so it lives apart from the others.
PACKAGES = {
    "bench-venv": ["duckdb", "numpy", "polars", "pyarrow"],
    "bench-venv-datacompy": ["datacompy", "polars", "pyarrow"],
    "bench-venv-reladiff": ["reladiff[postgresql]"],
    "bench-venv-queues": ["procrastinate", "psycopg[binary,pool]"],
}


def python_of(name: str) -> Path:
    """Returns the interpreter of the environment, which is created first if need be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "trueup" / name
    python = home / "bin" / "python"
    stamp = home / "installed"
    wanted = "\n".join(PACKAGES[name])
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {', '.join(PACKAGES[name])} into {home}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *PACKAGES[name]], check=True)
    stamp.write_text(wanted)
    return python
