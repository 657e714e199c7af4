"""Only what a model uses is linked: a firmware of trees holds no convolution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.emit.kernels import kernel_function
from arenite.errors import ToolError
from arenite.graph import OPERATORS
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from arenite.targets.emulated import EmulatedEngine
from arenite.targets.image import Image

Make = Callable[..., Any]
pytestmark = pytest.mark.emulated

EVERY_KERNEL = {kernel_function(o.name, variant) for o in OPERATORS.values() if o.code is not None for variant in o.all_variants}


def kernels(image: Image) -> set[str]:
    return {symbol.name for symbol in image.symbols if symbol.kind == "FUNC"} & EVERY_KERNEL


@pytest.mark.parametrize("engine", ["emulated", "emulated-compiled"])
def test_trees_link_trees(predict: Make, node: Make, forest: Make, rows: Make, tmp_path: Path, engine: str) -> None:
    made = node("TreeEnsembleClassifier", outputs=("label", "p"), classlabels_int64s=[0, 1, 2], **forest(1, "class", scores=3, per_leaf=3))
    x = rows(1, 5)
    path = tmp_path / "trees.onnx"
    path.write_bytes(predict(made, x).model.SerializeToString())
    convert(path, ConvertOptions(precision="float32", output=tmp_path / "trees"))
    try:
        opened = open_engine(engine, tmp_path / "trees")
        assert isinstance(opened, EmulatedEngine)
        (results,) = opened.run([[x]])
    except ToolError as error:
        pytest.skip(str(error))
    np.testing.assert_array_equal(results[0], predict(made, x).results["c"][0])
    assert kernels(opened.image) == {"arn_tree_ensemble_f32", "arn_arg_max_f32"}
