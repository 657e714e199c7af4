"""Several models in one emulation give what each gives alone."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.targets import open_engine
from arenite.targets.artifact import ArtifactModel
from arenite.targets.catalogue import TARGETS
from arenite.targets.many_models import build_run_models, run_models
from numpy.typing import NDArray

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]

Samples = list[list[NDArray[Any]]]


@pytest.mark.parametrize("emulator", ["qemu", "unicorn"])
@pytest.mark.parametrize("target", TARGETS)
def test_outputs_are_those_of_numpy(artifact: Path, samples: Samples, monkeypatch: pytest.MonkeyPatch, target: str, emulator: str) -> None:
    if not (shutil.which("qemu-system-arm") if emulator == "qemu" else find_spec("unicorn")):
        pytest.skip(f"the emulator {emulator} is not installed")
    if emulator == "unicorn" and not TARGETS[target].unicorn_cpu:
        pytest.skip(f"unicorn does not know the {target}")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    model = ArtifactModel.read(artifact)
    runs = run_models([(model, samples[:4]), (model, samples[4:])], target)
    assert [run.status for run in runs] == [0, 0]
    assert all(64 < run.stack_bytes < 2000 for run in runs)
    found = [sample for run in runs for sample in run.outputs]
    for sample, wanted in zip(found, open_engine("numpy", artifact).run(samples), strict=True):
        for array, expected in zip(sample, wanted, strict=True):
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected)


def test_the_soft_float_image_has_no_instructions_of_an_fpu() -> None:
    """The attributes of the ELF file say for which core and calling convention it is built: Tag_FP_arch and Tag_ABI_VFP_args."""
    from elftools.elf.elffile import ELFFile

    def attributes(target: str) -> dict[str, Any]:
        with build_run_models(target).path.open("rb") as stream:
            section = ELFFile(stream).get_section_by_name(".ARM.attributes")
            return {a.tag: a.value for s in section.iter_subsections() for each in s.iter_subsubsections() for a in each.iter_attributes()}

    hard, soft = attributes("cortex-m4"), attributes("cortex-m3")
    assert hard["TAG_FP_ARCH"] > 0 and hard["TAG_ABI_VFP_ARGS"] == 1
    assert soft.get("TAG_FP_ARCH", 0) == soft.get("TAG_ABI_VFP_ARGS", 0) == 0


def test_a_model_without_samples(artifact: Path) -> None:
    with pytest.raises(ValueError, match="two_headed has no samples"):
        run_models([(ArtifactModel.read(artifact), [])], "cortex-m4")
