"""What INT8 costs in accuracy, by default and with `--quantize best`: a table of docs/quantization.md.

    ARENITE_DATA=… python tests/acceptance/accuracy.py [NAME …] [--write]

Every model of the pack that has test data and does not come quantized, by the C interpreter on all of the test data, calibrated with the
pack's calibration samples; keyword spotting with the clips that are marked for it, and scored on the others alone, too. Where more is lost
than LOSS, `--precision auto` is measured as well.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from acceptance.model_pack import CALIBRATION_SAMPLES, Pack, PackModel, folder  # noqa: E402
from acceptance.models_document import METRICS  # noqa: E402
from acceptance.sweep import engine_samples  # noqa: E402
from arenite.pipeline import Conversion, ConvertOptions, convert  # noqa: E402
from arenite.precision import LossLimit  # noqa: E402
from arenite.quantize import selected  # noqa: E402
from arenite.targets import open_engine  # noqa: E402
from arenite.verify.ports import Ports  # noqa: E402

Array = NDArray[Any]
Outputs = list[list[Array]]
LOSS = 0.005
"""Of accuracy (half a point), R² and intersection over union."""
MARKED = "mlperf/kws01_fp32"
"""Its test data contain the clips that are marked for calibration: the figure without them is given, too."""
BEGIN, END = "<!-- accuracy -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Row:
    name: str
    """Of the model, and of the part of the test data if it is not all."""
    metric: str
    tested: int
    """Samples."""
    calibrated: int
    """Samples."""
    float32: float
    default: float | None
    """None where nothing of the model has an INT8 form."""
    best: float | None
    auto: float | None
    """Of `--precision auto --max-loss 0.5`, where one of the others loses more than LOSS."""

    @property
    def losses(self) -> list[float]:
        return [self.float32 - figure for figure in (self.default, self.best) if figure is not None]

    @property
    def loses_too_much(self) -> bool:
        return any(loss > LOSS + 1e-9 for loss in self.losses)


def is_measured(model: PackModel) -> bool:
    return model.metric is not None and not model.rounds and not model.is_refused


def rows(model: PackModel, at: Path) -> list[Row]:
    """Convert `model` into `at` with each precision and run it; of MARKED a second row."""
    data, labels = _calibration(model)
    np.savez(at / "calibration.npz", **data)
    np.savez(at / "labelled.npz", **data, y=labels)
    float32 = _outputs(model, _convert(model, at / "float32", precision="float32"))
    quantized = [
        _int8_outputs(model, at / level, calibration=at / "calibration.npz", methods=selected(level)) for level in ("default", "best")
    ]
    calibrated = len(next(iter(data.values())))
    subsets: list[NDArray[np.bool_] | None] = [None]
    if model.name == MARKED:
        subsets.append(~_marked(model))
    found = [_row(model, calibrated, float32, [*quantized, None], subset) for subset in subsets]
    if any(row.loses_too_much for row in found):
        auto = _int8_outputs(model, at / "auto", precision="auto", calibration=at / "labelled.npz", max_loss=LossLimit(points=100 * LOSS))
        found = [_row(model, calibrated, float32, [*quantized, auto], subset) for subset in subsets]
    return found


def _row(model: PackModel, calibrated: int, float32: Outputs, quantized: Sequence[Outputs | None], subset: NDArray[np.bool_] | None) -> Row:
    default, best, auto = (None if outputs is None else _figure(model, outputs, subset) for outputs in quantized)
    tested = len(float32) if subset is None else int(subset.sum())
    name = f"`{model.name}`" + ("" if subset is None else f", the {tested} clips that calibration has not seen")
    return Row(name, METRICS[model.metric], tested, calibrated, _figure(model, float32, subset), default, best, auto)


def _figure(model: PackModel, outputs: Outputs, subset: NDArray[np.bool_] | None) -> float:
    if subset is None:
        return model.figure(outputs)
    labels = np.asarray(model.pack.check.load(model.entry["eval"]["data"])[1])
    hits = np.array([int(sample[0].argmax()) for sample in outputs]) == labels
    return float(hits[subset].mean())


def _marked(model: PackModel) -> NDArray[np.bool_]:
    return np.asarray(np.load(model.pack.folder / "data/kws01.npz")["is_calib"], np.bool_)


def _calibration(model: PackModel) -> tuple[dict[str, Any], Array]:
    """The samples that PackModel.calibration_samples() chooses, all of MARKED; and their labels."""
    port, key = model.entry["inputs"][0], model.entry["eval"]["data"]
    try:
        x, y = model.pack.check.load(key, "train")
    except KeyError:  # the data has a test part only
        x, y = model.pack.check.load(key)
    if model.name == MARKED:
        return {port["name"]: np.asarray(x, np.float32).reshape(len(x), *port["sample_shape"])}, np.asarray(y)
    chosen = np.linspace(0, len(x) - 1, min(CALIBRATION_SAMPLES, len(x))).astype(int)
    return dict(model.calibration_samples()), np.asarray(y)[chosen]


def _int8_outputs(model: PackModel, at: Path, **options: Any) -> Outputs | None:
    """None where the model is float32 throughout, as nothing of it has another form."""
    conversion = _convert(model, at, **options)
    return None if conversion.report.precision == "float32" else _outputs(model, conversion)


def _convert(model: PackModel, at: Path, **options: Any) -> Conversion:
    print(f"{model.name}: {at.name}", file=sys.stderr, flush=True)
    return convert(model.path, ConvertOptions(output=at, shapes=model.shapes, values=model.values, **options))


def _outputs(model: PackModel, conversion: Conversion) -> Outputs:
    """The C interpreter's for every test sample, as real values."""
    ports = Ports.read(conversion.folder)
    samples = engine_samples(conversion.folder, ports, model.test_samples())
    return [ports.real_outputs(outputs) for outputs in open_engine("c", conversion.folder).run(samples)]


def line(row: Row, with_auto: bool) -> str:
    figures = [row.default, row.best, *([row.auto] if with_auto else [])]
    loss = f"{100 * max(row.losses):.2f}" if row.losses else ""
    cells = ["" if figure is None else f"{figure:.4f}" for figure in (row.float32, *figures)]
    return f"| {row.name} | {row.metric}, {row.tested:,} | {row.calibrated} | {' | '.join(cells)} | {loss} |\n"


def table(found: Sequence[Row]) -> str:
    with_auto = any(row.auto is not None for row in found)
    names = [
        "model",
        "metric, samples",
        "calibrated with",
        "float32",
        "default",
        "best",
        *(["auto"] if with_auto else []),
        "largest loss, points",
    ]
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n" + "".join(line(row, with_auto) for row in found)


def _measured(name: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as at:
        return rows(Pack(folder()).models[f"models/{name}.onnx"], Path(at))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models whose name contains one of these")
    parser.add_argument("--write", action="store_true", help="write the table of docs/quantization.md")
    parser.add_argument("--jobs", type=int, default=2, help="models that are measured at a time")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write needs all models")
    chosen = [model.name for model in Pack(folder()).models.values() if is_measured(model)]
    chosen = [name for name in chosen if not options.names or any(part in name for part in options.names)]
    found: list[Row] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for index, new in enumerate(pool.map(_measured, chosen), start=1):
            print(f"{index} of {len(chosen)}", file=sys.stderr, flush=True)
            print("".join(line(row, with_auto=row.auto is not None) for row in new), end="", flush=True)
            found += new
    if options.write:
        document = ROOT / "docs/quantization.md"
        before, rest = document.read_text(encoding="utf-8").split(BEGIN)
        document.write_text(before + BEGIN + table(found) + END + rest.split(END, 1)[1], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
