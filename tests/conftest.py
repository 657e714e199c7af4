"""What concerns all tests."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `long` run with ARENITE_LONG=1 (`make test-long`) only."""
    if os.environ.get("ARENITE_LONG"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="large counts: make test-long"))
