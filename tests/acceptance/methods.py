"""What each method of quantization does for models of the pack, alone and together: the table of docs/quantization.md.

    ARENITE_DATA=… python tests/acceptance/methods.py [NAME …] [--write]

Figures are signal to noise ratios in dB of the outputs (output_error.py: of logits, where there are any) over test samples that no method
has seen; noise stands in where the pack has no test data.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from acceptance.model_pack import Pack, PackModel, folder  # noqa: E402
from arenite.frontend import load  # noqa: E402
from arenite.graph import Graph  # noqa: E402
from arenite.passes import optimize  # noqa: E402
from arenite.quantize import LEVELS, METHODS, Dataset, QuantizeOptions, input_specs  # noqa: E402
from arenite.quantize.model import settle  # noqa: E402
from arenite.quantize.output_error import Judge  # noqa: E402

MODELS = (
    "mlperf/kws01_fp32",
    "mlperf/sww01_fp32",
    "mlperf/ad01_fp32",
    "mlperf/ic01_fp32_h5",
    "keras/keras_digits_sepconv",
    "torch/mnist_dwsep",
    "torch/mnist_mbv3_se_hswish",
    "torch/digits_vit",
)
TESTED = 64
"""Samples, at most."""
ALONE = tuple(name for name in METHODS if name != "features")
BEGIN, END = "<!-- methods -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Row:
    name: str
    has_data: bool
    sqnr_db: Mapping[str, float]
    """By method; default and best as well."""


def row(model: PackModel) -> Row:
    graph = optimize(load(model.path, model.shapes, values=model.values))
    calibration, test = (_dataset(graph, samples) for samples in (model.calibration_samples(), model.test_samples()))
    judge = Judge(graph, test.spread(TESTED))
    sets = {"default": LEVELS["default"], **{name: LEVELS["default"] | {name} for name in ALONE}, "best": LEVELS["best"]}
    figures = {}
    for name, methods in sets.items():
        found = settle(graph, calibration, QuantizeOptions(methods=methods)).found
        assert found is not None
        figures[name] = judge.sqnr_db(found.draft)
    return Row(model.name, model.metric is not None, figures)


def _dataset(graph: Graph, samples: Mapping[str, np.ndarray[Any, Any]]) -> Dataset:
    arrays = {name: values.reshape(len(values), *graph.tensors[name].shape).astype(np.float32) for name, values in samples.items()}
    return Dataset(input_specs(graph), arrays)


def line(found: Row) -> str:
    names = ("default", *ALONE, "best")
    figures = " | ".join(f"{found.sqnr_db[name]:.1f}" for name in names)
    return f"| `{found.name}`{'' if found.has_data else ' (noise)'} | {figures} |"


def head() -> str:
    names = ("model", "default", *ALONE, "best")
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models whose name contains one of these")
    parser.add_argument("--write", action="store_true", help="write the table into docs/quantization.md")
    options = parser.parse_args()
    models = Pack(folder()).models.values()
    chosen = [model for model in models if (any(n in model.name for n in options.names) if options.names else model.name in MODELS)]
    lines = [head()]
    print(head(), flush=True)
    for model in chosen:
        lines.append(line(row(model)))
        print(lines[-1], flush=True)
    if options.write:
        document = ROOT / "docs/quantization.md"
        text = document.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        document.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
