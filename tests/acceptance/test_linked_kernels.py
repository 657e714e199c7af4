"""Only what a model uses is linked: an image has the kernels that its resolver names, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arenite.emit.kernels import kernel_function, resolver_entries
from arenite.errors import ToolError
from arenite.graph import OPERATORS
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets.artifact import ArtifactModel
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import Form, build_run_model, is_model
from arenite.targets.image import Image

pytestmark = pytest.mark.emulated

MODELS = {
    "sklearn/digits_rf20": "float32",
    "mlperf/kws01_int8_tf2onnx_qdq": "int8",
    "mlperf/kws01_fp32": "float32",
    "repo/mnist8_cntk": "int8",
    "keras/keras_har_lstm2": "int8",
}
TREES_CODE = {Form.INTERPRETED: 8_000, Form.COMPILED: 2_700}
"""Bytes of flash beside the model that an image of digits_rf20 may take; docs/runtime.md has the figure that was measured."""

EVERY_KERNEL = {kernel_function(o.name, variant) for o in OPERATORS.values() if o.code is not None for variant in o.all_variants}


@pytest.fixture(scope="module", params=MODELS)
def converted(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Conversion:
    path = data / "models" / f"{request.param}.onnx"
    options = ConvertOptions(precision=MODELS[request.param], output=tmp_path_factory.mktemp("linked") / "model")
    return convert(path, options)


def image_of(conversion: Conversion, form: Form) -> tuple[Image, ArtifactModel]:
    model = ArtifactModel.read(conversion.folder)
    try:
        return build_run_model(model, form, board_named(target_named("cortex-m4").board)), model
    except ToolError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("form", Form)
def test_kernels_of_the_image(converted: Conversion, form: Form) -> None:
    image, _ = image_of(converted, form)
    linked = {symbol.name for symbol in image.symbols if symbol.kind == "FUNC"}
    needed = {kernel_function(call.op, call.variant) for call in converted.program.calls}
    assert len(EVERY_KERNEL) > 200
    assert linked & EVERY_KERNEL == needed
    objects = {symbol.name for symbol in image.symbols if symbol.name.startswith("arn_kernel_")}
    assert objects == (set(resolver_entries(converted.program)) if form is Form.INTERPRETED else set())


@pytest.mark.parametrize("form", Form)
def test_trees_have_no_convolution(data: Path, tmp_path: Path, form: Form) -> None:
    conversion = convert(data / "models/sklearn/digits_rf20.onnx", ConvertOptions(precision="float32", output=tmp_path / "trees"))
    image, model = image_of(conversion, form)
    assert not [symbol.name for symbol in image.symbols if re.search(r"arn_.*(conv|fully_connected|matmul|pool)", symbol.name)]
    code = image.flash_bytes - image.model_bytes(lambda symbol: is_model(symbol, model, form))
    assert code <= TREES_CODE[form]
