"""`arenite profile`."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed"),
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]

CLI = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
VOID = {"meta", "br", "hr", "img", "link"}


class Balanced(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        assert not any(name in ("src", "href", "onload") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
def test_json(project, arenite, form):
    value = arenite("profile", project.built, "--form", form, "--json").json
    assert (value["target"], value["form"], value["optimize"]) == ("cortex-m4", form, "-O2")
    assert [(layer["name"], layer["op"]) for layer in value["layers"]] == [
        ("conv", "StridedCopy"),  # NCHW to NHWC
        ("conv", "Conv"),
        ("pool", "ReduceMean"),
        ("gemm", "FullyConnected"),
    ]
    assert [layer["macs"] for layer in value["layers"]] == [0, 6 * 6 * 4 * 27, 0, 20]
    for key in ("instructions", "cycles"):
        assert sum(layer[key] for layer in value["layers"]) + value["rest"][key] == value[key]
        assert all(isinstance(layer[key], int) and layer[key] > 0 for layer in value["layers"])
    assert sum(layer["share"] for layer in value["layers"]) + value["rest"]["share"] == pytest.approx(1)
    assert value["layers"][1]["per_mac"] == value["layers"][1]["cycles"] / value["layers"][1]["macs"]
    assert value["layers"][0]["per_mac"] is None
    assert value["stack_bytes"] > 0 and value["flash"]["code_bytes"] > value["layers"][1]["code_bytes"] > 0
    assert value["instructions"] < value["cycles"] < 3 * value["instructions"]
    assert value["output"] is None
    described = set(re.findall(r"[`\"]([a-z_0-9]+)[`\"]", CLI.split("## JSON")[1]))
    inner = {key for part in ("flash", "rest") for key in value[part]} | {key for part in ("layers", "functions") for key in value[part][0]}
    assert set(value) | inner <= described


def test_a_core_without_a_model_of_its_cycles(project, arenite):
    words = ("profile", project.built, "--target", "cortex-m3", "-Os")
    value = arenite(*words, "--json").json
    assert value["cycles"] is None and value["layers"][1]["cycles"] is None
    assert value["layers"][1]["per_mac"] == value["layers"][1]["instructions"] / value["layers"][1]["macs"]
    assert "cycles are not known" in value["notes"][0]
    assert "instructions a MAC" in arenite(*words).out


def test_the_table(project, arenite):
    value = arenite("profile", project.built, "--json").json
    out = arenite("profile", project.built).out
    for layer in value["layers"]:
        (row,) = [line for line in out.splitlines() if f" {layer['name']} " in line and layer["op"] in line]
        assert f"{layer['instructions']:,}" in row and f"{layer['cycles']:,}" in row and f"{100 * layer['share']:.1f} %" in row
    assert f"{value['instructions']:,} instructions, {value['cycles']:,} cycles an inference" in out
    assert "cycles are modelled" in out


def test_the_page(project, arenite, tmp_path):
    page = tmp_path / "profile.html"
    outcome = arenite("profile", project.built, "--html", page)
    assert outcome.code == 0 and f"Wrote {page}" in outcome.err
    text = page.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert not parser.open and {"svg", "table"} <= set(parser.seen) and "script" not in parser.seen
    picture = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    bars = picture.findall(".//{*}rect")
    assert len(bars) == 5  # four layers and the rest
    value = arenite("profile", project.built, "--json").json
    cycles = [*(layer["cycles"] for layer in value["layers"]), value["rest"]["cycles"]]
    widths = [float(bar.get("width")) for bar in bars]
    np.testing.assert_allclose(np.array(widths) / max(widths), np.array(cycles) / max(cycles), atol=1e-4)


def test_what_it_runs_on(project, arenite):
    for given, said in (("zeros", "zeros input"), ("random", "random input"), (project.data, "first sample of test.npz")):
        outcome = arenite("profile", project.built, "--input", given)
        assert outcome.code == 0 and said in outcome.out, outcome.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--input", "absent.npz"), 6, "absent.npz"),
        (("--target", "cortex-m9"), 10, "there is no target cortex-m9"),
        (("--form", "both"), 2, "both"),
        (("--measured", "absent.txt"), 11, "absent.txt cannot be read"),
        (("--measured", "absent.txt", "--target", "cortex-m9"), 10, "there is no target cortex-m9"),
        (("--html", "absent/page.html"), 9, "absent/page.html cannot be written"),
    ],
)
def test_mistakes(project, arenite, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    outcome = arenite("profile", project.built, *words)
    assert outcome.code == code and message in outcome.err


def test_what_a_board_measured(project, arenite, tmp_path):
    log = tmp_path / "board.txt"
    log.write_text("clock_bits 32\nlayer -1 5 100\nlayer 1 1 7776\nstatus 0\n")
    words = ("profile", project.built, "--measured", log, "--html", tmp_path / "page.html")
    value = arenite(*words, "--json").json
    assert (value["cycles"], value["instructions"], value["layers"][1]["per_mac"]) == (7876, None, 2.0)
    assert "7,876 cycles an inference" in arenite(*words).out
    assert "7,876 cycles an inference" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_folder_that_is_none_of_ours(arenite, tmp_path):
    assert arenite("profile", tmp_path).code == 11
