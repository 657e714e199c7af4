"""A resolver with every kernel of the runtime, for engines that load any model."""

from __future__ import annotations

import re
from pathlib import Path

from arenite.graph.operators import OPERATORS
from arenite.targets.build_cache import cached, content_key


def kernel_objects() -> list[str]:
    """Names of the runtime's kernel objects: `arn_kernel_conv`, `arn_kernel_conv_wide`, … (arenite_resolver.h)."""
    names = []
    for operator in OPERATORS.values():
        if operator.code is None:
            continue
        for index, variant in enumerate(operator.variants):
            names.append(f"arn_kernel_{snake_case(operator.name)}" + (f"_{variant}" if index else ""))
    return names


def snake_case(operator: str) -> str:
    """An operator's name as the C headers write it: DepthwiseConv → depthwise_conv, MatMul → matmul, PRelu → prelu."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator).lower().replace("mat_mul", "matmul")


def write_full_resolver(runtime: Path) -> Path:
    """A C source that defines `arn_host_resolver`, all of the kernels that `runtime` declares."""
    names = kernel_objects()
    entries = "".join(f"    &{name},\n" for name in names)
    text = (
        '#include "arenite.h"\n#include "arenite_resolver.h"\n\n'
        "extern const arn_resolver arn_host_resolver;\n\n"
        f"static const arn_kernel *const kernels[] = {{\n{entries}}};\n\n"
        f"const arn_resolver arn_host_resolver = {{kernels, {len(names)}}};\n"
    )

    def build(folder: Path) -> None:
        (folder / "full_resolver.c").write_text(text, encoding="utf-8")

    return cached("sources", content_key([text], []), build) / "full_resolver.c"
