"""The kernels: every operator of the flat model as docs/numerics.md defines it, in exact integers.

A kernel is called as its C counterpart (arn_kernels.h): the record, the inputs in order, the output, into which it writes. Arrays have
the shapes of their tensors or are flat; the record says how they are read. Raises ValueError where they do not fit it.
"""

from __future__ import annotations

from collections.abc import Callable

from arenite_runtime.kernels import conversion, convolution, elementwise, matrix, movement, pooling

Kernel = Callable[..., None]

KERNELS: dict[tuple[str, str], Kernel] = {
    ("Conv", "int8"): convolution.conv,
    ("Conv", "wide"): convolution.conv_wide,
    ("DepthwiseConv", "int8"): convolution.depthwise_conv,
    ("DepthwiseConv", "wide"): convolution.depthwise_conv_wide,
    ("FullyConnected", "int8"): matrix.fully_connected,
    ("FullyConnected", "wide"): matrix.fully_connected_wide,
    ("MatMul", "int8"): matrix.matmul,
    ("Add", "int8"): elementwise.add,
    ("Mul", "int8"): elementwise.mul,
    ("Div", "int8"): elementwise.div,
    ("PRelu", "int8"): elementwise.prelu,
    ("Softmax", "int8"): elementwise.softmax,
    ("Lookup", "int8"): elementwise.lookup,
    ("MaxPool", "int8"): pooling.max_pool,
    ("AveragePool", "int8"): pooling.average_pool,
    ("ReduceMean", "int8"): pooling.reduce_mean,
    ("StridedCopy", "bytes"): movement.strided_copy,
    ("Fill", "bytes"): movement.fill,
    ("Quantize", "int8"): conversion.quantize,
    ("Dequantize", "int8"): conversion.dequantize,
}
"""By operator and variant."""
