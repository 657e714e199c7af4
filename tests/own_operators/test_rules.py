"""What the worked example does not need: an int8 rule of one's own with float parameters, several outputs, another element type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import ToolError
from arenite.own_operators import used_operators
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import ENGINES, open_engine
from arenite_runtime import Model
from onnx import TensorProto, helper

DECLARATION = """
from pathlib import Path

import numpy as np
from arenite.graph import DType
from arenite.graph.operators import Operand
from arenite.own_operators import CKernels, OwnOperator
from arenite_runtime import Field
from arenite_runtime import OwnOperator as Kernels


def square_s8(p, x):
    v = x.astype(np.int32) - p.input_zero_point
    y = np.rint(np.float32(p.scale) * (v * v).astype(np.float32)) + np.float32(p.output_zero_point)
    return np.clip(y, -128, 127).astype(np.int8)


def lower_square(lowering, node):
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    lowering.emit(
        node, node.op, (node.input,), scale=float(x.scale) ** 2 / float(y.scale), zero_points=(int(x.zero_point), int(y.zero_point))
    )


def square_record(node, inputs, outputs):
    x, y = node.attributes.get("zero_points", (0, 0))
    return {"count": outputs[0].elements, "input_zero_point": x, "output_zero_point": y, "scale": node.attributes.get("scale", 0.0)}


FOLDER = Path(__file__).parent
SQUARE = OwnOperator(
    kernels=Kernels(
        "com.example::Square",
        (Field("count"), Field("input_zero_point"), Field("output_zero_point"), Field("scale", is_float=True)),
        {"int8": square_s8, "float32": lambda p, x: x * x},
    ),
    summary="x times x",
    inputs=(Operand("x", ""),),
    importer=lambda node: [node.emit("com.example::Square", [node.activation(0)])],
    shape=lambda inputs, attributes: inputs[0].shape,
    record=square_record,
    lower=lower_square,
    in_place=(0,),
    c=CKernels(
        folder=FOLDER,
        header="own.h",
        sources=("own.c",),
        functions={"int8": "square_s8", "float32": "square_f32"},
        kernels={"int8": "kernel_square", "float32": "kernel_square_f32"},
    ),
)


def extremes(p, x):
    rows = x.reshape(p.rows, p.length)
    return rows.max(axis=1).reshape(x.shape[:-1]), rows.argmax(axis=1).reshape(x.shape[:-1])


EXTREMES = OwnOperator(
    kernels=Kernels("com.example::Extremes", (Field("rows"), Field("length")), {"float32": extremes}, outputs=2),
    summary="the largest value along the last axis, and where it is first",
    inputs=(Operand("x", ""),),
    importer=lambda node: node.results("com.example::Extremes", [node.activation(0)]),
    results=lambda inputs, attributes: ((inputs[0].shape[:-1], DType.FLOAT32), (inputs[0].shape[:-1], DType.INT64)),
    record=lambda node, inputs, outputs: {"rows": outputs[0].elements, "length": inputs[0].shape[-1]},
    macs=lambda inputs, output: 1000,
    c=CKernels(FOLDER, "own.h", ("own.c",), {"float32": "extremes_f32"}, {"float32": "kernel_extremes"}),
)
"""

HEADER = """
#include "arenite_resolver.h"
#include "extremes_operator.h"
#include "square_operator.h"

void square_s8(const square_params *p, const int8_t *x, int8_t *y);
void square_f32(const square_params *p, const float *x, float *y);
void extremes_f32(const extremes_params *p, const float *x, float *largest, int64_t *where);

extern const arn_kernel kernel_square, kernel_square_f32, kernel_extremes;
"""

SOURCE = """
#include "own.h"

#include <math.h>

void square_s8(const square_params *p, const int8_t *x, int8_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t v = x[i] - p->input_zero_point;
        const float scaled = rintf(p->scale * (float)(v * v)) + (float)p->output_zero_point;
        y[i] = (int8_t)(scaled > 127 ? 127 : scaled < -128 ? -128 : scaled);
    }
}

void square_f32(const square_params *p, const float *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = x[i] * x[i];
    }
}

void extremes_f32(const extremes_params *p, const float *x, float *largest, int64_t *where) {
    for (int32_t row = 0; row < p->rows; row++, x += p->length) {
        int32_t best = 0;
        for (int32_t i = 1; i < p->length; i++) {
            best = x[i] > x[best] ? i : best;
        }
        largest[row] = x[best];
        where[row] = best;
    }
}

