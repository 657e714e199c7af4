"""The four views of a report: nothing lost, nothing said wrong, nothing that could break the page."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace

import pytest
from arenite.errors import ArtifactError
from arenite.quantize import MissingPair
from arenite.report import (
    Limits,
    TradeOff,
    TradeOffPoint,
    accuracy,
    from_json,
    render_report,
    render_summary,
    to_html,
    to_json,
    to_markdown,
    verdict,
)
from report.pages import Page, text_of


def test_json_and_back(report):
    assert from_json(json.loads(json.dumps(to_json(report), allow_nan=False)), "report.json") == report


@pytest.mark.parametrize("key", ["layers", "flash", "memories", "inputs", "calibrated"])
def test_damaged_json_is_named(report, key):
    value = to_json(report)
    del value[key]
    with pytest.raises(ArtifactError, match=r"somewhere/report\.json"):
        from_json(value, "somewhere/report.json")
    with pytest.raises(ArtifactError):
        from_json({**to_json(report), key: 7}, "report.json") if key != "calibrated" else from_json({}, "report.json")


def test_every_field_is_in_the_json(report):
    """A field that is added to Report must not be forgotten: changing it changes the JSON."""
    changed = {str: "?", int: 987, bool: True, float: 1.5}
    for field in fields(report):
        value = getattr(report, field.name)
        other = changed.get(type(value), None if value is not None else 1.5)
        if isinstance(value, tuple):
            other = () if value and field.name != "memories" else (("other", 5),)
        if field.name == "limits":
            other = Limits()
        if field.name == "missing_pairs":
            other = (MissingPair("t", "conv", "s", 0.5, 3),)
            assert from_json(to_json(replace(report, missing_pairs=other)), "report.json").missing_pairs == other
        if field.name == "trade_off":
            other = TradeOff((TradeOffPoint("int8", (), ("last",), 7, 8, 9, 20.5, 0.1, None, True),), 0, 3, "at most 10 % changed")
            assert from_json(to_json(replace(report, trade_off=other)), "report.json").trade_off == other
        if isinstance(value, bool):
            other = not value
        if isinstance(value, dict):
            other = {}
        assert to_json(replace(report, **{field.name: other})) != to_json(report), field.name


def test_verdict(report):
    """RAM is arena and session, 132 bytes, of 100; flash 1,500 of 2,000."""
    assert report.fits is False and report.excess == ("RAM: 132 of 100 bytes, 32 too many",)
    assert verdict(report).startswith("net DOES NOT FIT on cortex-m4: RAM: 132 of 100 bytes, 32 too many. It needs 132 bytes of RAM")
    assert "1,500 bytes of flash (model 1,000, code 500; compiled form 356: 56 and 300)" in verdict(report)
    roomy = replace(report, limits=Limits(ram_bytes=132, flash_bytes=1500))
    assert roomy.fits is True and verdict(roomy).startswith("net fits on cortex-m4: it needs")
    tight = replace(report, limits=Limits(flash_bytes=1499))
    assert tight.excess == ("flash: 1,500 of 1,499 bytes, 1 too many",)
    free = replace(report, limits=Limits(), interpreted=None, compiled=None)
    assert free.fits is None and "model 1,000, code not included" in verdict(free) and free.flash_bytes == 1000


def test_accuracy(report):
    assert accuracy(report).startswith("NOT CALIBRATED: accuracy is unknown")
    assert accuracy(report).endswith("To calibrate: convert net.onnx --calibration DATA.npz")
    assert "that has cost over 10 points" in accuracy(report)
    calibrated = replace(report, calibrated=True, calibration="ranges from c.npz (mse)", sqnr_db=32.125)
    assert accuracy(calibrated) == "Calibrated: ranges from c.npz (mse); end to end 32.1 dB against float on the calibration data."
    assert accuracy(replace(calibrated, sqnr_db=9.9)).endswith(
        "end to end 9.9 dB against float on the calibration data. That is little: `arenite verify --layers` says where it is lost; "
        "--precision auto --max-loss chooses layers that need more bits."
    )


def test_doubtful_calibration(report):
    doubtful = replace(report, calibrated=True, calibration="ranges from c.npz (mse)", calibration_warnings=("Every sample is 0.",))
    assert report.accuracy_known is doubtful.accuracy_known is False and replace(report, calibrated=True).accuracy_known
    assert accuracy(doubtful).startswith("DOUBTFUL CALIBRATION: accuracy is unknown. Every sample is 0. Calibrated: ranges from c.npz")
    assert text_of(render_summary(doubtful)).rstrip().splitlines()[-1].startswith("DOUBTFUL CALIBRATION")
    assert f"**{accuracy(doubtful)}**" in to_markdown(doubtful) and "verdict uncalibrated" in to_html(doubtful)
    older = {key: value for key, value in to_json(doubtful).items() if key != "calibration_warnings"}
    assert from_json(older, "report.json") == replace(doubtful, calibration_warnings=())


@pytest.mark.parametrize("view", [to_markdown, to_html, lambda r: text_of(render_report(r))], ids=["markdown", "html", "text"])
def test_every_view_has_the_facts(report, view):
    page = view(report)
    for fact in (
        "DOES NOT FIT",
        "NOT CALIBRATED",
        "1,234",
        "31.2",
        "StridedCopy (Transpose)",
        "Conv (wide)",
        "80",
        "72",
        "nhwc",
        "clamped",
        "1×1×1×2",
    ):
        assert fact in page, fact


def test_summary_ends_with_accuracy_and_keeps_to_few_notes(report):
    noted = replace(report, notes=tuple(f"layer {i}: odd" for i in range(30)))
    lines = text_of(render_summary(noted)).strip().splitlines()
    assert lines[0].startswith("net DOES NOT FIT") and lines[-1].startswith("NOT CALIBRATED")
    assert sum(line.startswith("Note:") for line in lines) == 4 and "… and 26 more notes in the report." in lines
    assert to_markdown(noted).count("Note: ") == 30


def test_html_is_one_well_formed_page_that_loads_nothing(report):
    page = to_html(report)
    parser = Page()
    parser.feed(page)
    assert parser.open == [] and parser.links == [] and "script" not in parser.tags and "link" not in parser.tags
    assert "conv &lt;1&gt; &amp; co" in page and "<script>" not in page
    assert parser.classes.count("buffer") == len(report.buffers) and not re.search(r"https?://|url\((?!#)|@import", page)


def test_markdown_tables_have_equal_rows(report):
    """A name with | or ` in it must not shift the columns."""
    for block in to_markdown(report).split("\n\n"):
        if block.startswith("|"):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(widths) == 1, block


def test_kernels_and_what_else_there_was(report):
    """One layer had a choice."""
    sentence = "Kernels for balanced: layers that had a choice, 1, take 4,321 estimated cycles and 56 bytes of constants."
    measured = replace(report, cost_unit="estimated cycles")
    for view in (text_of(render_report(measured)), to_markdown(measured), to_html(measured)):
        assert sentence in view and "paired: 1,765 / 84" in view
    without = replace(report, layers=tuple(replace(layer, offers=()) for layer in report.layers))
    for view in (text_of(render_report(without)), to_markdown(without), to_html(without)):
        assert "Kernels" not in view
