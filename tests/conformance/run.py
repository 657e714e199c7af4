"""How much of ONNX's backend tests converts and runs:

python tests/conformance/run.py [--op NAME] [--kind KIND] [--case PATTERN] [--engine c] [--list] [--by-op] [--write]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from conformance.document import document  # noqa: E402
from conformance.emulation import CORES, convert_cases, run_on_core, sample  # noqa: E402
from conformance.execution import PASSED, run_case  # noqa: E402
from conformance.suite import KINDS, cases  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", help="cases of this operator only")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--case", help="cases whose name this regular expression finds")
    parser.add_argument("--engine", default="c")
    parser.add_argument("--list", action="store_true", help="every case with its outcome")
    parser.add_argument("--by-op", action="store_true", help="counts by operator")
    parser.add_argument("--write", action="store_true", help="write passing.txt and docs/conformance.md")
    options = parser.parse_args()

    chosen = [
        case
        for case in cases()
        if options.op in (None, case.operator) and options.kind in (None, case.kind) and re.search(options.case or "", case.name)
    ]
    outcomes = [run_case(case, options.engine) for case in chosen]
    if options.list or len(outcomes) <= 40:
        for outcome in outcomes:
            print(f"{outcome.status:14} {outcome.case.name}: {outcome.reason[:200]}")
    if options.by_op:
        passed = Counter(outcome.case.operator for outcome in outcomes if outcome.status == PASSED)
        for operator, total in sorted(Counter(outcome.case.operator for outcome in outcomes).items()):
            print(f"{passed[operator]:4} of {total:4} {operator}")
    reasons = Counter(re.sub(r"[\d.]+|\[.*?\]|`.*?`", "#", f"{o.status}: {o.reason}") for o in outcomes if o.status != PASSED)
    for reason, count in reasons.most_common(60):
        print(f"{count:5} {reason[:180]}")
    for kind in KINDS:
        of_kind = [outcome for outcome in outcomes if outcome.case.kind == kind]
        print(f"{kind}: {sum(outcome.status == PASSED for outcome in of_kind)} of {len(of_kind)} pass")
    print(dict(Counter(outcome.status for outcome in outcomes)))
    if options.write:
        if len(chosen) < len(cases()):
            parser.error("--write needs all cases")
        passing = sorted(outcome.case.name for outcome in outcomes if outcome.status == PASSED)
        (ROOT / "tests/conformance/passing.txt").write_text("\n".join(passing) + "\n")
        converted = convert_cases(sample(cases(), passing))
        on_cores = {target: run_on_core(converted, target) for target in CORES}
        (ROOT / "docs/conformance.md").write_text(document(outcomes, on_cores))


if __name__ == "__main__":
    main()