static int check_square(const arn_signature *s) {
    const square_params *p = s->params;
    const uint32_t size = s->inputs[0].dtype == ARN_FLOAT32 ? 4 : 1;
    const int32_t zero = p->input_zero_point;
    return s->inputs[0].bytes == s->outputs[0].bytes && s->inputs[0].bytes / size == (uint32_t)p->count && zero >= -128 && zero <= 127;
}

static int check_extremes(const arn_signature *s) {
    const extremes_params *p = s->params;
    return p->rows > 0 && p->length > 0 && s->outputs[0].bytes / 4 == (uint32_t)p->rows && s->outputs[1].bytes / 8 == (uint32_t)p->rows &&
           (uint64_t)s->inputs[0].bytes == (uint64_t)(uint32_t)p->rows * (uint32_t)p->length * 4;
}

static void invoke_square_s8(const arn_call *c) {
    square_s8(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_square_f32(const arn_call *c) {
    square_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_extremes(const arn_call *c) {
    extremes_f32(c->params, c->inputs[0], c->outputs[0], c->outputs[1]);
}

const arn_kernel kernel_square = {SQUARE_OP, SQUARE_INT8, SQUARE_WORDS, 1, 1, check_square, invoke_square_s8};
const arn_kernel kernel_square_f32 = {SQUARE_OP, SQUARE_FLOAT32, SQUARE_WORDS, 1, 1, check_square, invoke_square_f32};
const arn_kernel kernel_extremes = {EXTREMES_OP, EXTREMES_FLOAT32, EXTREMES_WORDS, 1, 2, check_extremes, invoke_extremes};
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mine.py with its C, model.onnx (Relu → Square → Extremes) and data.npz."""
    folder = tmp_path_factory.mktemp("rules")
    for name, text in (("mine.py", DECLARATION), ("own.h", HEADER), ("own.c", SOURCE)):
        (folder / name).write_text(text)
    nodes = [
        helper.make_node("Add", ["x", "x"], ["doubled"], "double"),
        helper.make_node("Square", ["doubled"], ["squared"], "square", domain="com.example"),
        helper.make_node("Extremes", ["squared"], ["largest", "where"], "extremes", domain="com.example"),
    ]
    ports = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in (
            ("squared", TensorProto.FLOAT, (3, 7)),
            ("largest", TensorProto.FLOAT, (3,)),
            ("where", TensorProto.INT64, (3,)),
        )
    ]
    graph = helper.make_graph(nodes, "rules", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, 7))], ports)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "model.onnx")
    np.savez(folder / "data.npz", x=np.random.default_rng(5).normal(0.3, 1, (6, 3, 7)).astype(np.float32))
    return folder


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_every_engine(folder: Path, tmp_path: Path, precision: str) -> None:
    operators = (folder / "mine.py",)
    options = ConvertOptions(precision=precision, calibration=folder / "data.npz", operators=operators, output=tmp_path / "built")
    conversion = convert(folder / "model.onnx", options)
    variants = {call.op: call.variant for call in conversion.program.calls}
    assert (variants["com.example::Square"], variants["com.example::Extremes"]) == (precision, "float32")
    assert sum(call.macs for call in conversion.program.calls) == 1000
    data = np.load(folder / "data.npz")["x"]
    with used_operators(operators):
        model = Model.load((tmp_path / "built" / "model.arn").read_bytes())
        inputs = [[model.quantize_input(0, sample)] for sample in data]
        results = {}
        for engine in ENGINES:
            try:
                results[engine] = open_engine(engine, tmp_path / "built").run(inputs)
            except ToolError:
                assert engine not in ("numpy", "c")
    for sample, expected in enumerate(results["numpy"]):
        squared = model.dequantize_output(0, expected[0])
        exact = (2 * data[sample]) ** 2
        np.testing.assert_allclose(squared, exact, rtol=0, atol=1e-5 if precision == "float32" else 0.05 * np.max((2 * data) ** 2))
        np.testing.assert_array_equal(expected[2], squared.argmax(axis=1))
        for engine, outputs in results.items():
            for name, got, wanted in zip(("squared", "largest", "where"), outputs[sample], expected, strict=True):
                np.testing.assert_array_equal(got, wanted, err_msg=f"{engine} {name}")
