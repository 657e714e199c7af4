"""The C sources: warnings, languages, cores, formatting, what they need of a C library, and how much memory."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime_c"
SOURCES = [*sorted((RUNTIME / "src").glob("*.c")), *sorted((RUNTIME / "kernels").rglob("*.c"))]
ON_M4 = [
    *SOURCES,
    *sorted(file for folder in ("dsp", "fpu", "thumb2") for file in (RUNTIME / "kernels" / folder).glob("*.S")),
]
"""All that a Cortex-M4 may be given; what is for other cores is empty there."""
HEADERS = [
    *sorted((RUNTIME / "include").glob("*.h")),
    *sorted((RUNTIME / "src").glob("*.h")),
    *sorted((RUNTIME / "kernels").rglob("*.h")),
]
INCLUDES = [f"-I{RUNTIME / folder}" for folder in ("include", "kernels", "src")]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
ARM = "arm-none-eabi-gcc"
CORES = {"cortex-m0": [], "cortex-m4": ["-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"], "cortex-m55": ["-mfloat-abi=hard"]}
MEMORY = {"memcpy", "memset", "memcmp"}
LARGEST_FRAME = 304
"""Bytes of stack of any one function on Cortex-M4 at -Os."""


def tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def m4_objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("m4")
    command = [tool(ARM), "-mcpu=cortex-m4", "-mthumb", *CORES["cortex-m4"], "-std=c99", "-Os", *WARNINGS, *INCLUDES]
    for origin in sorted({file.parent for file in ON_M4}):  # files of portable/ and dsp/ have the same names
        (folder / origin.name).mkdir()
        done = subprocess.run(
            [*command, "-fstack-usage", "-fcallgraph-info", "-c", *(file for file in ON_M4 if file.parent == origin)],
            cwd=folder / origin.name,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c99_without_warnings(compiler: str) -> None:
    run(tool(compiler), "-std=c99", "-O2" if compiler == "gcc" else "-O1", "-fsyntax-only", *WARNINGS, *INCLUDES, *SOURCES)


@pytest.mark.parametrize("core", CORES)
def test_arm_without_warnings(core: str, tmp_path: Path) -> None:
    command = [tool(ARM), f"-mcpu={core}", "-mthumb", *CORES[core], "-std=c99", "-fsyntax-only", *WARNINGS, *INCLUDES]
    run(*command, *SOURCES)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("header", ["arenite.h", "arenite_inputs.h", "arenite_operators.h", "arenite_resolver.h", "arn_kernels.h"])
def test_headers_serve_cpp(compiler: str, header: str, tmp_path: Path) -> None:
    """Alone, twice, in C++."""
    source = tmp_path / "consumer.cpp"
    source.write_text(f'#include "{header}"\n#include "{header}"\nint main() {{ return 0; }}\n')
    run(tool(compiler), "-std=c++11", "-fsyntax-only", *WARNINGS, *INCLUDES, source)


def test_formatted() -> None:
    drivers = sorted(Path(__file__).parent.glob("*.c"))
    generated = {"arenite_operators.h", "flat_fields.h"}
    files = [file for file in (*SOURCES, *HEADERS, *drivers) if file.name not in generated]
    run(tool("clang-format"), f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "--Werror", *files)


def test_session_memory(tmp_path: Path) -> None:
    """A model, a session and one region together: at most 128 bytes on a 32-bit core."""
    source = tmp_path / "sizes.c"
    total = "sizeof(arn_model) + sizeof(arn_session) + sizeof(arn_region)"
    source.write_text(f'#include "arenite.h"\nextern char fits[{total} <= 128 ? 1 : -1];\n')
    run(tool(ARM), "-mcpu=cortex-m4", "-mthumb", "-std=c99", "-fsyntax-only", *INCLUDES, source)


def test_no_variables(m4_objects: Path) -> None:
    """No state but the session's: neither .data nor .bss anywhere."""
    for line in run(tool("arm-none-eabi-size"), *sorted(m4_objects.rglob("*.o"))).splitlines()[1:]:
        _, data, bss, *_ = line.split()
        assert (data, bss) == ("0", "0"), line


