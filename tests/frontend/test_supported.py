"""The table of supported operators follows from the importers and the operator schema."""

from __future__ import annotations

import onnx.defs
from arenite.frontend.control_flow import CONTROL_FLOW
from arenite.frontend.importers import IMPORTERS, MOVES_INT8
from arenite.frontend.importers.sequence import SEQUENCE
from arenite.frontend.model_file import NEWEST_OPSET, OLDEST_OPSET
from arenite.frontend.standard_functions import FUNCTIONS
from arenite.frontend.supported import supported_operators
from arenite.graph import OPERATORS
from arenite.graph.expression import UNARY

# What the first milestone promises, besides the unary functions.
REQUIRED = {
    *("Conv", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Sum", "Pow", "Min", "Max", "BatchNormalization", "Dropout"),
    *("Relu", "Clip", "PRelu", "Softmax", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "ReduceMean"),
    *("Pad", "Concat", "Slice", "Split", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity"),
    *("Constant", "Cast", "QuantizeLinear", "DequantizeLinear"),
}


def test_rows():
    rows = {row.name: row for row in supported_operators()}
    assert list(rows) == sorted(rows)
    assert set(rows) >= {*IMPORTERS, *FUNCTIONS, *CONTROL_FLOW, "Shape", "Range"}
    assert REQUIRED | set(UNARY) <= set(rows)
    assert (rows["Conv"].first_opset, rows["Conv"].last_opset) == (OLDEST_OPSET, NEWEST_OPSET)
    assert rows["HardSwish"].first_opset == 14
    assert rows["Conv"].becomes == ("Conv", "DepthwiseConv")
    assert rows["GlobalAveragePool"].becomes == ("ReduceMean",)
    assert rows["Gather"].becomes == ("Slice", "Gather")
    assert rows["Attention"].notes == "written out as the standard defines it"


def test_rows_name_real_operators():
    for row in supported_operators():
        domain, _, plain = row.name.rpartition(".")
        assert domain == "com.microsoft" or onnx.defs.has(plain, domain)
        assert set(row.becomes) <= set(OPERATORS)
        evaluated = row.notes.startswith("evaluated at conversion")
        assert row.becomes or evaluated or row.name in {"Constant", "Dropout", "EyeLike", "Identity", *SEQUENCE, *FUNCTIONS}


def test_every_declared_source_has_an_importer():
    declared = {name for operator in OPERATORS.values() for name in operator.onnx}
    assert declared <= {*IMPORTERS, *CONTROL_FLOW}
    assert set(IMPORTERS) >= set(MOVES_INT8)


def test_the_installed_onnx_is_covered():
    """A new release of ONNX may bring versions of operators that the importers do not follow yet: then this test says so."""
    newer = {
        schema.name
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == "" and schema.name in IMPORTERS and schema.since_version > NEWEST_OPSET
    }
    assert not newer
