"""The picture of the arena, against the plain meaning of the buffers."""

from __future__ import annotations

from dataclasses import replace

from arenite.report.arena_map import MAX_COLUMNS, MAX_ROWS, arena_map
from arenite.report.contents import Buffer
from hypothesis import given, settings
from hypothesis import strategies as st


def test_small(report):
    picture = arena_map(report)
    letters = {buffer.name: symbol for symbol, buffer in picture.symbols}
    rows = {(row.start, row.end): row.cells for row in picture.rows}
    x, t, c, out, scratch = (letters[name] for name in ("x", "t", "c", "a|b`c<script>", "scratch of conv <1> & co"))
    assert rows[(0, 2)] == f"{x}{x}{c}{c}·"
    assert rows[(16, 24)] == f"{x}{x}·{out}{out}"
    assert rows[(32, 56)] == f"·{t}{t}··"
    assert rows[(64, 80)] == f"··{scratch}··"


@st.composite
def arenas(draw):
    steps = draw(st.integers(1, 12))
    buffers = []
    for number in range(draw(st.integers(0, 60))):
        first = draw(st.integers(-1, steps))
        buffers.append(
            Buffer(
                f"t{number}",
                "activation",
                "arena",
                draw(st.integers(0, 500)),
                draw(st.integers(1, 90)),
                first,
                draw(st.integers(first, steps)),
            )
        )
    return steps, tuple(buffers)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(arenas())
def test_every_cell_shows_what_is_alive_there(report_of, arena):
    steps, buffers = arena
    report = report_of(steps, buffers)
    picture = arena_map(report)
    assert [buffer for _, buffer in picture.symbols] == sorted(buffers, key=lambda b: (b.first, b.offset, b.last))
    assert bool(picture.rows) == bool(buffers) and len(picture.rows) <= MAX_ROWS
    exact = len({0, report.arena_bytes, *(b.offset for b in buffers), *(b.offset + b.bytes for b in buffers)}) - 1 <= MAX_ROWS
    position = 0
    for row in picture.rows:
        assert row.start == position < row.end and len(row.cells) == steps + 2
        position = row.end
        for step, cell in zip(range(-1, steps + 1), row.cells, strict=True):
            alive = {s for s, b in picture.symbols if b.first <= step <= b.last and b.offset < row.end and row.start < b.offset + b.bytes}
            assert cell in alive or (cell == "·" and not alive)
            if exact:
                whole = {
                    s for s, b in picture.symbols if b.first <= step <= b.last and b.offset <= row.start and row.end <= b.offset + b.bytes
                }
                assert alive == whole
    assert not buffers or position == report.arena_bytes


def test_too_many_steps_are_not_drawn_but_listed(report_of):
    buffers = (Buffer("a", "activation", "arena", 0, 8, 0, MAX_COLUMNS),)
    picture = arena_map(report_of(MAX_COLUMNS, buffers))
    assert picture.rows == () and len(picture.symbols) == 1
    assert replace(report_of(3, buffers), buffers=()).buffers == ()
