"""Preparation of features and labels (ai.onnx.ml): Scaler, Normalizer, Binarizer, Imputer, encoders, selection, ZipMap.

A tensor of texts is one of positions in a table of labels, Graph.labels: texts never exist at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from arenite.frontend.importers.indexing import gather
from arenite.frontend.importers.scores import as_type, floats, real, strings, take
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, TensorList, Value
from arenite.graph import DType
from arenite.graph.operators import UNBOUNDED

Array = NDArray[np.generic]


def scaler(node: NodeImport) -> Sequence[Value]:
    """(x − offset) · scale."""
    x = real(node, 0)
    for op, name in (("Sub", "offset"), ("Mul", "scale")):
        values = floats(node, name)
        if values.size:
            x = node.emit(op, [x, _along_features(node, x, name, values.astype(np.float32))], clip=UNBOUNDED)
    return [x]


def _along_features(node: NodeImport, x: str, what: str, values: Array) -> str:
    """One value for all features, or one each, as an operand of a broadcast with x."""
    shape = node.graph.tensors[x].shape
    if not shape or values.size not in (1, shape[-1]):
        node.malformed(f"{what} has {values.size} values, the input {list(shape)}")
    return node.add_constant(Constant(f"{node.name}/{what}", values.reshape((1,) * (len(shape) - 1) + (-1,))))


_REDUCTIONS = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}


def normalizer(node: NodeImport) -> Sequence[Value]:
    """Rows divided by their maximum, or a norm; where that is 0 they stay."""
    x, norm = real(node, 0), str(node.attribute("norm", "MAX"))
    if norm not in _REDUCTIONS:
        node.malformed(f"norm is {norm}, none of {', '.join(_REDUCTIONS)}")
    last = len(node.graph.tensors[x].shape) - 1
    divisor = node.results(_REDUCTIONS[norm], [x], axes=(last,), keepdims=True)[0]
    zero = node.add_constant(Constant(f"{node.name}/zero", np.zeros((1,) * (last + 1), np.float32)))
    is_zero = as_type(node, node.results("Equal", [divisor, zero])[0], DType.FLOAT32)
    return [node.emit("Div", [x, node.emit("Add", [divisor, is_zero], clip=UNBOUNDED)], clip=UNBOUNDED)]


def binarizer(node: NodeImport) -> Sequence[Value]:
    x = real(node, 0)
    threshold = np.full((1,) * len(node.graph.tensors[x].shape), node.attribute("threshold", 0.0), np.float32)
    above = node.results("Less", [node.add_constant(Constant(f"{node.name}/threshold", threshold)), x])[0]
    return [as_type(node, above, DType.FLOAT32)]


def imputer(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    tensor = node.graph.tensors[x]
    kind = "float" if tensor.dtype is DType.FLOAT32 else "int64"
    imputed = np.asarray(node.attribute(f"imputed_value_{kind}s", ()), tensor.dtype.numpy)
    if not imputed.size:
        node.malformed(f"imputed_value_{kind}s is missing for an input of {tensor.dtype.value}")
    replaced = node.attribute(f"replaced_value_{kind}", 0)
    values = _along_features(node, x, "imputed", imputed)
    if np.isnan(replaced):
        return [node.results("Where", [node.results("Equal", [x, x])[0], x, values])[0]]
    missing = np.full((1,) * len(tensor.shape), replaced, tensor.dtype.numpy)
    equal = node.results("Equal", [x, node.add_constant(Constant(f"{node.name}/replaced", missing))])[0]
    return [node.results("Where", [equal, values, x])[0]]


def array_feature_extractor(node: NodeImport) -> Sequence[Value]:
    """Gather along the last axis by a list of indices; of a vector the result is a row."""
    data, indices = node.value(0), node.value(1)
    shape = node.shape(data)
    count = int(np.prod(node.shape(indices)))
    flat = _flat(node, indices)
    if isinstance(data, Constant) and data.array.dtype.kind in "OSU":
        return [_texts_of(node, [str(text) for text in data.array.reshape(-1)], flat, count)]
    result = gather(replace(node, inputs=(data, flat), attributes={"axis": -1}))[0]
    assert isinstance(result, str)
    return [node.reshape(result, (*(shape[:-1] if len(shape) > 1 else (1,)), count))]


def _flat(node: NodeImport, value: Value) -> Value:
    if isinstance(value, Constant):
        return Constant(f"{value.name}/flat", value.array.reshape(-1))
    return node.reshape(value, (node.graph.tensors[value].elements,))


def _texts_of(node: NodeImport, table: Sequence[str], index: Value, count: int) -> str:
    if isinstance(index, Constant):
        raise AssertionError("constant operands are folded")
    return _labelled(node, node.reshape(as_type(node, index, DType.INT64), (1, count)), table)


def _labelled(node: NodeImport, index: str, table: Sequence[str]) -> str:
    """A tensor of texts. A copy where the positions are an ONNX value in their own right, which they stay."""
    if index in node.inputs:
        index = node.emit("Reshape", [index], shape=node.graph.tensors[index].shape)
    node.graph.labels[index] = tuple(table)
    return index


def feature_vectorizer(node: NodeImport) -> Sequence[Value]:
    """Operands as float rows side by side, each cut or filled up with zeros to its inputdimensions."""
    sizes = node.ints("inputdimensions", ())
    if len(sizes) != len(node.inputs) or not sizes or min(sizes) < 1:
        node.malformed(f"inputdimensions {list(sizes)} does not fit {len(node.inputs)} inputs")
    return [node.emit("Concat", [_fitted(node, real(node, i), size) for i, size in enumerate(sizes)], axis=1)]


def _fitted(node: NodeImport, x: str, size: int) -> str:
    shape = node.graph.tensors[x].shape
    if len(shape) == 1:
        x, shape = node.reshape(x, (1, *shape)), (1, *shape)
    if len(shape) != 2:
        node.malformed(f"an input has the shape {list(shape)}")
    if shape[1] > size:
        return node.emit("Slice", [x], starts=(0, 0), steps=(1, 1), sizes=(shape[0], size))
    return x if shape[1] == size else node.emit("Pad", [x], pads=(0, 0, 0, size - shape[1]), value=0.0)


def one_hot_encoder(node: NodeImport) -> Sequence[Value]:
    """1 at the category, all zeros where it is none of them (also for zeros=0, where ONNX wants an error)."""
    texts = strings(node, "cats_strings")
    if texts:
        x, table = _texts(node)
        rows = np.asarray([[text == category for category in texts] for text in table], np.float32)
        return [take(node, rows, x, "categories")]
    categories = np.asarray(node.attribute("cats_int64s", ()), np.int64)
    if not categories.size:
        node.malformed("neither cats_int64s nor cats_strings is given")
    x = as_type(node, node.tensor(0), DType.INT64)
    shape = node.graph.tensors[x].shape
    constant = node.add_constant(Constant(f"{node.name}/categories", categories.reshape((1,) * len(shape) + (-1,))))
    return [as_type(node, node.results("Equal", [node.reshape(x, (*shape, 1)), constant])[0], DType.FLOAT32)]


def _texts(node: NodeImport) -> tuple[str, tuple[str, ...]]:
    """Operand 0 as positions and the texts that they stand for."""
    x = node.value(0)
    if not isinstance(x, str) or not _is_text(node, x):
        node.refuse("its texts are known at run time only", "feed the model numbers: texts do not exist on the target")
    return x, node.graph.labels[x]


MOVES_TEXTS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Transpose", "Cast"})
"""Operators whose result, of a tensor of texts, is one."""
_READS_TEXTS = frozenset(f"ai.onnx.ml.{name}" for name in ("LabelEncoder", "CategoryMapper", "OneHotEncoder"))


def text_labels(node: NodeImport) -> tuple[str, ...]:
    """What operand 0 stands for where that is texts; empty elsewhere. Refuses what takes texts for anything else."""
    texts = [value for value in node.inputs if isinstance(value, str) and _is_text(node, value)]
    if not texts or node.operator in _READS_TEXTS:
        return ()
    if node.operator not in MOVES_TEXTS or (node.operator == "Cast" and node.attribute("to") != TensorProto.STRING):
        node.refuse(f"{texts[0]} holds texts", "end the model at the labels, or use a LabelEncoder to turn them into numbers")
    if node.operator == "Cast":
        node.operator = "Identity"
    return node.graph.labels[texts[0]]


def keep_text_labels(node: NodeImport, values: Sequence[Value | TensorList], texts: tuple[str, ...]) -> None:
    """Give the results of a movement of texts the same table."""
    for value in values:
        if isinstance(value, str):
            node.graph.labels.setdefault(value, texts)


def _is_text(node: NodeImport, x: Value) -> bool:
    return isinstance(x, str) and x in node.graph.labels and node.graph.tensors[x].dtype is DType.INT64


_KINDS = {"strings": "string", "int64s": "int64", "floats": "float", "tensor": "tensor"}
_DEFAULTS: dict[str, Any] = {"strings": "_Unused", "int64s": -1, "floats": -0.0}


def label_encoder(node: NodeImport) -> Sequence[Value]:
    if node.attribute("classes_strings"):  # ai.onnx.ml 1: positions ↔ texts
        texts = strings(node, "classes_strings")
        numbers = np.arange(len(texts), dtype=np.int64)
        if _is_text(node, node.value(0)):
            return [_encoded(node, texts, numbers, np.int64(node.attribute("default_int64", -1)))]
        return [_encoded(node, numbers, texts, str(node.attribute("default_string", "_Unused")))]
    keys, _ = _listed(node, "keys")
    values, result = _listed(node, "values")
    if len(keys) != len(values) or not len(keys):
        node.malformed(f"{len(keys)} keys and {len(values)} values")
    default = node.attribute(f"default_{_KINDS[result]}")
    if default is None:
        default = _DEFAULTS["strings" if isinstance(values, tuple) else "floats" if values.dtype.kind == "f" else "int64s"]
    elif result == "tensor" and not isinstance(values, tuple):
        default = np.asarray(default).reshape(-1)[0]
    return [_encoded(node, keys, values, default)]


def category_mapper(node: NodeImport) -> Sequence[Value]:
    texts, numbers = strings(node, "cats_strings"), np.asarray(node.attribute("cats_int64s", ()), np.int64)
    if len(texts) != len(numbers) or not texts:
        node.malformed(f"{len(texts)} cats_strings and {len(numbers)} cats_int64s")
    if _is_text(node, node.value(0)):
        return [_encoded(node, texts, numbers, np.int64(node.attribute("default_int64", -1)))]
    return [_encoded(node, numbers, texts, str(node.attribute("default_string", "_Unused")))]


def _listed(node: NodeImport, what: str) -> tuple[tuple[str, ...] | Array, str]:
    """keys_… or values_…: texts, or an array of numbers; and which attribute it is."""
    given = [kind for kind in _KINDS if node.attribute(f"{what}_{kind}") is not None]
    if len(given) != 1:
        node.malformed(f"{what} are given {len(given)} times")
    (kind,) = given
    if kind == "strings":
        return strings(node, f"{what}_strings"), kind
    dtype = {"int64s": np.int64, "floats": np.float32}.get(kind)
    array = np.asarray(node.attribute(f"{what}_{kind}"), dtype).reshape(-1)
    if array.dtype.kind in "OSU":
        return tuple(str(text) for text in array), kind
    return (array.astype(np.float32) if array.dtype.kind == "f" else array), kind


def _encoded(node: NodeImport, keys: tuple[str, ...] | Array, values: tuple[str, ...] | Array, default: Any) -> str:
    """values[i] where the operand is keys[i]; of equal keys the last counts."""
    table: tuple[str, ...] | Array
    if isinstance(keys, tuple):
        x, texts = _texts(node)
        position = {key: i for i, key in enumerate(keys)}
        picked = [position.get(text, len(keys)) for text in texts]
        index, table = x, _extended(values, default)
        table = tuple(table[i] for i in picked) if isinstance(table, tuple) else table[picked]
    else:
        index, table = _key_index(node, keys, values, default)
    if isinstance(table, tuple):
        return _labelled(node, index, table)
    return node.reshape(take(node, table, index, "values"), node.graph.tensors[index].shape)


def _extended(values: tuple[str, ...] | Array, default: Any) -> tuple[str, ...] | Array:
    if isinstance(values, tuple):
        return (*values, str(default))
    return np.append(values, np.asarray(default, values.dtype))


def _key_index(node: NodeImport, keys: Array, values: tuple[str, ...] | Array, default: Any) -> tuple[str, tuple[str, ...] | Array]:
    """Position of every element among the keys, and the values there."""
    x = node.tensor(0)
    dtype = node.graph.tensors[x].dtype
    if dtype not in (DType.FLOAT32, DType.INT32, DType.INT64):
        dtype = DType.INT32
        x = as_type(node, x, dtype)
    extended = _extended(values, default)
    nan = np.isnan(keys) if keys.dtype.kind == "f" else np.zeros(keys.shape, bool)
    unique = {key: i for i, key in enumerate(keys.astype(dtype.numpy).tolist()) if not nan[i]}
    ordered = sorted(unique)
    if not ordered:
        node.refuse("every key is NaN", "give a key that is a number")
    order = [*(unique[key] for key in ordered), *np.flatnonzero(nan)[-1:].tolist(), len(keys)]
    table = tuple(extended[i] for i in order) if isinstance(extended, tuple) else extended[order]
    # The position behind the keys is the default's; NaN, where it is a key, comes behind that.
    if nan.any():
        table = (*table[:-2], table[-1], table[-2]) if isinstance(table, tuple) else table[[*range(len(table) - 2), -1, -2]]
    constant = node.add_constant(Constant(f"{node.name}/keys", np.asarray(ordered, dtype.numpy)))
    place = len(ordered) + (1 if nan.any() else 0)
    return node.results("KeyIndex", [x, constant], nan=place)[0], table


def zip_map(node: NodeImport) -> Sequence[Value]:
    """The floats as they are, and what they belong to as labels of the last axis."""
    value = node.value(0)
    if isinstance(value, Constant):
        raise AssertionError("constant operands are folded")
    labels = strings(node, "classlabels_strings") or tuple(str(label) for label in node.ints("classlabels_int64s", ()))
    shape = node.graph.tensors[value].shape
    if not shape or len(labels) != shape[-1]:
        node.malformed(f"{len(labels)} labels do not fit {list(shape)}")
    return [_labelled(node, value, labels)]


_TEXT = "texts are positions in a table of labels; a graph input cannot be text"

FEATURES = {
    "ai.onnx.ml.Scaler": Importer(scaler),
    "ai.onnx.ml.Normalizer": Importer(normalizer, "MAX, L1, L2"),
    "ai.onnx.ml.Binarizer": Importer(binarizer),
    "ai.onnx.ml.Imputer": Importer(imputer, "float32 and integers; NaN"),
    "ai.onnx.ml.ArrayFeatureExtractor": Importer(array_feature_extractor, "indices constant or computed; text data become labels"),
    "ai.onnx.ml.FeatureVectorizer": Importer(feature_vectorizer),
    "ai.onnx.ml.OneHotEncoder": Importer(one_hot_encoder, f"unknown categories give zeros; {_TEXT}"),
    "ai.onnx.ml.LabelEncoder": Importer(label_encoder, _TEXT),
    "ai.onnx.ml.CategoryMapper": Importer(category_mapper, _TEXT),
    "ai.onnx.ml.ZipMap": Importer(zip_map, "a float tensor, and labels of its last axis"),
}
