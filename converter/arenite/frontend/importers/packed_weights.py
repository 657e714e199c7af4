"""com.microsoft.MatMulNBits: products with weights of 2, 4 or 8 bits, packed in bytes, with a scale for every block of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.frontend.arithmetic import binary
from arenite.frontend.importers.matrix import matmul
from arenite.frontend.importers.quantization import dequantized_constant
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value

TYPES = {2: "uint2", 4: "uint4", 8: "uint8"}
"""Of the weights, by `bits`."""
Bytes = NDArray[Any]


def matmul_n_bits(node: NodeImport) -> Sequence[Value]:
    """A, B [N, blocks, bytes], scales, zero points, g_idx, bias. Without zero points they are in the middle, 2^(bits − 1)."""
    columns, n, bits = (int(node.attribute(name, default)) for name, default in (("K", 0), ("N", 0), ("bits", 4)))
    block = int(node.attribute("block_size", 0))
    if bits not in TYPES:
        node.refuse(f"its weights have {bits} bits", f"quantize to {', '.join(map(str, TYPES))} bits")
    if min(columns, n, block) <= 0:
        node.malformed(f"K={columns}, N={n}, block_size={block}: all must be positive")
    if node.has(4):
        node.refuse("weights in another order (g_idx)", "quantize without act_order")
    packed, scales = node.constant(1, "the weights"), node.weights(2, "the scales")
    zero_point = node.constant(3, "the zero points")
    assert packed is not None
    blocks = -(-columns // block)
    if scales.array.size != n * blocks:
        node.malformed(f"{scales.array.size} scales do not fit {n} columns of {blocks} blocks")
    steps = _unpacked(node, packed, (n, blocks * block), bits)[:, :columns]
    weight = dequantized_constant(
        node,
        Constant(packed.name, steps.astype(TYPES[bits])),
        Constant(scales.name, scales.array.reshape(n, blocks) if blocks > 1 else scales.array.reshape(n)),
        _zero_points(node, zero_point, (n, blocks), bits),
        (1, block) if blocks > 1 else (0, 0),
    )
    y: Value = matmul(replace(node, inputs=(node.inputs[0], weight.transposed((1, 0)))))[0]
    return [binary(node, "Add", y, node.value(5)) if node.has(5) else y]


def _zero_points(node: NodeImport, value: Constant | None, shape: tuple[int, int], bits: int) -> Constant:
    n, blocks = shape
    if value is None:
        zeros: Bytes = np.full(shape, 1 << (bits - 1), np.uint8)
    elif value.array.dtype == np.uint8:
        row = -(-blocks * bits // 8) * 8 // bits
        zeros = _unpacked(node, value, (n, row), bits)[:, :blocks]
    else:
        node.refuse("zero points that are no integers", "quantize with integer zero points, or symmetrically")
    return Constant(f"{node.name}/zero_point", zeros if blocks > 1 else zeros.reshape(n))


def _unpacked(node: NodeImport, value: Constant, shape: tuple[int, int], bits: int) -> Bytes:
    """The numbers of `bits` bits in a row of bytes, the lowest first, in this shape."""
    if value.array.dtype != np.uint8 or value.array.size * 8 != shape[0] * shape[1] * bits:
        node.malformed(f"{value.name}: {value.array.size} bytes of {value.array.dtype} do not hold {list(shape)} numbers of {bits} bits")
    numbers = np.asarray(value.array, np.int64).reshape(-1, 1) >> np.arange(0, 8, bits)
    return np.asarray(numbers & ((1 << bits) - 1), np.uint8).reshape(shape)


PACKED_WEIGHTS = {
    "com.microsoft.MatMulNBits": Importer(matmul_n_bits, "weights of 2, 4 and 8 bits, with integer zero points; without g_idx"),
}
