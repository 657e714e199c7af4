"""Files that are no readable ONNX model: each with its message and exit code 3."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from arenite.errors import ModelFileError
from arenite.frontend import load
from arenite.graph.onnx_export import evaluate
from onnx import TensorProto, helper, numpy_helper


def dense_model(weight, opset=17):
    return helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"], name="dense")],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, weight.shape[0]])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, weight.shape[1]])],
            [numpy_helper.from_array(weight, "w")],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=10,
    )


def refused(path, pattern):
    with pytest.raises(ModelFileError, match=pattern) as caught:
        load(path)
    assert caught.value.exit_code == 3
    assert str(path) in str(caught.value)


def test_missing(tmp_path):
    refused(tmp_path / "none.onnx", "no such file")


def test_folder(tmp_path):
    refused(tmp_path, "a folder, not an ONNX file")


def test_empty(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"")
    refused(path, "the file is empty")


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
        (b"PK\x03\x04" + bytes(40), "zip archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\x10\0\0\0ARN1" + bytes(40), "converted already"),
        (b"import torch\nprint('hello')\n", "not an ONNX model"),
        (bytes(range(256)), "not an ONNX model"),
    ],
)
def test_other_formats(content, pattern, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    refused(path, pattern)


def test_every_truncation(tmp_path):
    """No prefix of a model loads, and none gives a traceback."""
    data = dense_model(np.ones((4, 2), np.float32)).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    load(path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        refused(path, "empty|truncated|not valid ONNX|not an ONNX model")


def test_opset_too_new(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(dense_model(np.ones((4, 2), np.float32), 29).SerializeToString())
    refused(path, "opset 29 is newer than the supported 6…28")


def test_opset_too_old(tmp_path):
    """An operator that is still the same is taken; Gemm of opset 1 is another."""
    path = tmp_path / "m.onnx"
    model = dense_model(np.ones((4, 2), np.float32), 5)
    path.write_bytes(model.SerializeToString())
    load(path)
    model.graph.node[0].op_type = "Gemm"
    model.graph.node[0].input.append("w")
    path.write_bytes(model.SerializeToString())
    refused(path, "opset 5 is older than the supported 6…28")


def external_model(folder):
    path = folder / "m.onnx"
    weight = np.arange(8, dtype=np.float32).reshape(4, 2)
    onnx.save(dense_model(weight), path, save_as_external_data=True, location="m.data", size_threshold=0)
    return path


def test_external_data(tmp_path):
    graph = load(external_model(tmp_path))
    x = np.ones((1, 4), np.float32)
    np.testing.assert_allclose(evaluate(graph, {"x": x})["y"], [[12, 16]])


def test_external_data_missing(tmp_path):
    path = external_model(tmp_path)
    (tmp_path / "m.data").unlink()
    refused(path, f"the weights of w are in another file, m.data, which is missing: expected {re.escape(str(tmp_path / 'm.data'))}")


def test_external_data_truncated(tmp_path):
    path = external_model(tmp_path)
    (tmp_path / "m.data").write_bytes(bytes(31))
    refused(path, "m.data has 31 bytes, but the weights of w reach to byte 32: it is truncated")


def test_no_output(tmp_path):
    model = dense_model(np.ones((2, 3), np.float32))
    del model.graph.output[:]
    onnx.save(model, tmp_path / "m.onnx")
    refused(tmp_path / "m.onnx", "the graph has no output")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(bad, tmp_path):
    weight = np.ones((4, 2), np.float32)
    weight[2, 1] = bad
    path = tmp_path / "m.onnx"
    path.write_bytes(dense_model(weight).SerializeToString())
    refused(path, rf"initializer w\[4, 2\], used by node dense \(MatMul\), holds {bad} \(not finite\) at index \[2, 1\] \(1 of 8 values")


def test_contradiction_is_explained(tmp_path):
    model = dense_model(np.ones((4, 2), np.float32))
    model.graph.node[0].input[1] = "nowhere"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    refused(path, "not valid ONNX: .*nowhere")


def test_name_that_is_not_text(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(dense_model(np.ones((4, 2), np.float32)).SerializeToString().replace(b"dense", b"den\xffe"))
    refused(path, "damaged: a name in it is not UTF-8 text")


def test_initializer_of_wrong_length(tmp_path):
    model = dense_model(np.ones((4, 2), np.float32))
    model.graph.initializer[0].raw_data = bytes(12)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    refused(path, "w")


def test_initializers_as_graph_inputs(tmp_path):
    model = dense_model(np.ones((4, 2), np.float32), opset=8)
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 2]))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert load(path).inputs == ["x"]


def test_name(tmp_path):
    path = tmp_path / "net.v2.onnx"
    path.write_bytes(dense_model(np.ones((4, 2), np.float32)).SerializeToString())
    assert load(path).name == "net.v2"
    assert load(path, name="net").name == "net"
    assert load(str(path)).name == "net.v2"
