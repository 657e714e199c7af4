"""Program → C: NAME_model.h/.c (the .arn and its resolver) and NAME.h/.c (the compiled form: direct kernel calls).

C99 without warnings, headers usable from C++, everything constant in flash, the same text for the same program. The model files need
runtime_c/include and src; the compiled ones include/ and kernels/ alone.
"""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from arenite.emit import c_text
from arenite.emit.c_layers import Layer, layers
from arenite.emit.c_memories import constant_memories, further_memories, marks, pointers, sections
from arenite.emit.kernels import own_operators, resolver_entries
from arenite.emit.program import Port, Program, ProgramState, ProgramTensor, Storage
from arenite.graph import DType
from arenite.version import __version__

_TEMPLATES = Environment(
    loader=PackageLoader("arenite.emit"),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    autoescape=False,  # this writes C, not HTML
)
MODEL_BYTES_PER_LINE = 22


def write_sources(program: Program, arn: bytes) -> dict[str, str]:
    """C sources by file name. `arn` is the serialized program."""
    name = program.name
    upper = name.upper()
    further = further_memories(program)
    context = {
        "name": name,
        "upper": upper,
        "version": __version__,
        "calibrated": int(program.calibrated),
        "precision": program.precision,
        "arena_bytes": program.arena_bytes,
        "further": further,
        "constant_memories": constant_memories(program),
        "sections": sections(program),
        "marks": marks(program),
        "parameters": "".join(f", void *{memory.name}" for memory in further),
        "const_parameters": "".join(f", const void *{memory.name}" for memory in further),
        "arguments": "".join(f", {memory.name}" for memory in further),
        "region_count": len(program.memories),
        "weight_bytes": program.weight_bytes,
        "macs": f"{program.macs:,}",
        "inputs": [_port(program, port, i, "INPUT") for i, port in enumerate(program.inputs)],
        "outputs": [_port(program, port, i, "OUTPUT") for i, port in enumerate(program.outputs)],
        "states": [_state(program, state) for state in program.states],
    }
    functions = ("invoke", "input", "output", "reset", "quantize_input", "dequantize_output", "check_input")
    taken = (
        {memory.name for memory in further}
        | {f"{name}_{function}" for function in functions}
        | {"input_forms", "input_counts"}
        | {mark.name for mark in marks(program)}
    )
    described = layers(program, taken)
    own = [own_operator.c.header.rpartition("/")[2] for own_operator in own_operators(program)]
    return {
        f"{name}_model.h": _render("model.h.j2", **context, model_bytes=len(arn)),
        f"{name}_model.c": _render("model.c.j2", **context, model=_model_bytes(arn), kernels=resolver_entries(program), own_headers=own),
        f"{name}.h": _render("compiled.h.j2", **context),
        f"{name}.c": _render("compiled.c.j2", **context, layers=described, includes=_includes(program, described, own)),
    }


def _render(template: str, **context: object) -> str:
    return _TEMPLATES.get_template(template).render(**context)


def _includes(program: Program, described: list[Layer], own: list[str]) -> list[list[str]]:
    """In groups: the C library's, then ours, then those of users' own operators."""
    float_ports = any(program.tensors[port.tensor].dtype is DType.FLOAT32 for port in (*program.inputs, *program.outputs))
    math = any(c_text.needs_math(definition) for layer in described for definition in layer.definitions)
    aligned = any("ARN_ALIGNED" in definition for layer in described for definition in layer.definitions) or bool(sections(program))
    system = [*(["<math.h>"] if math else []), *(["<string.h>"] if float_ports or program.states else [])]
    return [
        *([system] if system else []),
        [*(['"arenite.h"'] if aligned else []), '"arenite_profile.h"', '"arn_kernels.h"'],
        *([[f'"{name}"' for name in own]] if own else []),
    ]


def _model_bytes(arn: bytes) -> str:
    lines = [arn[i : i + MODEL_BYTES_PER_LINE] for i in range(0, len(arn), MODEL_BYTES_PER_LINE)]
    return ",\n".join(c_text.INDENT + ", ".join(f"0x{byte:02x}" for byte in line) for line in lines)


