"""Reading an ONNX file: what is not one, what is torn, what is missing beside it."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.checker
import onnx.inliner
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from onnx import external_data_helper

from arenite.errors import ModelFileError

OLDEST_OPSET, NEWEST_OPSET = 6, 28
"""Versions of the default operator set whose definitions the importers follow."""

OF_ANY_OPSET = frozenset({"LayerNormalization"})
"""Operators that onnxruntime has in the default domain from opset 1 on, and writes into files of older opsets than the standard's."""

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (4, b"TFL3", "a TensorFlow Lite model: convert it with `python -m tf2onnx.convert --tflite FILE --output model.onnx`"),
    (0, b"\x89HDF", "an HDF5 (Keras) file: export the model with tf2onnx"),
    (0, b"PK\x03\x04", "a zip archive (a PyTorch or Keras file?): export the model with torch.onnx.export or tf2onnx"),
    (4, b"ARN1", "a flat model that was converted already"),
    (0, b"version https://git-lfs", "a Git LFS pointer: fetch the file itself with `git lfs pull`"),
)


def read_model(path: Path) -> onnx.ModelProto:
    """The model with its external data in memory and its local functions inlined.

    Raises ModelFileError where the file is missing, empty, torn or not ONNX, where external data is missing, or where the opset is
    none of OLDEST_OPSET…NEWEST_OPSET. The standard's own checks are `explain_violations`.
    """
    data = _read(path)
    if not data:
        raise ModelFileError(f"{path}: the file is empty")
    for offset, magic, what in _MAGIC:
        if data[offset : offset + len(magic)] == magic:
            raise ModelFileError(f"{path}: not an ONNX model but {what}")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        raise ModelFileError(f"{path}: not an ONNX model, or a truncated one ({len(data):,} bytes cannot be parsed)") from None
    if not model.HasField("graph") or not model.ir_version:
        raise ModelFileError(f"{path}: not an ONNX model, or a truncated one (it has no {'graph' if model.ir_version else 'IR version'})")
    if not _is_text(model):
        raise ModelFileError(f"{path}: damaged: a name in it is not UTF-8 text")
    if not model.opset_import:
        raise ModelFileError(f"{path}: truncated, or no ONNX model (it imports no operator set)")
    if not model.graph.output:
        raise ModelFileError(
            f"{path}: the graph has no output, so that there is nothing to compute: export it again, or add what is wanted"
        )
    _check_opset(path, model)
    _load_external_data(path, model)
    if model.functions:
        try:
            model = onnx.inliner.inline_local_functions(model)
        except Exception as error:  # a C++ exception of no particular type
            raise ModelFileError(f"{path}: its model-local functions cannot be inlined: {error}") from None
    return model


def explain_violations(model: onnx.ModelProto) -> str | None:
    """What onnx.checker finds wrong with a model, in one line; None where nothing is.

    A missing rank is no fault here: that of an output follows from the nodes, that of an input is asked for.
    """
    checked = onnx.ModelProto()
    checked.CopyFrom(model)
    for info in (*checked.graph.input, *checked.graph.output):
        if info.type.HasField("tensor_type") and not info.type.tensor_type.HasField("shape"):
            info.type.tensor_type.shape.SetInParent()
    for node in checked.graph.node:
        if node.op_type in OF_ANY_OPSET and not node.domain:
            node.domain = "com.microsoft"  # of which the checker knows nothing
    if not any(entry.domain == "com.microsoft" for entry in checked.opset_import):
        checked.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    try:
        onnx.checker.check_model(checked)
    except onnx.checker.ValidationError as error:
        return " ".join(str(error).split())
    except ValueError as error:  # larger than protobuf's 2 GB, far beyond any microcontroller
        return str(error)
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ModelFileError(f"{path}: a folder, not an ONNX file") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}") from None


def _is_text(message: Message) -> bool:
    """Are all strings text? (protobuf hands those that are not over as bytes.)"""
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_STRING:
            if any(isinstance(text, bytes) for text in ([value] if isinstance(value, str | bytes) else value)):
                return False
        elif descriptor.type == descriptor.TYPE_MESSAGE:
            children = [value] if isinstance(value, Message) else value
            if not all(_is_text(child) for child in children):
                return False
    return True


def _check_opset(path: Path, model: onnx.ModelProto) -> None:
    for entry in model.opset_import:
        if entry.domain in ("", "ai.onnx") and not OLDEST_OPSET <= entry.version <= NEWEST_OPSET:
            if entry.version < OLDEST_OPSET and all(_is_unchanged(node, entry.version) for node in model.graph.node):
                continue
            raise ModelFileError(
                f"{path}: opset {entry.version} is {'older' if entry.version < OLDEST_OPSET else 'newer'} than the supported "
                f"{OLDEST_OPSET}…{NEWEST_OPSET}: export again, or use onnx.version_converter.convert_version(model, 17)"
            )


def _is_unchanged(node: onnx.NodeProto, version: int) -> bool:
    """Whether the operator is what it is in OLDEST_OPSET."""
    try:
        old, supported = (onnx.defs.get_schema(node.op_type, opset, node.domain) for opset in (version, OLDEST_OPSET))
    except onnx.defs.SchemaError:
        return False
    return bool(old.since_version == supported.since_version)


def _load_external_data(path: Path, model: onnx.ModelProto) -> None:
    for tensor in external_data_helper._get_all_tensors(model):
        if not external_data_helper.uses_external_data(tensor):
            continue
        info = external_data_helper.ExternalDataInfo(tensor)
        file = path.parent / info.location
        if not file.is_file():
            raise ModelFileError(
                f"{path}: the weights of {tensor.name} are in another file, {info.location}, which is missing: expected {file}. "
                "Copy it beside the model, or save the model in one file: onnx.save(model, path, save_as_external_data=False)"
            )
        needed = int(info.offset or 0) + int(info.length or 0)
        if file.stat().st_size < needed:
            raise ModelFileError(
                f"{path}: {file} has {file.stat().st_size:,} bytes, but the weights of {tensor.name} reach to byte {needed:,}: "
                "it is truncated"
            )
        try:
            external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
        except Exception as error:  # validation errors of several types
            raise ModelFileError(f"{path}: the external data of {tensor.name} cannot be read: {error}") from None
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
