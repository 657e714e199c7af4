"""Where the layers of a model begin and end in an image: what qemu_count.c has to know to count by layer.

Nothing is added to the code that is measured. Both forms call a function for each layer, from code that does nothing else: NAME_invoke of
the compiled form calls the kernels, arn_invoke of the interpreter what the resolver's entries hold. That these functions are called in the
order in which the model's nodes are executed is all that is assumed, and the number of calls is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arenite_runtime import Model
from arenite_runtime.structure import Node

from arenite.targets.emulated import Form
from arenite.targets.image import Image

APP_INVOKE = "arn_app_invoke"
"""Of firmware/apps/run_model: calls one of those below."""
CONTROL = ("SkipUnless", "Skip", "BeginLoop", "RepeatLoop")
"""Operators that the compiled form writes as statements of C."""
_COMPILER_FUNCTIONS = ("memcpy", "memset", "memmove")
"""What a compiler calls of its own accord, besides functions whose names begin with two underscores."""
_INVOKE_OFFSET, _KERNEL_BYTES = 12, 16
"""Of `invoke` in arn_kernel (arenite_resolver.h), and of the whole, on a 32-bit core."""


def is_called(node: Node, form: Form) -> bool:
    """Whether the form calls a function for the node."""
    return form is Form.INTERPRETED or node.op not in CONTROL


def layer_calls(model: Model, executed: Sequence[int], form: Form) -> list[int]:
    """The layer of each call that the form makes, where the nodes `executed` are, one after another."""
    called = [is_called(node, form) for node in model.nodes]
    return [index for index in executed if called[index]]


def describe_layers(image: Image, name: str, form: Form, calls: Sequence[int]) -> str:
    """The text of the plugin's `layers` file. `name` is the model's, `calls` as layer_calls gives them."""
    invoke = f"{name}_invoke" if form is Form.COMPILED else "arn_invoke"
    dispatching = sorted(set(_ranges(image, (invoke, APP_INVOKE))))
    lines = [f"dispatch {begin:x} {end:x}" for begin, end in dispatching]
    inside = {begin for begin, _ in dispatching}
    entries = _bindings(image) if form is Form.INTERPRETED else _functions(image)
    lines += [f"entry {address:x}" for address in sorted(set(entries) - inside)]
    lines += [f"next {layer}" for layer in calls]
    return "\n".join(lines) + "\n"


def _ranges(image: Image, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Of the functions, and of the parts that a compiler took out of them (arn_invoke.part.0, .cold)."""
    for symbol in image.symbols:
        if symbol.kind == "FUNC" and symbol.name.partition(".")[0] in names:
            begin = symbol.address & ~1
            yield begin, begin + symbol.size


def _functions(image: Image) -> Iterator[int]:
    """Whatever the compiled form may call for a layer: kernels, with any name."""
    for symbol in image.symbols:
        if symbol.kind == "FUNC" and not symbol.name.startswith("__") and symbol.name not in _COMPILER_FUNCTIONS:
            yield symbol.address & ~1


def _bindings(image: Image) -> Iterator[int]:
    """The `invoke` of every arn_kernel in the image: those of users' own operators have names of any kind, but the size is theirs alone."""
    functions = {symbol.address & ~1 for symbol in image.symbols if symbol.kind == "FUNC"}
    for symbol in image.symbols:
        if symbol.kind == "OBJECT" and symbol.size == _KERNEL_BYTES and not symbol.file:
            address = int.from_bytes(image.bytes_at(symbol.address + _INVOKE_OFFSET, 4), "little") & ~1
            if address in functions:
                yield address
