"""Writes what the documentation says of supported operators: docs/operators.md, and their number in README.md. `--check` only looks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from arenite.own_operators import OWN_OPERATORS
from arenite.report.operators import operator_rows, operators_to_markdown, standard_count

ROOT = Path(__file__).resolve().parents[1]
README, TABLE = ROOT / "README.md", ROOT / "docs" / "operators.md"
COUNT = re.compile(r"(`arenite operators` lists )\d+( ONNX and ai\.onnx\.ml operators)")

_HEAD = """\
# Supported operators

Written by `make generate` from what `arenite operators` prints. `arenite operators NAME` tells more of one; an operator that is missing
here can be one of your own: [own-operators.md](own-operators.md).

"""


def texts() -> dict[Path, str]:
    """What the files should hold. Own operators must not be in use."""
    assert not OWN_OPERATORS
    rows = operator_rows()
    readme, replaced = COUNT.subn(rf"\g<1>{standard_count(rows)}\g<2>", README.read_text(encoding="utf-8"))
    if replaced != 1:
        raise SystemExit(f"{README} should say once how many operators there are: {COUNT.pattern}")
    return {README: readme, TABLE: _HEAD + operators_to_markdown(rows)}


def main() -> int:
    stale = [path for path, text in texts().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is stale: run `make generate`")
        else:
            path.write_text(texts()[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
