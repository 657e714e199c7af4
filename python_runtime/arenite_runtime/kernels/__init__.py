"""The kernels: every operator of the flat model as docs/numerics.md defines it: int8 ones in exact integers, those of elements that
are not quantized (float32, int32, …) in their own type.

A kernel is called as its C counterpart (arn_kernels.h): the record, the inputs in order (None where one is absent), the output, into
which it writes. Control flow returns how many nodes to skip. Arrays have the shapes of their tensors or are flat; the record says how
they are read. Raises ValueError where they do not fit it.
"""

from __future__ import annotations

from collections.abc import Callable

from arenite_runtime.kernels import (
    arranged,
    binary,
    classical,
    control,
    conversion,
    convolution,
    detection,
    determinant,
    elementwise,
    function,
    indexing,
    integer,
    integer_reduction,
    logic,
    matrix,
    movement,
    normalization,
    pooling,
    recurrent,
    recurrent_int8,
    reduction,
    sampling,
    signal,
    spatial,
    steps_int16,
    tree_ensemble,
)

Kernel = Callable[..., int | None]

_ARITHMETIC = {
    "Add": binary.add,
    "Sub": binary.sub,
    "Mul": binary.mul,
    "Div": binary.div,
    "Max": binary.maximum,
    "Min": binary.minimum,
}

KERNELS: dict[tuple[str, str], Kernel] = {
    ("Conv", "int8"): convolution.conv,
    ("Conv", "wide"): convolution.conv_wide,
    ("Conv", "int4"): arranged.conv_int4,
    ("Conv", "paired"): arranged.conv_paired,
    ("Conv", "winograd_2"): arranged.conv_winograd_2,
    ("Conv", "winograd_4"): arranged.conv_winograd_4,
    ("DepthwiseConv", "int8"): convolution.depthwise_conv,
    ("DepthwiseConv", "wide"): convolution.depthwise_conv_wide,
    ("DepthwiseConv", "planes"): arranged.depthwise_conv_planes,
    ("DepthwiseConv", "planes_2"): arranged.depthwise_conv_planes,
    ("DepthwiseConv", "tap_pairs"): arranged.depthwise_conv_tap_pairs,
    ("FullyConnected", "int8"): matrix.fully_connected,
    ("FullyConnected", "wide"): matrix.fully_connected_wide,
    ("FullyConnected", "int4"): arranged.fully_connected_int4,
    ("FullyConnected", "paired"): arranged.fully_connected_paired,
    ("FullyConnected", "paired_row"): arranged.fully_connected_paired_row,
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
    ("Quantize", "int16_steps"): conversion.quantize_int16,
    ("Dequantize", "int16_steps"): conversion.dequantize,
    ("Conv", "float32"): convolution.conv_float32,
    ("DepthwiseConv", "float32"): convolution.depthwise_conv_float32,
    ("FullyConnected", "float32"): matrix.fully_connected_float32,
    ("MatMul", "float32"): matrix.matmul_float32,
    ("PRelu", "float32"): elementwise.prelu_float32,
    ("Softmax", "float32"): elementwise.softmax_float32,
    ("MaxPool", "float32"): pooling.max_pool_float32,
    ("MaxPool", "uint8"): pooling.max_pool_integer,
    ("MaxPool", "plain_int8"): pooling.max_pool_integer,
    ("AveragePool", "float32"): pooling.average_pool_float32,
    ("ReduceMean", "float32"): pooling.reduce_mean_float32,
    ("Pow", "float32"): binary.power,
    **{(op, variant): kernel for op, kernel in _ARITHMETIC.items() for variant in ("float32", "int32", "int64")},
    **{(op, "plain_int8"): _ARITHMETIC[op] for op in ("Max", "Min")},
    **{(op, "float32"): kernel for op, kernel in function.KERNELS.items()},
    **control.KERNELS,
    **logic.KERNELS,
    **reduction.KERNELS,
    **integer_reduction.KERNELS,
    **spatial.KERNELS,
    **steps_int16.KERNELS,
    **sampling.KERNELS,
    **signal.KERNELS,
    **detection.KERNELS,
    **determinant.KERNELS,
    **tree_ensemble.KERNELS,
    **classical.KERNELS,
    **indexing.KERNELS,
    **normalization.KERNELS,
    **recurrent.KERNELS,
    **recurrent_int8.KERNELS,
    **integer.KERNELS,
}
"""By operator and variant."""
