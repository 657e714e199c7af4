"""The public MLPerf Tiny networks and their data: never part of the project, so these tests skip where the folder is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with models/ and data/: $ARENITE_DATA, or ../shared/data beside the checkout."""
    folder = Path(os.environ.get("ARENITE_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "models" / "mlperf").is_dir():
        pytest.skip(f"real models are not here: {folder} (set ARENITE_DATA)")
    return folder
