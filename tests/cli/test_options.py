"""Sizes and shapes on the command line."""

from __future__ import annotations

import pytest
import typer
from arenite.cli.options import parse_shapes, parse_size
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(("text", "size"), [("65536", 65536), ("64k", 65536), ("64K", 65536), ("1M", 1 << 20), ("0", 0), (None, None)])
def test_sizes(text, size):
    assert parse_size(text, "--max-ram") == size


@pytest.mark.parametrize("text", ["", "k", "-1", "1.5k", "64 k", "64kB", "1G", "0x10"])
def test_no_sizes(text):
    with pytest.raises(typer.BadParameter):
        parse_size(text, "--max-ram")


@given(st.dictionaries(st.text(min_size=1), st.lists(st.integers(1, 9999), min_size=1, max_size=5), max_size=3))
def test_shapes(shapes):
    """Any name, even one with an equals sign in it."""
    words = [f"{name}={','.join(map(str, shape))}" for name, shape in shapes.items()]
    assert parse_shapes(words) == {name: tuple(shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("text", ["", "x", "x=", "=1,2", "x=1,,2", "x=1,a", "x=-1", "x=1,0", "x=1, 2"])
def test_no_shapes(text):
    with pytest.raises(typer.BadParameter):
        parse_shapes([text])


def test_one_shape_an_input():
    with pytest.raises(typer.BadParameter, match="two shapes"):
        parse_shapes(["x=1,2", "x=1,3"])
