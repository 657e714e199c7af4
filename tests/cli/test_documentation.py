"""docs/cli.md and docs/adding-an-operator.md say what is true."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import typer.main
from arenite.cli import app
from arenite.cli.console import INTERNAL_ERROR, INTERRUPTED
from arenite.cli.convert import Io, IoLayout, Observer
from arenite.cli.run import EngineName
from arenite.errors import AreniteError

ROOT = Path(__file__).parents[2]
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
ADDING = (ROOT / "docs" / "adding-an-operator.md").read_text(encoding="utf-8")


README = (ROOT / "README.md").read_text(encoding="utf-8")
HEADER = (ROOT / "runtime_c" / "include" / "arenite.h").read_text(encoding="utf-8")


def keys_in(text: str) -> set[str]:
    return set(re.findall(r"[`\"]([a-z_0-9]+)[`\"]", text))


def test_every_option_of_every_command_is_described():
    group = typer.main.get_command(app)
    for name, command in group.commands.items():
        section = re.split(rf"^## {name}$", CLI, flags=re.MULTILINE)[1].split("\n## ")[0]
        general = CLI.split("\n## ")[0]
        for parameter in command.params:
            options = [option for option in parameter.opts if option.startswith("--")]
            for option in options:
                assert f"`{option}" in section + general or f"`--no-{option[2:]}`" in section, f"{name} {option}"
    for choices in (Io, IoLayout, Observer, EngineName):
        for choice in choices:
            assert re.search(rf"[`| ]{choice.value}[`|\\]", CLI), choice


def test_every_exit_status_is_described():
    table = CLI.split("## Exit statuses")[1].split("\n## ")[0]
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    used = {kind.exit_code for kind in AreniteError.__subclasses__()}
    assert listed == used | {0, 1, 2, INTERNAL_ERROR, INTERRUPTED}


def test_every_json_key_is_described(project, arenite):
    described = keys_in(CLI.split("## JSON")[1])

    def check(value, where):
        if isinstance(value, dict):
            for key, inner in value.items():
                assert key in described, f"{where}: {key}"
                check(inner, f"{where}.{key}")
        elif isinstance(value, list) and value:
            check(value[0], where)

    check(arenite("inspect", project.built, "--json").json, "inspect")
    check(arenite("operators", "--json").json, "operators")
    check(arenite("run", project.built, "--input", project.data, "--json").json, "run")
    verified = arenite("verify", project.model, project.built, "--data", project.data, "--engine", "numpy", "--json").json
    check({**verified, "engines": list(verified["engines"].values()), "compared": {}, "compared_by": {}}, "verify")
    check(arenite("convert", project.folder / "absent.onnx", "--json").json, "error")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:converter|python_runtime|runtime_c|tests)/[\w/]+\.(?:py|c|h))`", ADDING))))
def test_files_of_the_walk_through_have_the_operator(path):
    """Every file that docs/adding-an-operator.md names is there and mentions PRelu, the operator that it follows."""
    exempt = {"converter/arenite/graph/expression.py"}
    assert path in exempt or "prelu" in (ROOT / path).read_text(encoding="utf-8").lower()


def test_the_walk_through_forgets_no_file():
    """Every source file that names PRelu is mentioned."""
    sources = [
        path
        for folder in ("converter", "python_runtime", "runtime_c", "tests/kernels", "tests/differential")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".c", ".h") and "PRelu" in path.read_text(encoding="utf-8").replace("arn_kernel_prelu", "PRelu")
    ]
    mentioned = ADDING + "converter/arenite/graph/operators/elementwise.py"
    for path in sources:
        name = path.relative_to(ROOT)
        assert name.as_posix() in mentioned or path.name in mentioned, name


def test_the_data_files_of_the_readme(project, arenite, tmp_path, monkeypatch):
    """The lines that write them, and the commands that read them."""
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    random = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    exec(block, {"samples": list(random.normal(0, 1, (220, 3, 6, 6))), "classes": [i % 5 for i in range(220)]})
    outcome = arenite("convert", project.model, "--calibration", "calibration.npz", "--output", "built")
    assert outcome.code == 0 and "calibration.npz" in outcome.out
    value = arenite("verify", project.model, "built", "--data", "test.npz", "--engine", "numpy", "--json").json
    assert value["samples"] == 20 and value["float"]["metric"] == "accuracy"
    for file in ("calibration.npz", "test.npz"):
        assert re.search(rf"^    .*{file}", README, re.MULTILINE), file


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_c_examples_compile(project, tmp_path):
    (block,) = re.findall(r"```c\n(.*?)```", README, re.DOTALL)
    head, arena, body = block.split("\n\n", 2)
    comment = re.search(r"\n \*\n((?: \*     .*\n)+)", HEADER)
    declaration, code = (
        re.sub(r"^ \*     ", "", comment[1], flags=re.MULTILINE).replace("... write in.data ...", "(void)in;").split("\n", 1)
    )
    examples = {
        "compiled": f"{head}\n{arena}\nint use(const float *features);\nint use(const float *features)\n{{{body}return scores[0];}}\n",
        "interpreted": f'#include "kws_model.h"\n{declaration}\nint use(void);\nint use(void)\n{{{code}(void)0; return 0;}}\n',
    }
    for name, example in examples.items():
        source = tmp_path / f"{name}.c"
        source.write_text(
            example.replace("kws", "model")
            .replace("KWS", "MODEL")
            .replace("arn_tensor out = ", "out = ")
            .replace("arn_session session;", "arn_session session;\narn_tensor out;")
        )
        words = ["cc", "-std=c99", "-Wall", "-Wextra", "-I", project.built, "-I", project.built / "runtime_c" / "include", "-c", source]
        done = subprocess.run([*words, "-o", tmp_path / "x.o"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
