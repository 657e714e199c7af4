"""Every model of the pack, converted and run; with --write, docs/models.md:

python tests/acceptance/models.py [NAME …] [--write]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from acceptance.model_pack import Pack, folder  # noqa: E402
from acceptance.models_document import document, line, reason  # noqa: E402
from acceptance.sweep import Row, measure, refusal  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models whose name contains one of these")
    parser.add_argument("--write", action="store_true", help="write docs/models.md")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write needs all models")
    rows: list[Row] = []
    refused: dict[str, str] = {}
    failed = 0
    for model in Pack(folder()).models.values():
        if options.names and not any(name in model.name for name in options.names):
            continue
        with tempfile.TemporaryDirectory() as at:
            try:
                if model.is_refused:
                    refused[model.name] = refusal(model, Path(at) / "folder")
                    print(f"{model.name}: refused: {reason(refused[model.name])}", flush=True)
                else:
                    rows.append(measure(model, Path(at)))
                    print(line(rows[-1]), flush=True)
            except Exception:
                failed += 1
                print(f"{model.name}: {traceback.format_exc(limit=-3)}", flush=True)
    if options.write and not failed:
        (ROOT / "docs/models.md").write_text(document(rows, refused))
    print(f"{len(rows)} converted, {len(refused)} refused, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
