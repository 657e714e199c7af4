"""docs/own-operators.md shows the example's files as they are, and says what is true."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from zlib import crc32

import pytest
from arenite.errors import OperatorError
from arenite.own_operators import used_operators
from arenite.report.operators import find_operator, operator_rows
from arenite_runtime import OwnOperator
from arenite_runtime.own_operators import ALLOWED_VARIANTS

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "median_filter"
TEXT = (ROOT / "docs" / "own-operators.md").read_text(encoding="utf-8")
FILES = re.findall(r"^## \d\. .*: `(.+)`$", TEXT, re.MULTILINE)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_every_file_is_shown() -> None:
    there = {path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.rglob("*") if path.suffix in (".toml", ".py", ".c", ".h")}
    assert there - {"median_filter/__init__.py"} == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_the_file(file: str) -> None:
    """All of it, in order."""
    section = TEXT.split(f": `{file}`\n")[1].split("\n## ")[0]
    shown = "\n".join(re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
    assert lines(shown) == lines((EXAMPLE / file).read_text(encoding="utf-8"))


def test_what_it_says(declaration: Path) -> None:
    assert all(f"`{variant}`" in TEXT for variant in ALLOWED_VARIANTS)
    assert f"exit status {OperatorError.exit_code}" in TEXT
    with used_operators([declaration]):
        ((row,), _) = find_operator("com.example::MedianFilter", operator_rows())
    assert (row.operator, row.domain, row.float32, row.int8, row.int16) == ("MedianFilter", "com.example", "yes", "yes", "")


def test_codes_are_as_the_flat_models_page_says(own_kernels: OwnOperator) -> None:
    page = (ROOT / "docs" / "flat-model.md").read_text(encoding="utf-8")
    (layout,) = re.findall(r"`(com\.example::\w+\(.*\))`", page)
    name = layout.partition("(")[0]
    assert own_kernels.name == name
    assert own_kernels.code == 0x8000 + crc32(name.encode()) % 0x8000
    upper = crc32(layout.encode()) & 0xFF
    assert own_kernels.variants == {"int8": upper << 8, "float32": upper << 8 | 16}


def test_the_generated_header(declaration: Path, arenite_command: list[str], tmp_path: Path) -> None:
    command = [*arenite_command, "operators", "MedianFilter", "--header", "--operators", str(declaration)]
    header = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("MEDIAN_FILTER_OP", "MEDIAN_FILTER_INT8", "MEDIAN_FILTER_FLOAT32", "MEDIAN_FILTER_WORDS"):
        assert f"#define {name} " in header
    assert "    int32_t window;\n} median_filter_params;" in header
    (tmp_path / "median_filter_operator.h").write_text(header)
    source = EXAMPLE / "median_filter" / "c" / "median_filter.c"
    includes = [f"-I{folder}" for folder in (tmp_path, source.parent, ROOT / "runtime_c" / "include")]
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    subprocess.run(["cc", "-std=c99", *warnings, *includes, "-c", str(source), "-o", str(tmp_path / "x.o")], check=True)
