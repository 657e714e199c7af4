"""--precision auto: what it chooses keeps within what was asked for, measured by others than itself, and is no more than needed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import CalibrationError, PlanError, QuantizationError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.precision import Budgets, Cost, LossLimit, parse_loss
from arenite.precision.loss import Loss
from arenite.report import Limits, TradeOffPoint, from_json, to_json, to_markdown
from arenite.verify import verify
from onnx import TensorProto, helper, numpy_helper


def save_network(at: Path) -> None:
    """A convolution of a narrow range, one whose weights do not suit 8 bits, and a dense layer."""
    rng = np.random.default_rng(5)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32), name)

    rough = rng.standard_normal((8, 8, 1, 1)) * 10.0 ** rng.uniform(-3, 0, (1, 8, 1, 1))
    constants = [weight("w", 8, 2, 3, 3), numpy_helper.from_array(rough.astype(np.float32), "r"), weight("g", 5, 288), weight("c", 5)]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["ra"], name="relu"),
        helper.make_node("Conv", ["ra", "r"], ["b"], name="rough"),
        helper.make_node("Flatten", ["b"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "g", "c"], ["y"], name="dense", transB=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [1, 2, 6, 6])], [value("y", TensorProto.FLOAT, [1, 5])], initializer=constants
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), at / "m.onnx")


def converted(at: Path, output: str = "out", *, labels: np.ndarray | None = None, **options: object) -> Conversion:
    if not (at / "m.onnx").exists():
        save_network(at)
    x = np.random.default_rng(3).standard_normal((24, 1, 2, 6, 6)).astype(np.float32)
    np.savez(at / "x.npz", x=x, **({} if labels is None else {"y": labels}))
    wanted = {"precision": "auto", "io": "float32", "calibration": at / "x.npz", "output": at / output, **options}
    return convert(at / "m.onnx", ConvertOptions(**wanted))


def measured(at: Path, output: str = "out") -> float:
    return min(result.sqnr_db for result in verify(at / "m.onnx", at / output, at / "x.npz", engines=["numpy"]).engines.values())


def test_a_loss_is_kept_at_less_than_int16_throughout(tmp_path):
    conversion = converted(tmp_path, max_loss=LossLimit(db=51.0))
    found = conversion.report.trade_off
    assert found is not None
    base, chosen = found.points[0], found.points[found.chosen]
    assert base.label == "int8" and not base.meets and base.sqnr_db < 51
    assert chosen.meets and measured(tmp_path) == pytest.approx(chosen.sqnr_db, abs=0.05) and chosen.sqnr_db >= 51
    assert 0 < len(chosen.int16_layers) + len(chosen.float_layers) < 4
    ends = [point for point in found.points if point.label in ("all int16", "all float32")]
    assert len(ends) == 2

    def price(point: TradeOffPoint) -> float:
        return point.cycles / base.cycles + point.flash_bytes / base.flash_bytes + point.ram_bytes / base.ram_bytes

    assert all(price(chosen) <= price(point) for point in found.points if point.meets)
    assert all(price(chosen) < price(end) and end.meets for end in ends)


def test_costs_are_those_of_the_model_that_is_written(tmp_path):
    conversion = converted(tmp_path, max_loss=LossLimit(db=51.0))
    found = conversion.report.trade_off
    chosen = found.points[found.chosen]
    assert chosen.ram_bytes == conversion.report.ram_bytes
    assert abs(chosen.flash_bytes - conversion.report.model_bytes) <= 64  # the model's name is another


def test_the_choice_is_made_again_by_options(tmp_path):
    found = converted(tmp_path, max_loss=LossLimit(db=51.0)).report.trade_off
    chosen = found.points[found.chosen]
    again = converted(tmp_path, "again", precision="int8", int16_layers=chosen.int16_layers, float_layers=chosen.float_layers)
    assert measured(tmp_path, "again") == pytest.approx(chosen.sqnr_db, abs=0.5)
    assert again.report.trade_off is None


def test_it_is_deterministic(tmp_path):
    found = [converted(tmp_path, name, max_loss=LossLimit(db=51.0)) for name in ("one", "two")]
    assert found[0].report.trade_off == found[1].report.trade_off
    assert (tmp_path / "one" / "m.arn").read_bytes() == (tmp_path / "two" / "m.arn").read_bytes()


def test_what_int8_does_is_not_changed(tmp_path):
    conversion = converted(tmp_path, max_loss=LossLimit(db=5.0))
    assert len(conversion.report.trade_off.points) == 1
    converted(tmp_path, "int8", precision="int8")
    assert (tmp_path / "out" / "m.arn").read_bytes() == (tmp_path / "int8" / "m.arn").read_bytes()


def test_the_least_loss_within_budgets(tmp_path):
    first = converted(tmp_path, max_loss=LossLimit(db=5.0)).report.trade_off.points[0]
    limits = Limits(flash_bytes=first.flash_bytes + 2500)
    conversion = converted(tmp_path, limits=limits, max_cycles=first.cycles * 3)
    found = conversion.report.trade_off
    chosen = found.points[found.chosen]
    fitting = [p for p in found.points if p.flash_bytes <= limits.flash_bytes and p.cycles <= first.cycles * 3]
    assert chosen in fitting and all((chosen.sqnr_db or 1e9) >= (p.sqnr_db or 1e9) for p in fitting)
    assert conversion.report.fits and chosen.sqnr_db > first.sqnr_db


def test_weights_of_four_bits_where_flash_is_short(tmp_path):
    """As many layers as are needed, and no other."""
    first = converted(tmp_path, max_loss=LossLimit(db=5.0)).report.trade_off.points[0]
    limits = Limits(flash_bytes=first.flash_bytes - 500)
    conversion = converted(tmp_path, limits=limits, max_loss=LossLimit(db=10.0))
    found = conversion.report.trade_off
    chosen = found.points[found.chosen]
    assert chosen.int4_layers == ("dense",) and not chosen.int16_layers and not chosen.float_layers
    assert chosen.flash_bytes <= limits.flash_bytes and conversion.report.fits
    assert measured(tmp_path) == pytest.approx(chosen.sqnr_db, abs=0.05)
    with pytest.raises(PlanError, match="--max-flash"):
        converted(tmp_path, limits=Limits(flash_bytes=1000))


def test_labels_make_it_accuracy(tmp_path):
    conversion = converted(tmp_path, labels=np.zeros(24, np.int64))
    found = conversion.report.trade_off
    checked = verify(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz", engines=["numpy"])
    lost = checked.float_value - next(iter(checked.engines.values())).value
    assert found.points[found.chosen].lost == pytest.approx(lost) and "points of accuracy" in found.criterion


@pytest.mark.parametrize("labels", [np.arange(24) % 5 + 1, np.full(24, -1)], ids=["from 1", "negative"])
def test_labels_that_are_none_of_the_classes_are_no_measure(tmp_path, labels):
    """A model that is never right loses no points: int8 would be chosen, whatever it does."""
    with pytest.raises(CalibrationError, match=r"x\.npz: \d+ of 24 labels `y` are none of the classes 0 … 4 .* Number the classes from 0"):
        converted(tmp_path, labels=labels, max_loss=LossLimit(points=0.5))
    assert converted(tmp_path, labels=labels, max_loss=LossLimit(db=20)).report.trade_off is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": Limits(ram_bytes=100)}, r"--max-ram [\d,]+ of 100\. Of those tried the nearest \(int8\) takes [\d,]+ cycles"),
        ({"max_cycles": 10}, r"--max-cycles [\d,]+ of 10"),
        ({"max_loss": LossLimit(db=190.0)}, r"no choice of precisions has at least 190 dB.*the nearest"),
    ],
)
def test_what_cannot_be_met_tells_the_nearest(tmp_path, options, message):
    with pytest.raises(PlanError, match=message):
        converted(tmp_path, **options)
    assert not (tmp_path / "out").exists()


def test_options_that_do_not_go_together(tmp_path):
    with pytest.raises(QuantizationError, match="give --calibration"):
        converted(tmp_path, calibration=None)
    with pytest.raises(QuantizationError, match="are for --precision auto, not for int8"):
        converted(tmp_path, precision="int8", max_cycles=5)


@pytest.mark.parametrize(("text", "limit"), [("0.5", LossLimit(points=0.5)), ("40dB", LossLimit(db=40)), ("3.5 db", LossLimit(db=3.5))])
def test_loss_limits(text, limit):
    assert parse_loss(text) == limit


@pytest.mark.parametrize("text", ["", "dB", "-1", "0.5%", "1e3"])
def test_what_is_no_loss(text):
    with pytest.raises(QuantizationError, match="--max-loss"):
        parse_loss(text)


def test_limits_are_inclusive():
    loss = Loss(40.0, 0.01, 0.005)
    assert LossLimit(db=40).met(loss) and not LossLimit(db=40.1).met(loss)
    assert LossLimit(points=0.5).met(loss) and not LossLimit(points=0.4).met(loss)
    assert LossLimit(points=1.0).met(Loss(40.0, 0.01, None)) and not LossLimit(points=0.9).met(Loss(40.0, 0.01, None))
    assert not Budgets(10, 20, 30).excess(Cost(30, 20, 10)) and len(Budgets(9, 19, 29).excess(Cost(30, 20, 10))) == 3


def test_the_report_keeps_the_curve(tmp_path):
    report = converted(tmp_path, max_loss=LossLimit(db=51.0)).report
    assert from_json(json.loads(json.dumps(to_json(report))), "x").trade_off == report.trade_off
    text = to_markdown(report)
    assert "## Precisions" in text and "chosen" in text and "## Precisions" in text
    curve = report.trade_off.curve
    assert [p.cycles for p in curve] == sorted(p.cycles for p in curve) and report.trade_off.points[report.trade_off.chosen] in curve
