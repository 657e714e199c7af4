"""Finding own operators: entry points of installed packages, and Python files that the user names (`--operators`)."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import arenite_runtime
from arenite_runtime import own_operators as runtime

from arenite.errors import OperatorError
from arenite.graph.operators import OPERATORS
from arenite.own_operators.declaration import OWN_OPERATORS, OwnOperator

GROUP = "arenite.operators"
"""Of entry points: each an OwnOperator or a sequence of them."""
MAX_INPUTS, MAX_OUTPUTS = 8, 4
"""ARN_MAX_INPUTS, ARN_MAX_OUTPUTS."""


@contextmanager
def used_operators(files: Sequence[Path] = ()) -> Iterator[None]:
    """Use own operators for a while: those of installed packages, and every OwnOperator that is a global name of the Python files.

    Raises OperatorError, naming file or package and operator, where one cannot be loaded or is declared wrongly, or two clash; and what a
    NumPy kernel does wrong meanwhile, as OperatorError too.
    """
    added: list[OwnOperator] = []
    known: tuple[arenite_runtime.OwnOperator, ...] = ()
    try:
        declared = _declared(files)
        for operator, source in declared:
            _check_unique(operator, source)
            if OWN_OPERATORS.get(operator.name) is not operator:
                check(operator)
                OWN_OPERATORS[operator.name] = operator
                OPERATORS[operator.name] = operator.operator
                added.append(operator)
        known = runtime.add(operator.kernels for operator, _ in declared)
        yield
    except arenite_runtime.OperatorError as error:
        raise OperatorError(str(error)) from error
    finally:
        runtime.remove(known)
        for operator in added:
            del OWN_OPERATORS[operator.name], OPERATORS[operator.name]


def check(operator: OwnOperator) -> None:
    """Raises OperatorError, naming the operator, where its declaration contradicts itself or its C is not all there."""
    name, variants = f"own operator {operator.name}", set(operator.kernels.kernels)
    operands = max(len(operator.inputs), len(operator.stored or ()))
    if operands > MAX_INPUTS or operator.kernels.outputs > MAX_OUTPUTS:
        raise OperatorError(
            f"{name} has {operands} operands and {operator.kernels.outputs} outputs, a kernel at most {MAX_INPUTS} and {MAX_OUTPUTS}"
        )
    if operator.domain == "ai.onnx":
        raise OperatorError(f"{name}: ai.onnx is ONNX's own domain: give the operator one of yours")
    if (operator.shape is None) == (operator.results is None):
        raise OperatorError(f"{name}: give either a shape rule or `results`")
    if operator.shape is not None and operator.kernels.outputs != 1:
        raise OperatorError(f"{name} has {operator.kernels.outputs} outputs: give `results` instead of a shape rule")
    if operator.has_int8 and not (operator.keeps_scale or operator.lower):
        raise OperatorError(f"{name} has an int8 kernel: say keeps_scale=True, or give `lower`, which makes its int8 form")
    if operator.has_int8 and operator.kernels.outputs != 1:
        raise OperatorError(f"{name} has an int8 kernel and {operator.kernels.outputs} outputs: an int8 form has one")
    if not operator.has_int8 and (operator.keeps_scale or operator.lower):
        raise OperatorError(f"{name} has no int8 kernel, but keeps_scale or `lower`, which concern it")
    if not variants - {"int8"}:
        raise OperatorError(f"{name} has an int8 kernel alone: a float32 kernel is needed too, for calibration and for --precision float32")
    for what, given in (("function", operator.c.functions), ("kernel", operator.c.kernels)):
        for variant in sorted(variants - set(given)):
            raise OperatorError(f"{name}: there is no C {what} for {variant}: CKernels.{what}s has {', '.join(sorted(given)) or 'none'}")
        for variant in sorted(set(given) - variants):
            raise OperatorError(f"{name}: there is a C {what} for {variant}, but no NumPy kernel: they have {', '.join(sorted(variants))}")
    texts = {}
    for file in (operator.c.header, *operator.c.sources):
        try:
            texts[file] = (operator.c.folder / file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise OperatorError(f"{name}: its C file {operator.c.folder / file} cannot be read: {error}") from None
    if not any(file.endswith(".c") for file in operator.c.sources):
        raise OperatorError(f"{name} has no C source")
    for symbol in (*operator.c.functions.values(), *operator.c.kernels.values()):
        for where, text in (("header", texts[operator.c.header]), ("sources", "\n".join(texts[file] for file in operator.c.sources))):
            if not re.search(rf"\b{re.escape(symbol)}\b", text):
                files = operator.c.header if where == "header" else ", ".join(operator.c.sources)
                raise OperatorError(f"{name}: {symbol}, which its declaration names, is not in its C {where} ({files})")


def _check_unique(operator: OwnOperator, source: str) -> None:
    there = OWN_OPERATORS.get(operator.name)
    if there is not None and there is not operator:
        raise OperatorError(
            f"own operator {operator.name}: {source} has one, and another is in use already (its C is in {there.c.folder}): "
            "rename one, or leave one out"
        )
    clash = next((own for own in OWN_OPERATORS.values() if own.stem == operator.stem and own.name != operator.name), None)
    if clash is not None:
        raise OperatorError(f"own operators {clash.name} and {operator.name} ({source}) have the same C name {operator.stem}: rename one")


def _declared(files: Sequence[Path]) -> list[tuple[OwnOperator, str]]:
    """Every operator with where it comes from."""
    return [*_installed(tuple(sys.path)), *(pair for file in files for pair in _of_file(file))]


@cache
def _installed(path: tuple[str, ...]) -> tuple[tuple[OwnOperator, str], ...]:
    found: list[tuple[OwnOperator, str]] = []
    for point in entry_points(group=GROUP):
        source = f"entry point {point.name} = {point.value} ({GROUP})"
        try:
            value = point.load()
        except Exception as error:  # the user's module
            raise OperatorError(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error
        values: Iterable[Any] = value if isinstance(value, tuple | list) else (value,)
        for operator in values:
            if not isinstance(operator, OwnOperator):
                raise OperatorError(f"{source} gives {type(operator).__name__}, not an OwnOperator")
            found.append((operator, source))
    return tuple(found)


def _of_file(file: Path) -> list[tuple[OwnOperator, str]]:
    file = file.resolve()
    if not file.is_file():
        raise OperatorError(f"--operators {file}: no such file")
    if file.suffix != ".py":
        raise OperatorError(f"--operators {file}: not a Python file (.py)")
    root = file.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    sys.path.insert(0, str(root))  # what lies beside it can be imported
    try:
        module = _alone(file) if root == file.parent else importlib.import_module(".".join(file.relative_to(root).with_suffix("").parts))
    except Exception as error:  # the user's module
        raise OperatorError(f"--operators {file}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(root))
    found = {value.name: value for value in vars(module).values() if isinstance(value, OwnOperator)}
    if not found:
        raise OperatorError(f"--operators {file} declares no operator: assign an arenite.own_operators.OwnOperator to a global name")
    return [(operator, f"--operators {file}") for operator in found.values()]


def _alone(file: Path) -> ModuleType:
    """A file that is in no package, as a module that nothing else can import."""
    name = f"arenite_operators_{crc32(str(file).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module
