"""Where the native sources are: the C runtime and the firmware, in a wheel or in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from arenite.errors import ToolError


@cache
def native_root() -> Path:
    """The folder that holds `runtime_c/` and `firmware/`.

    A wheel carries them in `arenite/_native`; an editable install runs from the checkout, where they lie at the root.
    Raises ToolError where neither is there (a damaged installation).
    """
    package = Path(__file__).resolve().parent.parent
    candidates = (package / "_native", package.parent.parent)
    for candidate in candidates:
        if (candidate / "runtime_c" / "include" / "arenite.h").is_file() and (candidate / "firmware").is_dir():
            return candidate
    places = " or ".join(str(candidate) for candidate in candidates)
    raise ToolError(f"the C sources of Arenite are missing: no runtime_c/ and firmware/ in {places}. Reinstall arenite.")


def runtime_root(artifact: Path | None = None) -> Path:
    """The `runtime_c` folder to build against: the artifact's own copy where it has one, else the installed one."""
    if artifact is not None and (artifact / "runtime_c" / "include" / "arenite.h").is_file():
        return artifact / "runtime_c"
    return native_root() / "runtime_c"


def interpreter_sources(runtime: Path) -> tuple[Path, ...]:
    """The C sources that read and run a .arn, sorted; they need the kernels too."""
    return tuple(sorted((runtime / "src").rglob("*.c")))


def kernel_sources(runtime: Path) -> tuple[Path, ...]:
    """The C and assembly sources of the kernels, sorted: all that the compiled form needs. Those for another core compile to nothing."""
    return tuple(sorted(file for pattern in ("*.c", "*.S") for file in (runtime / "kernels").rglob(pattern)))


def own_sources(artifact: Path) -> tuple[Path, ...]:
    """The C sources of users' own operators in an artifact folder, sorted; their headers lie beside them."""
    return tuple(sorted((artifact / "operators").glob("*.c")))


def own_includes(artifact: Path) -> tuple[Path, ...]:
    """Include directories for them; none where there are none."""
    return (artifact / "operators",) if own_sources(artifact) else ()


def runtime_includes(runtime: Path) -> tuple[Path, ...]:
    """Include directories for the runtime, its kernels and generated C."""
    return (runtime / "include", runtime / "kernels", runtime / "src")
