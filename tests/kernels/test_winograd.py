"""The layouts winograd_2 and winograd_4: the converter's arrangement, its inverse in NumPy, the C kernels here and on a board."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.emit.arrange_winograd import conv_winograd_2, conv_winograd_4
from arenite.graph import OPERATORS, DType, Graph, Node, Tensor
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from arenite.variants.candidates import candidates
from arenite_runtime.kernels import KERNELS
from arenite_runtime.kernels.arranged import winograd
from arenite_runtime.record import Record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, Case, clamp, elements, output, zero_point
from kernels.portable_library import PortableLibrary

ARRANGE = {2: conv_winograd_2, 4: conv_winograd_4}


@st.composite
def convolutions(draw: DrawFn) -> Case:
    """3x3, stride 1, channels multiples of four, any pads."""
    batch, depth, filters = draw(st.integers(1, 2)), 4 * draw(st.integers(1, 4)), 4 * draw(st.integers(1, 3))
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    top, bottom = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    left, right = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    top, left = max(top, 3 - height - bottom), max(left, 3 - width - right)
    out_h, out_w = height + top + bottom - 2, width + left + right - 2
    size = {"batch": batch, "in_h": height, "in_w": width, "in_c": depth, "out_h": out_h, "out_w": out_w, "out_c": filters}
    window = dict.fromkeys(("stride_h", "stride_w", "dilation_h", "dilation_w", "group"), 1)
    window |= {"kernel_h": 3, "kernel_w": 3, "pad_top": top, "pad_left": left}
    points = {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), "shift": 0}
    record = {**size, **window, **points, **clamp(draw)}
    x = elements(draw, batch, height, width, depth)
    weight = np.maximum(elements(draw, filters, 3, 3, depth), -127)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bias = rng.integers(-(1 << 20), 1 << 20, filters).astype(np.int32)
    multiplier = rng.integers(0, 1 << 26, filters).astype(np.int32)
    return Case("Conv", "int8", record, [x, weight, bias, multiplier], output(draw, batch * out_h * out_w * filters))


def _arranged(case: Case, tile: int) -> Case:
    x, *constants = case.inputs
    pads = (case.record["pad_top"], case.record["pad_left"], 0, 0)
    node = Node("Conv", "conv", ("x", "w", "b", "m"), ("y",), {"variant": f"winograd_{tile}", "pads": pads})
    image = Tensor("x", x.shape, DType.INT8)
    tensors = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", constants, strict=True)]
    y_shape = tuple(case.record[name] for name in ("batch", "out_h", "out_w", "out_c"))
    scratch = OPERATORS["Conv"].scratch(node, [image, *tensors], [Tensor("y", y_shape, DType.INT8)])
    return Case("Conv", f"winograd_{tile}", case.record, [x, ARRANGE[tile](node, tensors, image)], case.y, scratch)


def _c_result(portable: PortableLibrary, case: Case) -> Array:
    y, scratch = case.y.copy(), np.full(case.scratch + 16, 0x5A, np.uint8)
    portable.call(f"arn_conv_s8_{case.variant}", case, [ctypes.c_void_p(array.ctypes.data) for array in (*case.inputs, y, scratch)])
    assert (scratch[case.scratch :] == 0x5A).all()
    return y


@pytest.mark.parametrize("tile", [2, 4])
def test_same_bytes_as_from_plain_constants(portable: PortableLibrary, tile: int) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(convolutions())
    def check(case: Case) -> None:
        plain, y = case.y.copy(), case.y.copy()
        KERNELS["Conv", "int8"](Record(**case.record), *case.inputs, plain)
        arranged = _arranged(case, tile)
        weight, *others = winograd(arranged.inputs[1], tile, case.record["in_c"])
        for found, wanted in zip((weight.reshape(case.inputs[1].shape), *others), case.inputs[1:], strict=True):
            np.testing.assert_array_equal(found, wanted)
        KERNELS["Conv", arranged.variant](Record(**case.record), *arranged.inputs, y)
        np.testing.assert_array_equal(y, plain)
        np.testing.assert_array_equal(_c_result(portable, arranged), plain, err_msg=str(case.record))

    check()


def _layer(filters: int, depth: int, weight: int, **attributes: object) -> tuple[Graph, Node]:
    graph = Graph("g", inputs=["x"], outputs=["y"])
    graph.tensors["x"] = Tensor("x", (1, 8, 8, depth), DType.INT8)
    graph.tensors["y"] = Tensor("y", (1, 8, 8, filters), DType.INT8)
    graph.add_constant("w", np.full((filters, 3, 3, depth), weight, np.int8))
    graph.add_constant("b", np.zeros(filters, np.int32))
    graph.add_constant("m", np.ones(filters, np.int32))
    defaults = {"variant": "int8", "shift": 0, "group": 1, "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)}
    node = Node("Conv", "conv", ("x", "w", "b", "m"), ("y",), {**defaults, **attributes})
    graph.nodes.append(node)
    return graph, node


def test_who_may_take_them() -> None:
    both = ("winograd_2", "winograd_4")
    assert candidates(*_layer(8, 16, 127))[-2:] == both
    assert candidates(*_layer(8, 64, 127))[-1] == "winograd_2"  # 1275 * 192 * 127 is beyond 2^23
    assert candidates(*_layer(8, 64, 17))[-2:] == both
    for layer in (_layer(6, 16, 1), _layer(8, 6, 1), _layer(8, 16, 1, strides=(1, 2)), _layer(8, 16, 1, dilations=(2, 1))):
        assert not set(both) & set(candidates(*layer))


def test_a_halfword_holds_two_weights() -> None:
    for first, second, fits in ((-1, -128, False), (0, -128, True), (-128, -127, True)):
        graph, node = _layer(8, 16, 0)
        weight = graph.tensor("w").data
        assert weight is not None
        weight[2, 0, 0, 0], weight[3, 0, 0, 0] = first, second
        assert ("paired" in candidates(graph, node)) == ("winograd_2" in candidates(graph, node)) == fits


def test_scratch_is_known() -> None:
    """Worked by hand from runtime_c/kernels/winograd.h."""
    graph, node = _layer(8, 16, 1)
    operands = [graph.tensor(name) for name in node.inputs]
    sizes = [
        OPERATORS["Conv"].scratch(node.with_attributes(variant=v), operands, [graph.tensor("y")]) for v in ("winograd_2", "winograd_4")
    ]
    assert sizes == [10 * 16 + 4 * 4 * (2 * 80 + 8), 10 * 16 + 4 * 6 * (80 + 8)]


def test_scratch_of_strips() -> None:
    """Where pixels and rows of image and result are of one size, of a pair of tiles and of a column of the image."""
    attributes = {"variant": "winograd_4", "pads": (1, 1, 1, 1)}
    node = Node("Conv", "layer", ("x",), ("y",), attributes)
    image = Tensor("x", (1, 32, 32, 16), DType.INT8)
    wider = Tensor("y", (1, 32, 32, 20), DType.INT8)
    assert OPERATORS["Conv"].scratch(node, [image], [image]) == 10 * 16 + 4 * 6 * (80 + 8) + 32 * 16
    assert OPERATORS["Conv"].scratch(node, [image], [wider]) == (8 * 4 + 2) * 16 + 4 * 6 * (4 * 80 + 8)


@pytest.mark.emulated
def test_on_a_board(tmp_path: Path) -> None:
    """Convolutions in a row, with widths that tiles do not fill, uneven pads and channels that blocks do not fill the loop with."""
    rng = np.random.default_rng(3)
    shapes = [(12, 8, (1, 1, 1, 1)), (20, 12, (0, 2, 1, 0)), (4, 20, (1, 0, 0, 0)), (8, 4, (2, 2, 2, 2))]
    nodes, constants, name = [], [], "x"
    for index, (filters, depth, pads) in enumerate(shapes):
        weight = (rng.standard_normal((filters, depth, 3, 3)) / np.sqrt(9 * depth)).astype(np.float32)
        constants += [onnx.numpy_helper.from_array(weight, f"w{index}")]
        nodes += [onnx.helper.make_node("Conv", [name, f"w{index}"], [f"c{index}"], pads=pads)]
        nodes += [onnx.helper.make_node("Relu", [f"c{index}"], [name := f"y{index}"])]
    ports = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", (1, 8, 7, 13)), (name, None))]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "rows", ports[:1], ports[1:], constants), opset_imports=[onnx.helper.make_opsetid("", 17)]
    )
    onnx.save(model, tmp_path / "rows.onnx")
    conversion = convert(tmp_path / "rows.onnx", ConvertOptions(optimize="speed", target="cortex-m4", output=tmp_path / "out"))
    variants = {call.variant for call in conversion.program.calls if call.op == "Conv"}
    assert variants & {"winograd_2", "winograd_4"}
    port = conversion.program.tensors[conversion.program.inputs[0].tensor]
    sample = [rng.integers(-128, 128, port.shape).astype(np.int8)]
    expected = open_engine("numpy", conversion.folder).run([sample])[0]
    for engine in ("c", "compiled", "emulated-compiled"):
        for a, b in zip(open_engine(engine, conversion.folder).run([sample])[0], expected, strict=True):
            np.testing.assert_array_equal(a, b)