def _port(program: Program, port: Port, index: int, direction: str) -> dict[str, object]:
    """What the templates say about an input or output."""
    tensor = program.tensors[port.tensor]
    if tensor.storage is not Storage.REGION:
        raise ValueError(f"{port.name}: an input or output must be in a memory")
    scale, zero_point = 0.0, 0
    if tensor.quantization is not None:
        scale, zero_point = float(tensor.quantization.scale), int(tensor.quantization.zero_point)
    is_quantized = tensor.dtype in (DType.INT8, DType.UINT8) and tensor.quantization is not None
    shape = ", ".join(str(size) for size in tensor.shape)
    text = f'{direction.lower()} {index} "{c_text.comment(port.name)}": {tensor.dtype.value} [{shape}]'
    if tensor.quantization is not None:
        text += f", real value = {c_text.real(scale)[:-1]} * (q {'-' if zero_point >= 0 else '+'} {abs(zero_point)})"
    if direction == "INPUT":
        text += "; kept" if _is_kept(program, tensor) else "; consumed: its memory is used again"
    text += _expected_text(port.expected)
    if port.labels:
        text += "; labels: " + ", ".join(c_text.comment(label) for label in port.labels)
    return {
        "index": index,
        "text": c_text.wrapped(text, " ").removeprefix(" /* ").removesuffix(" */"),
        "macro": f"{program.name.upper()}_{direction}_{index}",
        "model_macro": f"{program.name.upper()}_MODEL_{direction}_{index}",
        "bytes": tensor.bytes,
        "elements": tensor.elements,
        "base": pointers(further_memories(program))[tensor.memory],
        "offset": tensor.offset,
        "scale": c_text.real(scale),
        "zero_point": zero_point,
        "c_type": f"ARN_{tensor.dtype.name}",
        "expected": None if port.expected is None else [_in_parentheses(c_text.real(bound)) for bound in port.expected],
        "is_float": tensor.dtype is DType.FLOAT32,
        "is_quantized": is_quantized,
        "is_converted": is_quantized or tensor.dtype is DType.FLOAT32,
        "is_uint8": is_quantized and tensor.dtype is DType.UINT8,
    }


def _expected_text(expected: tuple[float, float] | None) -> str:
    if expected is None:
        return ""
    low, high = (c_text.real(bound)[:-1] for bound in expected)
    return f"; values from {low} to {high} expected"


def _in_parentheses(literal: str) -> str:
    """Of a macro: a negative number is an expression."""
    return f"({literal})" if literal.startswith("-") else literal


def _state(program: Program, state: ProgramState) -> dict[str, object]:
    """What the templates say about a value that persists. It begins as the real number 0, which is zeros but for one-byte elements with a
    zero point."""
    end, beginning = program.tensors[state.output], program.tensors[state.input]
    zero_point = 0 if beginning.quantization is None or beginning.dtype.itemsize != 1 else int(beginning.quantization.zero_point)
    shape = ", ".join(str(size) for size in beginning.shape)
    text = f'"{c_text.comment(beginning.name)}": {beginning.dtype.value} [{shape}], from "{c_text.comment(end.name)}"'
    bases = pointers(further_memories(program))
    return {
        "text": c_text.wrapped(f"state {text}", " ").removeprefix(" /* ").removesuffix(" */"),
        "title": c_text.comment(beginning.name),
        "bytes": beginning.bytes,
        "from": f"{bases[end.memory]} + {end.offset}",
        "base": bases[beginning.memory],
        "to": beginning.offset,
        "zero_point": zero_point,
    }


def _is_kept(program: Program, tensor: ProgramTensor) -> bool:
    """No call writes into the tensor's bytes."""
    written = {index for call in program.calls for index in (*call.outputs, *([] if call.scratch is None else [call.scratch]))}
    return not any(_overlap(tensor, program.tensors[index]) for index in written)


def _overlap(a: ProgramTensor, b: ProgramTensor) -> bool:
    return a.memory == b.memory and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