def needs(objects: list[Path], every: list[Path]) -> set[str]:
    """Symbols that `objects` use and none of the sources defines."""
    defined = set(re.findall(r" [TtRrDdBb] (\w+)", run(tool("arm-none-eabi-nm"), *every)))
    return set(re.findall(r" U (\w+)", run(tool("arm-none-eabi-nm"), *objects))) - defined


def test_needs_memcpy_and_memset_only(m4_objects: Path) -> None:
    """The interpreter and the kernels of int8 models."""
    every = sorted(m4_objects.rglob("*.o"))
    int8 = {file.stem for file in SOURCES if file.parent.name == "src" or re.search(r"^void arn_\w+_s8", file.read_text(), re.M)}
    assert {"session", "conv", "softmax"} <= int8
    assert needs([file for file in every if file.stem in int8], every) <= MEMORY


def test_typed_kernels_need_libm_too(m4_objects: Path) -> None:
    """No more of it than firmware/freestanding declares, and what a compiler calls for arithmetic that the core lacks."""
    every = sorted(m4_objects.rglob("*.o"))
    header = (ROOT / "firmware/freestanding/include/math.h").read_text()
    libm = set(re.findall(r"^(?:float|double) (\w+)\(", header, re.M))
    needed = {symbol for symbol in needs(every, every) if not symbol.startswith("__aeabi_")}
    assert needed <= MEMORY | libm
    assert {"expf", "erff", "tanhf"} <= needed


def frames(objects: Path) -> dict[str, int]:
    """Bytes of stack of every function."""
    sizes = {}
    for file in objects.rglob("*.su"):
        for line in file.read_text().splitlines():
            function, size, kind = line.split("\t")
            assert kind == "static", line  # no variable-length arrays, no alloca
            sizes[function.rsplit(":", 1)[1]] = int(size)
    return sizes


def calls(objects: Path) -> dict[str, set[str]]:
    """The functions that each calls, static ones with their file's name before them."""
    called: dict[str, set[str]] = {}
    for file in objects.rglob("*.ci"):
        for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', file.read_text()):
            called.setdefault(caller, set()).add(callee)
    assert "arn_model_open" in called
    return called


def test_stack_frames(m4_objects: Path) -> None:
    sizes = frames(m4_objects)
    assert len(sizes) > 50
    assert max(sizes.values()) <= LARGEST_FRAME, sorted(sizes.items(), key=lambda item: -item[1])[:5]


def test_deepest_stack_is_as_documented(m4_objects: Path) -> None:
    sizes, called = frames(m4_objects), calls(m4_objects)
    functions = called.keys() | set().union(*called.values())

    def deepest(function: str) -> int:
        return sizes.get(function.rsplit(":", 1)[-1], 0) + max(map(deepest, called.get(function, ())), default=0)

    def through_pointer(prefix: str) -> int:
        """Of the kernels' functions that the interpreter calls by pointer."""
        return max(deepest(f) for f in functions if re.search(rf"kernel_\w+\.c:{prefix}_", f))

    table = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")
    documented = {name: int(size) for name, size in re.findall(r"^\| `(arn_\w+)` \| (\d+) \|$", table, re.M)}
    assert documented["arn_model_open"] >= deepest("arn_model_open") > 200
    assert documented["arn_session_init"] >= deepest("arn_session_init") + through_pointer("check") > 300
    assert documented["arn_invoke"] >= sizes["arn_invoke"] + through_pointer("invoke") > 400


def test_no_recursion(m4_objects: Path) -> None:
    called = calls(m4_objects)

    def leaves(function: str, above: tuple[str, ...] = ()) -> None:
        assert function not in above, (*above, function)
        for callee in called.get(function, ()):
            leaves(callee, (*above, function))

    for function in called:
        leaves(function)
