"""Instructions and cycles by layer: complete, exact, and of the right layer, in both forms and whatever way the data takes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from arenite.errors import ToolError
from arenite.pipeline import ConvertOptions, convert
from arenite.profile import Profile, measure_profile
from arenite.targets import qemu as qemu_module
from arenite.targets.catalogue import TARGETS
from arenite.targets.emulated import Form

ZOO = Path(__file__).parents[2] / "models"
pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed"),
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]
Measure = Callable[..., Profile]


def profiled(folder: Path, form: Form, target: str = "cortex-m4", input: str = "random") -> Profile:
    return measure_profile(folder, target=target, form=form, input=input, optimize="-Os")


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ZOO / "digits_cnn" / "digits_cnn.onnx"
    options = ConvertOptions(
        calibration=ZOO / "digits_cnn" / "digits_calibration.npz", output=tmp_path_factory.mktemp("digits") / "out", name="digits"
    )
    return convert(source, options).folder


def assert_adds_up(profile: Profile) -> None:
    costs = [layer.cost for layer in profile.layers] + [profile.rest]
    assert sum(cost.instructions or 0 for cost in costs) == profile.total.instructions
    assert sum(function.cost.instructions or 0 for function in profile.functions) == profile.total.instructions
    if profile.total.cycles is not None:
        assert sum(cost.cycles or 0 for cost in costs) == profile.total.cycles
        assert sum(function.cost.cycles or 0 for function in profile.functions) == profile.total.cycles


@pytest.mark.parametrize("target", TARGETS)
def test_layers_add_up(digits: Path, target: str) -> None:
    forms = {form: profiled(digits, form, target) for form in Form}
    for profile in forms.values():
        assert_adds_up(profile)
        assert [layer.name for layer in profile.layers] == ["conv1", "conv2", "pool", "dense", "softmax"]
        assert all(layer.executions == 1 for layer in profile.layers)
        assert (profile.total.cycles is None) == (target != "cortex-m4")
        # The folder is for no core in particular: kernels are those for the DSP extension.
        assert any("kernels were chosen for a cortex-m4" in note for note in profile.notes) == (
            target in ("cortex-m0", "cortex-m3", "cortex-m55")
        )
        assert all((layer.cost.instructions or 0) > layer.macs // 16 for layer in profile.layers)  # the vector extension's most
    interpreted, compiled = forms[Form.INTERPRETED], forms[Form.COMPILED]
    # The kernels are the same: a layer of the interpreter unpacks its operands besides.
    for one, other in zip(interpreted.layers, compiled.layers, strict=True):
        assert 0 <= (one.cost.instructions or 0) - (other.cost.instructions or 0) <= 60
    assert (compiled.rest.instructions or 0) < 100 < (interpreted.rest.instructions or 0) < 3000


def test_kernels_are_named(digits: Path) -> None:
    profile = profiled(digits, Form.COMPILED)
    sizes = {function.name: function.code_bytes for function in profile.functions}
    assert {"digits_invoke", "arn_max_pool_s8", "arn_softmax_s8"} <= set(sizes)
    assert sizes["arn_max_pool_s8"] <= (profile.layers[2].code_bytes or 0) < sum(sizes.values()) < profile.build.code_bytes
    assert sum(sizes.values()) < sum(layer.code_bytes or 0 for layer in profile.layers) + 200  # shared functions count in each


def test_the_same_again(digits: Path) -> None:
    assert profiled(digits, Form.COMPILED) == profiled(digits, Form.COMPILED)


def test_another_level_of_optimization(digits: Path) -> None:
    fast, small = measure_profile(digits, target="cortex-m4", form=Form.COMPILED, optimize="-O2"), profiled(digits, Form.COMPILED)
    assert (fast.build.optimize, small.build.optimize) == ("-O2", "-Os")
    assert fast.build.code_bytes > small.build.code_bytes


def test_without_plugins(digits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu_module, "counting_plugin", lambda: None)
    exact = profiled(digits, Form.COMPILED)
    monkeypatch.undo()
    counted = profiled(digits, Form.COMPILED)
    assert not exact.by_layer and exact.functions == () and exact.total.cycles is None
    assert all(layer.cost.instructions is None and layer.code_bytes is None for layer in exact.layers)
    assert exact.build.resolution > 1
    assert abs((exact.total.instructions or 0) - (counted.total.instructions or 0)) <= 2 * exact.build.resolution
    assert "layers and cycles are not known" in exact.notes[0]


BRANCH = """
flow (float[2, 3] x, bool c) => (float[2, 3] y) {
    doubled = Add(x, x)
    chosen = If (c) <then_branch = t () => (float[2, 3] a) { a = Tanh(doubled) },
                     else_branch = e () => (float[2, 3] b) { s = Sigmoid(x) b = Mul(s, doubled) }>
    y = Neg(chosen)
}
"""
LOOP = """
flow (float[4] x, int64 n) => (float[4] y) {
    y = Loop (n, , x) <body = body (int64 i, bool c, float[4] v) => (bool d, float[4] w) {
        s = Tanh(v)
        w = Add(s, x)
        d = Identity(c)
    }>
}
"""


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    """Profile a model with control flow in a form, on data."""

    def run(text: str, form: Form, feeds: Mapping[str, np.ndarray[Any, Any]]) -> Profile:
        onnx.save(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> {text}'), tmp_path / "flow.onnx")
        folder = convert(tmp_path / "flow.onnx", ConvertOptions(precision="float32", output=tmp_path / "out", force=True)).folder
        np.savez(tmp_path / "data.npz", **{name: array[None] for name, array in feeds.items()})
        return profiled(folder, form, input=str(tmp_path / "data.npz"))

    return run


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("taken", [True, False])
def test_a_branch(measure: Measure, form: Form, taken: bool) -> None:
    profile = measure(BRANCH, form, {"x": np.ones((2, 3), np.float32), "c": np.asarray(taken)})
    assert_adds_up(profile)
    costs = {layer.op: (layer.executions, layer.cost.instructions or 0) for layer in profile.layers}
    assert costs["Tanh"] == (0, 0) if not taken else costs["Tanh"][1] > 100
    assert costs["Sigmoid"] == (0, 0) if taken else costs["Sigmoid"][1] > 100
    assert costs["Add"][0] == costs["Neg"][0] == 1 and min(costs["Add"][1], costs["Neg"][1]) > 20
    assert (costs["SkipUnless"][1] > 0) == (form is Form.INTERPRETED)


@pytest.mark.parametrize("form", Form)
def test_a_loop(measure: Measure, form: Form) -> None:
    costs = []
    for iterations in (1, 5):
        profile = measure(LOOP, form, {"x": np.full(4, 0.25, np.float32), "n": np.asarray(iterations)})
        assert_adds_up(profile)
        by_operator = {layer.op: layer for layer in profile.layers}
        assert by_operator["Tanh"].executions == by_operator["Add"].executions == iterations
        costs.append(by_operator["Add"].cost.instructions or 0)
    assert costs[1] == 5 * costs[0] > 0


def test_code_that_calls_fewer_kernels_than_there_are_layers(digits: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(digits, folder)
    source = folder / "digits.c"
    lines = source.read_text().splitlines(keepends=True)
    source.write_text("".join(line for line in lines if not line.lstrip().startswith("arn_softmax_s8(")))
    with pytest.raises(ToolError, match="called 4 kernels where 5 layers were expected"):
        profiled(folder, Form.COMPILED)
