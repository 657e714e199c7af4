"""Bytes of the kernels' code. It is known in parts, and what several kernels of a model call counts once.

Sizes are those of gcc 12 at -Os: for a Cortex-M4 where there is the DSP extension, for a Cortex-M3 where there is not.
"""

from __future__ import annotations

from collections.abc import Iterable

Kernel = tuple[str, str]
"""(operator, variant)."""

PARTS: dict[Kernel, tuple[str, ...]] = {
    ("Conv", "int8"): ("conv", "products", "requantize_block", "window"),
    ("Conv", "int4"): ("conv_int4", "int4", "products", "requantize_block", "window"),
    ("Conv", "int4_lanes"): ("conv_lanes", "lanes", "gather", "clamp", "rows", "window"),
    ("Conv", "paired"): ("conv_paired", "paired", "paired_apply", "gather", "clamp", "rows", "window"),
    ("Conv", "winograd_2"): ("winograd", "winograd_2", "clamp", "rows"),
    ("Conv", "winograd_4"): ("winograd", "winograd_4", "clamp", "rows"),
    ("FullyConnected", "int8"): ("fully_connected", "products", "requantize_block", "library"),
    ("FullyConnected", "int4"): ("fully_connected_int4", "int4", "products", "requantize_block"),
    ("FullyConnected", "int4_lanes"): ("fully_connected_lanes", "lanes", "gather", "clamp", "rows"),
    ("FullyConnected", "paired"): ("fully_connected_paired", "paired", "paired_apply", "gather", "clamp", "rows"),
    ("FullyConnected", "paired_row"): ("paired_row", "paired_apply", "clamp", "rows"),
    ("DepthwiseConv", "int8"): ("depthwise", "requantize_block", "window", "library"),
    ("DepthwiseConv", "planes"): ("strips", "planes", "interleave", "clamp", "rows"),
    ("DepthwiseConv", "planes_2"): ("strips", "planes_2", "interleave", "clamp", "rows"),
    ("DepthwiseConv", "tap_pairs"): ("tap_pairs", "interleave", "clamp"),
}
"""With the DSP extension."""
PORTABLE_PARTS: dict[Kernel, tuple[str, ...]] = {
    **{kernel: parts for kernel, parts in PARTS.items() if kernel[1] in ("int8", "int4")},
    ("Conv", "int4_lanes"): ("conv_lanes", "lanes", "requantize_block", "library"),
    ("Conv", "paired"): ("conv_paired", "column", "library"),
    ("Conv", "winograd_2"): ("winograd", "library"),
    ("Conv", "winograd_4"): ("winograd", "library"),
    ("FullyConnected", "int4_lanes"): ("fully_connected_lanes", "lanes", "requantize_block", "library"),
    ("FullyConnected", "paired"): ("fully_connected_paired", "column", "library"),
    ("FullyConnected", "paired_row"): ("fully_connected_paired", "column", "library"),
    ("DepthwiseConv", "planes"): ("planes",),
    ("DepthwiseConv", "planes_2"): ("planes",),
    ("DepthwiseConv", "tap_pairs"): ("tap_pairs",),
}
"""Without it."""
PLAIN = {
    "conv": 1450,
    "requantize_block": 180,
    "window": 100,
    "depthwise": 2590,
    "fully_connected": 190,
    "conv_int4": 1670,
    "int4": 290,
    "fully_connected_int4": 400,
}
BYTES = {
    **PLAIN,
    "products": 1600,
    "library": 470,
    "conv_paired": 1420,
    "conv_lanes": 1350,
    "lanes": 1070,
    "fully_connected_lanes": 880,
    "paired": 600,
    "paired_apply": 140,
    "paired_row": 470,
    "gather": 140,
    "fully_connected_paired": 290,
    "winograd": 1530,
    "winograd_2": 470,
    "winograd_4": 740,
    "strips": 950,
    "planes": 610,
    "planes_2": 650,
    "tap_pairs": 2970,
    "interleave": 110,
    "clamp": 110,
    "rows": 120,
}
"""Of the parts, with the DSP extension. `library`: memcpy and memset, `rows`: copies and fills of dsp/memory.S."""
PORTABLE_BYTES = {
    **PLAIN,
    "products": 2030,
    "library": 400,
    "conv_lanes": 510,
    "lanes": 350,
    "fully_connected_lanes": 110,
    "column": 470,
    "conv_paired": 700,
    "fully_connected_paired": 90,
    "winograd": 920,
    "planes": 580,
    "tap_pairs": 760,
}


def code_bytes(kernels: Iterable[Kernel], features: frozenset[str]) -> int:
    """Of all that a model with these kernels links for a core with `features` (targets.catalogue).

    Raises KeyError for a kernel that is no variant of a layer which has a choice.
    """
    table, sizes = (PARTS, BYTES) if "dsp" in features else (PORTABLE_PARTS, PORTABLE_BYTES)
    return sum(sizes[part] for part in {part for kernel in kernels for part in table[kernel]})
