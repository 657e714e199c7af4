"""Sizes, shapes, values and states on the command line."""

from __future__ import annotations

import pytest
import typer
from arenite.cli.options import parse_memories, parse_rooms, parse_shapes, parse_size, parse_states, parse_values
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(("text", "size"), [("65536", 65536), ("64k", 65536), ("64K", 65536), ("1M", 1 << 20), ("0", 0), (None, None)])
def test_sizes(text, size):
    assert parse_size(text, "--max-ram") == size


@pytest.mark.parametrize("text", ["", "k", "-1", "1.5k", "64 k", "64kB", "1G", "0x10", "２０００", "32KiB", "1e3"])
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


def test_values():
    assert parse_values(["sr=16000", "a=b=-1.5e3"]) == {"sr": 16000, "a=b": -1500}


@pytest.mark.parametrize("texts", [["x"], ["x="], ["=1"], ["x=one"], ["x=1", "x=1"]])
def test_no_values(texts):
    with pytest.raises(typer.BadParameter):
        parse_values(texts)


def test_states():
    assert parse_states(["h_next=h", "c_next=c"]) == {"h_next": "h", "c_next": "c"}


@pytest.mark.parametrize("texts", [["h"], ["h="], ["=h"], ["o=h", "o=g"]])
def test_no_states(texts):
    with pytest.raises(typer.BadParameter):
        parse_states(texts)


def test_memories():
    assert parse_memories(None) == ()
    assert parse_memories("dtcm=64k,sram_2=1M,sdram") == (("dtcm", 65536), ("sram_2", 1 << 20), ("sdram", None))
    assert parse_memories("board") == (), "those of --board, which pipeline.ConvertOptions.board_memories asks for"
    assert parse_memories("board=1k") == (("board", 1024),)


def test_rooms():
    assert parse_rooms(None) == ()
    assert parse_rooms("dtcm,sram=1k,itcm") == (("dtcm", None), ("sram", 1024), ("itcm", None))
    for text in ("", "=64k", "a=", "a,A", "1a=1k"):
        with pytest.raises(typer.BadParameter, match=r"--weights-in|NAME=SIZE|no size|twice"):
            parse_rooms(text)


@pytest.mark.parametrize("text", ["", "=64k", "a=", "a=64kB", "a,b=1k", "a=1k,A=2k", "a=1k,,b", "a b=1k", "1a=1k", "a=1k,b=-1"])
def test_no_memories(text):
    with pytest.raises(typer.BadParameter):
        parse_memories(text)
