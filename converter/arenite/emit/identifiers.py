"""C names from the user's names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_LENGTH = 40
"""Characters of a layer's name in C. Longer ones keep their end, where exporters put what is specific."""

# C99, C11 and C++, so that a name is good in all of them.
_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return
short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex _Imaginary _Alignas _Alignof
_Atomic _Generic _Noreturn _Static_assert _Thread_local alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t
char32_t class compl concept const_cast consteval constexpr constinit co_await co_return co_yield decltype delete dynamic_cast
explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t
xor xor_eq main linux unix
"""
KEYWORDS = frozenset(_KEYWORDS.split())

# NAME.h would be included in place of these headers of C and of the runtime; NAME is a target of CMake's, or of the runtime's there.
_TAKEN = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint
stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype malloc memory unistd
arenite arenite_kernels arenite_operators arenite_resolver arenite_runtime arn_kernels
all clean edit_cache help install package package_source rebuild_cache test
"""
TAKEN = frozenset(_TAKEN.split())


def ascii_text(text: str) -> str:
    """`text` in printable ASCII: accents dropped, what has no Latin letter replaced by `?`."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = (c for c in decomposed if not unicodedata.combining(c))
    return "".join(c if " " <= c <= "~" else "?" for c in plain)


def identifier(text: str, fallback: str = "model") -> str:
    """A C identifier that resembles `text`: letters, digits and single underscores, no keyword, not reserved, never empty."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", ascii_text(text)).strip("_")
    if not name:
        return fallback
    if name[0].isdigit():
        name = f"{fallback}_{name}"
    return f"{name}_" if name in KEYWORDS else name


def program_name(text: str) -> str:
    """An identifier that files, functions and build targets of a model can be named after."""
    name = identifier(text)
    return f"model_{name}" if name.lower() in TAKEN else name


def layer_names(names: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """One C identifier for each of the user's layers, in order, unequal to each other and to `taken`.

    Path components that all layers have in common are dropped ("model/conv1", "model/conv2": conv1, conv2), as is everything but
    the first of several names joined by semicolons, which is how converters name fused operators.
    """
    paths = [[part for part in re.split(r"[/.:]+", name.split(";")[0]) if part] for name in names]
    shared = _shared_components(paths)
    used, chosen = set(taken), []
    for path in paths:
        name = unique(_shortened(identifier("_".join(path[shared:]), "layer")), used)
        used.add(name)
        chosen.append(name)
    return chosen


def unique(name: str, used: set[str]) -> str:
    """`name`, or that with the least number behind it that makes it none of `used`."""
    if name not in used:
        return name
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"


def _shared_components(paths: list[list[str]]) -> int:
    """Leading components common to all, leaving each at least one."""
    count = 0
    while len(paths) > 1 and all(len(path) > count + 1 and path[count] == paths[0][count] for path in paths):
        count += 1
    return count


def _shortened(name: str) -> str:
    if len(name) <= MAX_LENGTH:
        return name
    tail = name[-MAX_LENGTH:]
    at_word = tail.partition("_")[2]  # the first component is cut in two, probably
    return identifier(at_word or tail, "layer")
