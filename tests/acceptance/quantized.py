"""Models that come quantized, by onnxruntime and by the C interpreter on the same inputs: a table of docs/quantization.md.

    ARENITE_DATA=… python tests/acceptance/quantized.py [NAME …] [--write]

onnxruntime runs the file with `session.disable_quant_qdq`, the C interpreter its INT8 form, exact_qdq.py does it without rounding errors.
Where the pack has no labels, inputs of the right kind are made (quantized_inputs.py) and outputs compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from acceptance.exact_qdq import Exact  # noqa: E402
from acceptance.model_pack import Pack, PackModel, folder  # noqa: E402
from acceptance.quantized_inputs import inputs_of  # noqa: E402
from acceptance.test_quantized_models import exact_qoperator  # noqa: E402
from arenite.graph import Graph  # noqa: E402
from arenite.pipeline import ConvertOptions, convert  # noqa: E402
from arenite.targets import open_engine  # noqa: E402
from arenite.verify.ports import Ports  # noqa: E402

Array = NDArray[Any]
DYNAMIC = "torch/mnist_lenet__dynq"
"""It has no ranges of activations: the INT8 form is calibrated, the float32 form measures them as the file does."""
QOPERATOR = "torch/mnist_lenet__qoperator"
COMPARED = 200
"""Samples, at most, that are computed exactly."""
BEGIN, END = "<!-- quantized -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Row:
    name: str
    precision: str
    inputs: str
    """What they are, and how many."""
    onnxruntime: float | None
    """The metric of the pack; None where there are no labels."""
    ours: float | None
    exact: float | None
    """The same of exact arithmetic, where all inputs are computed so."""
    equal: float
    """Share of the elements of the outputs that are on the same step."""
    onnxruntime_exact: float | None
    """Share of those that onnxruntime has as exact arithmetic has them; None where scales are computed."""
    ours_exact: float | None
    agreement: float | None
    """Share of inputs with the same largest output; None where there is one output."""


def is_quantized(model: PackModel) -> bool:
    return model.rounds and not model.is_refused


def measure(model: PackModel, at: Path, precision: str = "int8") -> Row:
    """Convert `model` into `at` and run both."""
    at.mkdir(parents=True, exist_ok=True)
    raw, what = inputs_of(model)
    np.savez(at / "inputs.npz", **_arrays(raw))
    calibration = None
    if model.name == DYNAMIC and precision == "int8":
        calibration = at / "calibration.npz"
        np.savez(calibration, **_arrays(model.calibration_samples()))
    made = convert(
        model.path, ConvertOptions(precision, calibration, output=at / "folder", shapes=model.shapes, values=model.values, force=True)
    )
    ports = Ports.read(made.folder)
    samples = [ports.engine_inputs(sample) for sample in ports.load(at / "inputs.npz").samples()]
    ours = [ports.real_outputs(one) for one in open_engine("c", made.folder).run(samples)]
    theirs = [ports.reference_outputs(one) for one in onnxruntime_outputs(model, raw)]
    a, b = _table(ours), _table(theirs)
    half = _step(made.quantized.graph, theirs) / 2
    exact = _exact_outputs(model, raw, ports)
    return Row(
        model.name,
        made.report.precision,
        f"{len(samples):,} {what}",
        None if model.metric is None else model.figure(theirs),
        None if model.metric is None else model.figure(ours),
        None if model.metric is None or exact is None or len(exact) < len(a) else model.figure([[one] for one in exact]),
        float(np.mean(np.abs(a - b) < half)),
        None if exact is None else float(np.mean(np.abs(b[: len(exact)] - exact) < half)),
        None if exact is None else float(np.mean(np.abs(a[: len(exact)] - exact) < half)),
        float(np.mean(a.argmax(1) == b.argmax(1))) if a.shape[1] > 1 else None,
    )


def _table(outputs: Sequence[Sequence[Array]]) -> NDArray[np.float64]:
    """[samples, elements of all outputs]."""
    return np.stack([np.concatenate([o.reshape(-1) for o in one]) for one in outputs]).astype(np.float64)


def _arrays(samples: Mapping[str, Array]) -> dict[str, Any]:
    return dict(samples)


def onnxruntime_outputs(model: PackModel, raw: Mapping[str, Array]) -> list[list[Array]]:
    session = model.pack.check.sess(str(model.path))
    count = len(next(iter(raw.values())))
    return [[np.asarray(o) for o in session.run(None, {name: x[i] for name, x in raw.items()})] for i in range(count)]


def _exact_outputs(model: PackModel, raw: Mapping[str, Array], ports: Ports) -> NDArray[np.float64] | None:
    """Of the first COMPARED samples, all of QOPERATOR. None where scales are computed."""
    (inputs,) = raw.values()
    if model.name == QOPERATOR:
        return np.asarray(exact_qoperator(model.path, inputs.reshape(len(inputs), *inputs.shape[2:])), np.float64)
    if model.name == DYNAMIC:
        return None
    exact = Exact(model.path)
    return _table([ports.reference_outputs([exact(x)]) for x in inputs[:COMPARED]])


def _step(graph: Graph, theirs: list[list[Array]]) -> float:
    """Of the output; of an output in float32 that has none, what rounding errors add up to."""
    name = graph.outputs[0]
    sources = [name, *(node.input for node in graph.nodes if node.output == name)]
    chosen = next((q for source in sources if (q := graph.tensors[source].quantization) is not None), None)
    return 2e-5 * max(float(np.abs(one[0]).max()) for one in theirs) if chosen is None else float(chosen.scale)


def line(row: Row) -> str:
    figures = ["" if value is None else f"{value:.4f}" for value in (row.onnxruntime, row.ours)]
    shares = [
        "" if value is None else f"{100 * value:.2f} %" for value in (row.agreement, row.equal, row.onnxruntime_exact, row.ours_exact)
    ]
    return f"| `{row.name}` | {row.precision} | {row.inputs} | {' | '.join((*figures, *shares))} |\n"


def table(rows: list[Row]) -> str:
    header = (
        "| model | form | inputs | onnxruntime | Arenite | same class | equal outputs | onnxruntime exact | Arenite exact |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    return header + "".join(line(row) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models whose name contains one of these")
    parser.add_argument("--write", action="store_true", help="write the table of docs/quantization.md")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write needs all models")
    rows = []
    for model in Pack(folder()).models.values():
        if not is_quantized(model) or (options.names and not any(name in model.name for name in options.names)):
            continue
        for precision in ("int8", "float32") if model.name == DYNAMIC else ("int8",):
            with tempfile.TemporaryDirectory() as at:
                rows.append(measure(model, Path(at), precision))
            print(line(rows[-1]), end="", flush=True)
    if options.write:
        document = ROOT / "docs/quantization.md"
        before, rest = document.read_text().split(BEGIN)
        document.write_text(before + BEGIN + table(rows) + END + rest.split(END, 1)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
