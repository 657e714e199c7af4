"""Control flow: docs/numerics.md §11, docs/flat-model.md §5.

Those that jump return the number of nodes to skip, negative to go back, counted from the node behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array


def _is_true(flag: Array) -> bool:
    return bool(flag.reshape(-1).view(np.uint8)[0])


def _goes_on(number: int, limit: int, trips: Array | None, condition: Array | None) -> bool:
    """Whether there is an iteration of this number."""
    return number < limit and (trips is None or number < int(trips.reshape(()))) and (condition is None or _is_true(condition))


def skip_unless(p: Any, condition: Array) -> int:
    return 0 if _is_true(condition) else int(p.skip)


def skip(p: Any) -> int:
    return int(p.skip)


def begin_loop(p: Any, trips: Array | None, condition: Array | None, counter: Array) -> int:
    counter[...] = 0
    return 0 if _goes_on(0, p.limit, trips, condition) else int(p.skip)


def repeat_loop(p: Any, trips: Array | None, condition: Array | None, counter: Array) -> int:
    number = int(counter.reshape(()))
    number = number + 1 if 0 <= number < p.limit else p.limit
    counter[...] = number
    return -int(p.back) if _goes_on(number, p.limit, trips, condition) else 0


def store_entry(p: Any, entry: Array, iteration: Array, y: Array) -> None:
    number = int(iteration.reshape(()))
    if 0 <= number < p.count:
        at = p.count - 1 - number if p.backwards else number
        y.reshape(-1).view(np.uint8).reshape(p.count, p.bytes)[at] = entry.reshape(-1).view(np.uint8)


KERNELS: dict[tuple[str, str], Callable[..., int | None]] = {
    ("SkipUnless", "bytes"): skip_unless,
    ("Skip", "bytes"): skip,
    ("BeginLoop", "bytes"): begin_loop,
    ("RepeatLoop", "bytes"): repeat_loop,
    ("StoreEntry", "bytes"): store_entry,
}
