"""The programs of firmware/examples: no warning, the right digit, and a build as their README says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.targets.sources import interpreter_sources, kernel_sources, runtime_includes

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "firmware" / "examples"
DIGITS = ROOT / "models" / "digits_cnn"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-ffp-contract=off")
SOURCES = {"compiled": "digits_cnn.c", "interpreted": "digits_cnn_model.c"}
PRINTED = re.compile(r"digit 9, probability (0\.9\d|1\.00)\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """digits_cnn, converted."""
    output = tmp_path_factory.mktemp("examples") / "digits_cnn"
    return convert(DIGITS / "digits_cnn.onnx", ConvertOptions(calibration=DIGITS / "digits_calibration.npz", output=output)).folder


def sources(folder: Path, form: str) -> list[Path]:
    runtime = folder / "runtime_c"
    interpreter = interpreter_sources(runtime) if form == "interpreted" else ()
    return [EXAMPLES / form / "main.c", folder / SOURCES[form], *interpreter, *kernel_sources(runtime)]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("form", SOURCES)
def test_reads_a_nine(folder: Path, tmp_path: Path, form: str, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    includes = [f"-I{path}" for path in (folder, *runtime_includes(folder / "runtime_c"))]
    program = tmp_path / "program"
    subprocess.run([compiler, *STRICT, "-O1", *includes, *sources(folder, form), "-lm", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and PRINTED.fullmatch(done.stdout) and done.stderr == ""


@pytest.mark.parametrize("form", SOURCES)
def test_compiles_for_a_microcontroller(folder: Path, tmp_path: Path, form: str) -> None:
    arm = shutil.which("arm-none-eabi-gcc")
    if arm is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    includes = [f"-I{path}" for path in (folder, *runtime_includes(folder / "runtime_c"))]
    words = [arm, "-mcpu=cortex-m4", "-mthumb", *STRICT, *includes, "-c", EXAMPLES / form / "main.c", "-o", tmp_path / "main.o"]
    subprocess.run(words, check=True)


def test_the_interpreted_example_notices_damage(folder: Path, tmp_path: Path) -> None:
    """Its error checks are no decoration: one bit of the file is wrong."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    damaged = tmp_path / "digits_cnn"
    shutil.copytree(folder, damaged)
    source = damaged / "digits_cnn_model.c"
    text = source.read_text()
    at = text.rindex("0x", 0, text.rindex("0x"))
    source.write_text(text[:at] + f"0x{int(text[at + 2 : at + 4], 16) ^ 1:02x}" + text[at + 4 :])
    includes = [f"-I{path}" for path in (damaged, *runtime_includes(damaged / "runtime_c"))]
    subprocess.run(["cc", *STRICT, *includes, *sources(damaged, "interpreted"), "-lm", "-o", tmp_path / "program"], check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "digits_cnn: ARN_ERROR_CHECKSUM\n")


def test_the_compiled_example_refuses_a_network_without_calibration(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    plain = convert(DIGITS / "digits_cnn.onnx", ConvertOptions(output=tmp_path / "digits_cnn")).folder
    done = subprocess.run(
        ["cc", f"-I{plain}", "-c", EXAMPLES / "compiled" / "main.c", "-o", tmp_path / "main.o"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "without calibration data" in done.stderr


def test_builds_with_cmake(folder: Path, tmp_path: Path) -> None:
    """The commands of the README, with other folders."""
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("CMake or a C compiler is not installed")
    subprocess.run(["cmake", "-S", EXAMPLES, "-B", tmp_path, f"-DMODEL={folder}"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", tmp_path], check=True, capture_output=True)
    for form in SOURCES:
        assert PRINTED.fullmatch(subprocess.run([tmp_path / form], capture_output=True, text=True, check=True).stdout)
    without = subprocess.run(["cmake", "-S", EXAMPLES, "-B", tmp_path / "without"], capture_output=True, text=True, check=False)
    assert without.returncode != 0 and "-DMODEL=" in without.stderr


def test_the_image_is_the_first_of_the_test_data() -> None:
    with np.load(DIGITS / "digits_test.npz") as data:
        image, label = data["x"][0, 0], data["y"][0]
    assert label == 9
    for form in SOURCES:
        (block,) = re.findall(r"pixels\[\w+\] = \{([^}]*)\}", (EXAMPLES / form / "main.c").read_text())
        assert [int(number) / 16 for number in block.replace(",", " ").split()] == image.reshape(-1).tolist()
