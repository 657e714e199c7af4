"""Importers of users' own operators, beside the built-in ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arenite.errors import AreniteError, OperatorError
from arenite.frontend.importers import IMPORTERS
from arenite.frontend.node_import import Importer, NodeImport, Refused
from arenite.frontend.values import Constant, TensorList, Value
from arenite.graph import Node
from arenite.own_operators import OwnOperator, own_operator


def importer_of(op_type: str, domain: str) -> Importer | None:
    """The importer of an ONNX operator; `domain` is "" for ONNX's own. None where there is none."""
    own = own_operator(domain, op_type)
    if own is not None:
        return _guarded(own)
    return IMPORTERS.get(f"{domain}.{op_type}" if domain else op_type)


def wrong_version(own: OwnOperator, version: int) -> tuple[str, str] | None:
    """Problem and remedy where a model imports a version of the domain that the operator's importer does not follow."""
    first, last = own.opsets
    if first <= version <= last:
        return None
    return (
        f"the model has version {version} of the domain {own.domain}, the own operator {own.name} follows {first} to {last}",
        "export the model with one of these versions, or extend the importer and `opsets` of the operator",
    )


def _guarded(own: OwnOperator) -> Importer:
    """What goes wrong in the user's code is told as the user's."""

    def convert(node: NodeImport) -> Sequence[Value]:
        before = len(node.graph.nodes)
        try:
            values = own.importer(node)
        except (AreniteError, Refused):
            raise
        except Exception as error:
            raise OperatorError(
                f"{node.file}: node {node.name}: the importer of the own operator {own.name} failed: {type(error).__name__}: {error}"
            ) from error
        wrong = _wrong_values(values, node) or _wrong_attributes(own, node.graph.nodes[before:])
        if wrong:
            raise OperatorError(f"{node.file}: node {node.name}: the importer of the own operator {own.name} {wrong}")
        return values

    return Importer(convert, own.summary)


def _wrong_values(values: Any, node: NodeImport) -> str | None:
    """What an importer returned, if that is not a value for every output of the node."""
    known = isinstance(values, (list, tuple)) and all(
        isinstance(value, (Constant, TensorList)) or (isinstance(value, str) and value in node.graph.tensors) for value in values
    )
    if not known:
        return f"returned {values!r}, not a list of what `node.emit` and the like gave"
    if len(values) != len(node.outputs):
        return f"returned {len(values)} values, the node has {len(node.outputs)} outputs"
    return None


def _wrong_attributes(own: OwnOperator, emitted: Sequence[Node]) -> str | None:
    for node in emitted:
        missing = [attribute.name for attribute in own.attributes if attribute.name not in node.attributes]
        if node.op == own.name and missing:
            given = ", ".join(node.attributes) or "none"
            return f"emitted a node without the attribute {missing[0]}, which the operator declares; it gave {given}"
    return None
