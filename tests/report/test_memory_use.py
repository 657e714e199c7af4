"""The memory over time, against a map of every byte; its text, picture, page and JSON; and the advice."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest
from arenite.errors import ArtifactError
from arenite.report import KernelOffer, from_json, memory_to_csv, memory_to_html, memory_to_json, memory_to_svg, render_memory_use, to_json
from arenite.report.contents import Buffer
from arenite.report.memory_advice import advice
from arenite.report.memory_text import BAR, bar
from arenite.report.memory_use import memory_use, overlaps
from hypothesis import given, settings
from hypothesis import strategies as st
from report.pages import Page, text_of


@st.composite
def arenas(draw):
    steps = draw(st.integers(1, 10))
    buffers = []
    for number in range(draw(st.integers(0, 25))):
        first = draw(st.integers(-1, steps))
        place = draw(st.integers(0, 200)), draw(st.integers(1, 60))
        buffers.append(
            Buffer(f"t{number}", draw(st.sampled_from(["activation", "state"])), "arena", *place, first, draw(st.integers(first, steps)))
        )
    return steps, tuple(buffers)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(arenas())
def test_against_a_map_of_bytes(report_of, arena):
    steps, buffers = arena
    report = report_of(steps, buffers)
    (use,) = memory_use(report)
    assert [step.step for step in use.steps] == list(range(-1, steps + 1))
    most = 0
    for step in use.steps:
        owners: dict[int, int] = {}
        for b in buffers:
            if b.first <= step.step <= b.last:
                for byte in range(b.offset, b.offset + b.bytes):
                    owners[byte] = owners.get(byte, 0) + 1
        assert step.bytes == len(owners) and step.end == max([byte + 1 for byte in owners], default=0)
        assert step.shared_bytes == sum(count - 1 for count in owners.values())
        most = max(most, len(owners))
    assert use.peak.bytes == most
    ends = [b.offset + b.bytes for b in buffers if b.first == -1 or b.last == steps]
    assert use.between == max(ends, default=0)
    states = {byte for b in buffers if b.kind == "state" and b.last == steps for byte in range(b.offset, b.offset + b.bytes)}
    assert use.kept == len(states)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(arenas())
def test_overlaps_are_where_two_tensors_are(arena):
    steps, buffers = arena
    drawn = {(step, byte) for low, high, first, last in overlaps(buffers) for step in range(first, last + 1) for byte in range(low, high)}
    for step in range(-1, steps + 1):
        alive = [b for b in buffers if b.first <= step <= b.last]
        for byte in range(300):
            several = sum(b.offset <= byte < b.offset + b.bytes for b in alive) > 1
            assert several == ((step, byte) in drawn)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(arenas())
def test_every_picture_is_well_formed(report_of, arena):
    report = report_of(*arena)
    picture = ElementTree.fromstring(memory_to_svg(report))
    rectangles = picture.findall(".//{*}rect")
    kinds = [rectangle.get("class") for rectangle in rectangles]
    assert kinds.count("buffer") == len(arena[1]) and kinds.count("overlap") == len(overlaps(arena[1])) and kinds.count("peak") == 1
    width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
    for rectangle in rectangles:
        x, y, w, h = (float(rectangle.get(key, -1)) for key in ("x", "y", "width", "height"))
        assert x >= 0 <= y and w > 0 < h and x + w <= width + 0.01 and y + h <= height + 0.01
    text_of(render_memory_use(report))
    memory_to_html(report)


def test_the_views_say_where_the_peak_is(report):
    """At step 0 x and its transpose are there, 24 bytes each; at the convolution 24 + 2 + 16."""
    (use,) = memory_use(report)
    assert (use.peak.step, use.peak.bytes) == (0, 48)
    text, page, value = text_of(render_memory_use(report)), memory_to_html(report), memory_to_json(report)
    assert "net needs 132 bytes of RAM: arena 80, session 52." in text and "Peak of arena: step 0, edge: 48 of 80 bytes in use." in text
    assert re.search(r"0  edge .* 48 .*[█▏▎▍▌▋▊▉] ◀ peak", text) and text.count("◀") == 1
    assert "step 0, edge: 48 of 80 bytes" in page and "conv &lt;1&gt; &amp; co" in page and "<script>" not in page
    parser = Page()
    parser.feed(page)
    assert parser.open == [] and parser.links == [] and parser.classes.count("buffer") == len(report.buffers)
    memory = json.loads(json.dumps(value))["memories"][0]
    assert memory["peak"]["step"] == 0 and memory["peak"]["bytes"] == 48 and memory["between_bytes"] == 24
    assert [step["bytes"] for step in memory["steps"]] == [24, 48, 42, 10, 8]
    assert [step["end"] for step in memory["steps"]] == [24, 56, 80, 24, 24]


def test_every_memory_is_shown(report):
    buffers = (*report.buffers, Buffer("far", "activation", "sdram", 0, 500, 0, 1))
    two = replace(report, buffers=buffers, memories=(("arena", 80), ("sdram", 500), ("unused", 0)))
    assert [(use.name, use.peak.bytes) for use in memory_use(two)] == [("arena", 48), ("sdram", 500)]
    assert "arena 80, sdram 500, unused 0" in text_of(render_memory_use(two)) and memory_to_html(two).count("<svg") == 2


def test_csv(report):
    """What JSON says, of every memory."""
    buffers = (*report.buffers, Buffer("far", "activation", "sdram", 0, 500, 0, 1))
    two = replace(report, buffers=buffers, memories=(("arena", 80), ("sdram", 500)))
    rows = list(csv.DictReader(StringIO(memory_to_csv(two))))
    expected = [
        {"memory": memory["name"], **{key: str(value) for key, value in step.items()}}
        for memory in memory_to_json(two)["memories"]
        for step in memory["steps"]
    ]
    assert rows == expected and len(rows) == 2 * (len(report.layers) + 2)


def test_advice_of_an_earlier_version(report):
    """Its report does not say what other kernels need: no kernel is recommended, and the reader is told why."""
    offers = (KernelOffer("wide", 1000, 56), KernelOffer("lean", 9000, 50))
    layers = (report.layers[0], replace(report.layers[1], offers=offers), report.layers[2])
    scratch = replace(report.buffers[-1], bytes=100)
    value = to_json(replace(report, layers=layers, buffers=(*report.buffers[:-1], scratch), memories=(("arena", 164),)))
    assert from_json(value, "r").layers[1].offers == offers
    for offer in value["layers"][1]["offers"]:
        del offer["scratch_bytes"]
    old = from_json(value, "r")
    (said,) = [sentence for sentence in advice(old) if "scratch memory" in sentence]
    assert said.startswith("100 bytes at the peak are scratch memory of conv <1> & co (wide).")
    assert said.endswith("is not in this report, which Arenite 9.9.9 wrote: convert the model again.") and "lean" not in said
    assert to_json(old)["layers"][1]["offers"][0]["scratch_bytes"] is None


def test_reports_that_cannot_be_read(report):
    value = to_json(report)
    for missing in ("buffers", "values", "states", "precision"):
        with pytest.raises(
            ArtifactError, match=rf"r was written by Arenite 9\.9\.9 and lacks '{missing}', which Arenite .* needs: convert"
        ):
            from_json({key: held for key, held in value.items() if key != missing}, "r")
    with pytest.raises(ArtifactError, match=r"r is not a report of this version of `convert` \(TypeError.*: convert the model again"):
        from_json({**value, "buffers": None}, "r")
    for other in ({}, {"producer": 3}, {"producer": None, "model": "m"}):
        with pytest.raises(ArtifactError, match=r"r is not a report of `convert` \(KeyError"):
            from_json(other, "r")


def test_bands_are_told_apart(report):
    banded = replace(report, layers=(report.layers[0], replace(report.layers[1], band=("c", 4, 6)), report.layers[2]))
    assert "conv <1> & co, rows 4 to 5" in text_of(render_memory_use(banded))
    assert memory_use(banded)[0].steps[2].layer == "conv <1> & co, rows 4 to 5" and memory_use(banded)[0].steps[1].layer == "edge"


def test_advice(report):
    said = " ".join(advice(report))
    assert "The largest at the peak is x, 24 bytes (50%)." in said and "--io-layout nhwc" in said
    assert "32 bytes of the arena are gaps at the peak" in said and "Up to 6 bytes can be gained at the peak alone; then step 1" in said
    offers = (KernelOffer("wide", 1000, 56, 100), KernelOffer("paired", 1500, 84, 40), KernelOffer("lean", 9000, 50, 0))
    layers = (report.layers[0], replace(report.layers[1], offers=offers), report.layers[2])
    scratch = replace(report.buffers[-1], bytes=100)
    heavy = replace(report, layers=layers, buffers=(*report.buffers[:-1], scratch), memories=(("arena", 164),), keeps_inputs=True)
    assert (
        "100 bytes at the peak are scratch memory of conv <1> & co (wide); paired needs 40 (+50% cycles of that layer, +28 bytes"
        in " ".join(advice(heavy))
    )
    held = replace(heavy, buffers=(replace(report.buffers[0], last=3), *heavy.buffers[1:]))
    assert "--keep-inputs holds 24 bytes of inputs at the peak" in " ".join(advice(held))
    waiting = replace(heavy, buffers=(*heavy.buffers, Buffer("r", "activation", "arena", 200, 30, 0, 2)))
    assert "Results that wait for a later layer hold 30 bytes there: the result of r (30 bytes, steps 0 to 2)." in " ".join(advice(waiting))
    alone = replace(
        heavy, layers=(layers[0], replace(layers[1], offers=offers[2:] + offers[:1], variant="lean", band=("c", 4, 6)), layers[2])
    )
    said = " ".join(advice(replace(alone, buffers=(*report.buffers[:-1], replace(scratch, bytes=90)))))
    assert "90 bytes at the peak are scratch memory of conv <1> & co (lean)" in said and "A smaller --max-ram" in said


@pytest.mark.parametrize(("part", "whole", "characters"), [(0, 80, 0), (80, 80, BAR), (40, 80, BAR // 2), (1, 1000, 0), (0, 0, 0)])
def test_bars(part, whole, characters):
    assert len(bar(part, whole)) == characters


def test_labels_are_not_written_over_each_other(report):
    """Tensors that begin at one place, as a result over its operand, and a short one below: each name has its line, or there is none."""
    names = ("operand", "result", "third")
    over = tuple(Buffer(name, "activation", "arena", 0, 80 - 20 * i, 0, 2) for i, name in enumerate(names))
    flat = Buffer("flat", "activation", "arena", 80, 4, 0, 2)
    crowd = tuple(Buffer(f"crowded_{i}", "activation", "arena", 80, 10, 3, 3) for i in range(9))
    picture = ElementTree.fromstring(memory_to_svg(replace(report, buffers=(*over, flat, *crowd), memories=(("arena", 100),))))
    labels = [text for text in picture.findall("{*}text") if text.get("pointer-events") == "none"]
    places = [(float(text.get("x", 0)), float(text.get("y", 0))) for text in labels]
    written = [text.text for text in labels]
    assert set(names) <= set(written) and 0 < sum("crowded" in str(name) for name in written) < 9
    for i, (x, y) in enumerate(places):
        assert not any(abs(x - other) < 5 and abs(y - line) < 11 for other, line in places[:i]), written[i]


def test_names_of_memories_stay_as_they_are(report):
    buffers = tuple(replace(buffer, memory="axiSRAM") for buffer in report.buffers)
    named = replace(report, buffers=buffers, memories=(("axiSRAM", 80),))
    text, page = text_of(render_memory_use(named)), memory_to_html(named)
    assert "axiSRAM: bytes in use" in text and "<h2>axiSRAM</h2>" in page and "Axisram" not in page + text
    assert "<h2>Arena</h2>" in memory_to_html(report)


def test_no_layer_writes_scratch_memory_or_inputs(report):
    buffers = (*report.buffers, Buffer("scratch of edge", "scratch", "arena", 60, 20, 0, 0))
    page = memory_to_html(replace(report, buffers=buffers))
    assert page.count('<td class="name">scratch of edge</td><td class="name"></td>') == 1


def test_nothing_is_free_behind_what_reaches_to_the_end(report):
    """An input at the end of the arena: from 80 of 80 bytes on is no offer."""
    buffers = (*report.buffers, Buffer("late", "input", "arena", 70, 10, -1, 0))
    text = text_of(render_memory_use(replace(report, buffers=buffers)))
    assert "from 80 on" not in text and "no bytes are the application's" in text and "all of them while no input" in text
