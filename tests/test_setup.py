"""setup.sh refuses a machine without the Python that it needs, before it changes anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[1] / "setup.sh"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "Arenite needs Python 3.11 or newer, and some-python is not found."),
        ('[ "$1" = --version ] && echo "Python 3.9.2"; exit 1', "Arenite needs Python 3.11 or newer; some-python is Python 3.9.2."),
    ],
    ids=["missing", "old"],
)
def test_python_that_is_missing_or_old(tmp_path: Path, script: str | None, message: str) -> None:
    if script is not None:
        (tmp_path / "some-python").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "some-python").chmod(0o755)
    environment = {**os.environ, "PYTHON": "some-python", "VENV": str(tmp_path / "venv"), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", SETUP], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(message) and "make PYTHON=" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "venv").exists()
