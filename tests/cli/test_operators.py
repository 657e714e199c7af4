"""`operators`: the table, one row of it, and what the documentation says of it."""

from __future__ import annotations

import re
from pathlib import Path

from arenite.frontend.importers import IMPORTERS

DOCS = Path(__file__).parents[2] / "docs"


def test_operators_as_json(arenite):
    value = arenite("operators", "--json").json
    rows = {(row["domain"], row["operator"]): row for row in value["operators"]}
    assert len(rows) == value["count"] == len(value["operators"])
    names = {operator if domain == "ai.onnx" else f"{domain}.{operator}" for domain, operator in rows}
    assert set(IMPORTERS) <= names
    conv = rows["ai.onnx", "Conv"]
    assert {key: conv[key] for key in ("float32", "int8", "first_opset")} == {"float32": "yes", "int8": "yes", "first_opset": 6}
    assert conv["becomes"] == ["Conv", "DepthwiseConv"]
    kernels = {kernel["name"]: kernel for kernel in value["kernels"]}
    assert kernels["Conv"]["code"] == 1
    assert {"int8", "float32"} <= set(kernels["Conv"]["variants"])


def test_operators_as_a_table(arenite):
    table = arenite("operators").out.splitlines()
    assert table[0].split() == ["operator", "domain", "opset", "float32", "int8", "int16", "notes"]
    assert all(len(line) <= 140 for line in table[:-2])
    assert re.search(r"^Relu +ai.onnx +6–\d+ +yes +table ", "\n".join(table), re.MULTILINE)
    markdown = arenite("operators", "--markdown").out
    assert "| Transpose | ai.onnx | 6–" in markdown
    assert (DOCS / "operators.md").read_text(encoding="utf-8").endswith(markdown), "run `make generate`"


def test_one_operator(arenite):
    for name in ("conv", "Conv", "ai.onnx.Conv"):
        text = arenite("operators", name).out
        assert text.startswith("Conv (ai.onnx), opset 6–")
        assert "becomes DepthwiseConv: " in text
    both = arenite("operators", "Gelu").out
    assert "Gelu (ai.onnx)" in both and "Gelu (com.microsoft)" in both
    assert len(arenite("operators", "Gelu", "--json").json["operators"]) == 2
    unknown = arenite("operators", "MaxPol")
    assert unknown.code == 12
    assert "MaxPol is not supported; there is MaxPool" in unknown.err


def test_the_readme_says_how_many(arenite):
    rows = arenite("operators", "--json").json["operators"]
    count = sum(row["domain"] in ("ai.onnx", "ai.onnx.ml") for row in rows)
    assert f"`arenite operators` lists {count} ONNX and ai.onnx.ml operators" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
