"""Constants that are copied to RAM: which, where, and that nothing else of a program changes."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from arenite.emit import Program
from arenite.emit.c import write_sources
from arenite.emit.constants_in_ram import MARK_BYTES, Room, constant_reads, move_constants, sentences
from arenite.emit.flat import serialize
from arenite.emit.program import ProgramTensor, Storage
from arenite.plan.memory_plan import MemoryKind
from arenite.targets.sources import kernel_sources, native_root
from arenite_runtime import Interpreter, Model
from elftools.elf.elffile import ELFFile
from emit.test_c import compile_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Make = Callable[..., Program]
ROOMS = st.lists(st.one_of(st.none(), st.integers(0, 600)), min_size=1, max_size=3)


def constants(program: Program) -> list[ProgramTensor]:
    read = {index for call in program.calls for index in call.inputs if index >= 0}
    return [program.tensors[index] for index in sorted(read) if program.tensors[index].data is not None]


def spans(tensors: list[ProgramTensor]) -> dict[tuple[Storage, int, int], int]:
    return {(tensor.storage, tensor.memory, tensor.offset): tensor.bytes for tensor in tensors}


@given(sizes=ROOMS)
@settings(deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_constant_is_somewhere_once(make_program: Make, sizes: list[int | None]) -> None:
    plain = make_program()
    moved = move_constants(plain, [Room(f"ram{i}", size) for i, size in enumerate(sizes)])
    assert moved.calls == plain.calls and moved.inputs == plain.inputs and moved.outputs == plain.outputs
    assert moved.tensors[: len(plain.tensors)] != plain.tensors or moved == plain
    for before, after in zip(plain.tensors, moved.tensors, strict=False):
        assert (before.shape, before.dtype) == (after.shape, after.dtype)
        if before.storage is Storage.REGION:
            assert before == after
    held = spans(constants(moved))
    assert sum(held.values()) == sum(spans(constants(plain)).values()), "those that share bytes share them still"
    # None lies over another, and each is aligned and in its memory.
    ends: dict[tuple[Storage, int], int] = {}
    for (storage, memory, offset), size in sorted(held.items(), key=lambda item: (item[0][0].value, *item[0][1:])):
        assert offset >= ends.get((storage, memory), 0)
        ends[storage, memory] = offset + size
    for tensor in constants(moved):
        assert tensor.data is not None and tensor.offset % max(4, tensor.data.dtype.itemsize) == 0
    for number, (memory, size) in enumerate(zip(moved.memories, moved.memory_bytes, strict=True)):
        if memory.kind is MemoryKind.EXTERNAL:
            assert size == ends[Storage.EXTERNAL, number] <= (size if memory.capacity is None else memory.capacity)
    assert sum(constant_reads(moved).values()) == constant_reads(plain)[""]


@given(sizes=ROOMS)
@settings(deadline=None, derandomize=True, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_file_says_what_is_copied(make_program: Make, sizes: list[int | None]) -> None:
    plain = make_program()
    moved = move_constants(plain, [Room(f"ram{i}", size) for i, size in enumerate(sizes)])
    model = Model.load(serialize(moved))
    assert [region.size for region in model.regions] == list(moved.memory_bytes)
    for stored, tensor in zip(model.tensors, moved.tensors, strict=True):
        if tensor.data is not None:
            np.testing.assert_array_equal(model.constant(stored), tensor.data.reshape(tensor.shape))
    x = np.random.default_rng(3).integers(-128, 128, (1, 4, 4, 2)).astype(np.int8)
    expected = Interpreter(Model.load(serialize(plain))).run([x])
    np.testing.assert_array_equal(Interpreter(model).run([x])[0], expected[0])


def test_what_is_read_most_for_its_size_goes_first(make_program: Make) -> None:
    """Sixteen pixels, two at a time: the first convolution reads its constants eight times, the second, one pixel at a time, sixteen times;
    the fully connected layer reads its own once, an element a result is read of the table."""
    plain = make_program()
    by_name = {tensor.name: index for index, tensor in enumerate(plain.tensors)}
    moved = move_constants(plain, [Room("dtcm", 36 + 4 + 16 + 16 + MARK_BYTES)])
    dtcm = {name for name, index in by_name.items() if moved.tensors[index].storage is Storage.EXTERNAL}
    assert dtcm == {"c.weight", "w.bias", "w.multiplier"}
    reads = {"c.weight": 36 * (8 + 16), "w.bias": 16 * 16, "w.multiplier": 16 * 16, "c.bias": 8 * 8, "c.multiplier": 8 * 8, "table": 32}
    reads |= {"f.weight": 120, "f.bias": 12, "f.multiplier": 12}
    found = constant_reads(moved)
    assert found["dtcm_weights"] == sum(reads[name] for name in dtcm)
    assert sum(found.values()) - sum(reads.values()) == 3 * 4, "of the table of exponentials an element a result"
    share = found["dtcm_weights"] / sum(found.values())
    assert sentences(moved) == (
        f"dtcm_weights: 72 bytes of constants are copied to RAM at the start, which are {share:.1%} of what an inference reads of "
        "constants (estimated)",
    )


def test_nothing_changes_without_room(make_program: Make) -> None:
    plain = make_program()
    for rooms in ([], [Room("dtcm", 0)], [Room("dtcm", 3), Room("sram", 2)]):
        assert move_constants(plain, rooms) == plain
        assert not sentences(plain)


def test_a_name_that_is_taken(make_program: Make) -> None:
    moved = move_constants(move_constants(make_program(), [Room("dtcm", 40)]), [Room("DTCM", 16)])
    assert [memory.name for memory in moved.memories] == ["arena", "dtcm_weights", "DTCM_weights_"]
    sources = write_sources(moved, serialize(moved))
    assert "EXAMPLE_DTCM_WEIGHTS_SECTION" in sources["example.c"] and "EXAMPLE_MODEL_REGIONS 3" in sources["example_model.h"]


@pytest.mark.parametrize("sizes", [(None,), (60, 100)])
def test_generated_c(make_program: Make, tmp_path: Path, sizes: tuple[int | None, ...]) -> None:
    """It compiles without a warning; what is in RAM is no constant, and nothing else has become variable."""
    plain = make_program()
    moved = move_constants(plain, [Room(f"ram{i}", size) for i, size in enumerate(sizes)])
    sources = write_sources(moved, serialize(moved))
    compile_all(sources, tmp_path)
    text = sources["example.c"]
    for number, size in enumerate(moved.memory_bytes[1:]):
        macro = f"EXAMPLE_RAM{number}_WEIGHTS_SECTION"
        assert f'#define {macro} ARN_SECTION(".data.ram{number}_weights")' in text
        assert f"#define EXAMPLE_MODEL_MEMORY_RAM{number}_WEIGHTS_BYTES {size} /* region {number + 1} */" in sources["example_model.h"]
        assert f"{size} bytes in .data.ram{number}_weights ({macro})" in sources["example.h"]
    arrays = [line for line in text.splitlines() if line.startswith("static ") and "] " in line and " = {" in line]
    in_ram = [line for line in arrays if "_SECTION" in line]
    assert len(in_ram) == len({(t.memory, t.offset) for t in constants(moved) if t.storage is Storage.EXTERNAL})
    assert all(("_SECTION" in line) != line.startswith("static const ") for line in arrays)
    # The compiled form takes no pointer for them, and both forms tell whether they are there.
    assert "int example_invoke(void *arena);" in sources["example.h"]
    assert "arn_constants_loaded};" in sources["example_model.c"]
    others = write_sources(plain, serialize(plain))
    assert "_SECTION" not in others["example.c"] and "LOADED" not in others["example.c"]
    assert "void example_invoke(void *arena);" in others["example.h"] and "arn_constants_loaded" not in others["example_model.c"]


FORGOTTEN = """
#include "example.c"
#include <stdio.h>

static uint8_t arena[EXAMPLE_ARENA_BYTES] ARN_ALIGNED(16);

int main(void) {
    printf("%d", example_invoke(arena));
    dtcm_weights_loaded ^= 1;
    printf(" %d", example_invoke(arena));
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_the_compiled_form_says_that_nothing_was_copied(make_program: Make, tmp_path: Path) -> None:
    moved = move_constants(make_program(), [Room("dtcm", 100)])
    for name, text in {**write_sources(moved, serialize(moved)), "main.c": FORGOTTEN}.items():
        (tmp_path / name).write_text(text)
    includes = [f"-I{native_root() / 'runtime_c' / folder}" for folder in ("include", "kernels")]
    sources = [str(path) for path in kernel_sources(native_root() / "runtime_c")]
    subprocess.run(["gcc", "-std=c99", "-Os", *includes, "main.c", *sources, "-lm", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout == "0 11"


@pytest.mark.skipif(not shutil.which("gcc") or platform.system() != "Linux", reason="needs gcc and ELF")
@pytest.mark.parametrize("section", [".data.dtcm_weights", ".mine"])
def test_sections_of_the_object(make_program: Make, tmp_path: Path, section: str) -> None:
    """The arrays, initialized, in the section that the linker script looks for, or in that of a macro; the rest stays read only."""
    moved = move_constants(make_program(), [Room("dtcm", 100)])
    for name, text in write_sources(moved, serialize(moved)).items():
        (tmp_path / name).write_text(text)
    includes = [f"-I{native_root() / 'runtime_c' / folder}" for folder in ("include", "kernels")]
    own = [] if section.startswith(".data") else [f'-DEXAMPLE_DTCM_WEIGHTS_SECTION=__attribute__((section("{section}")))']
    command = ["gcc", "-std=c99", "-Os", "-fdata-sections", *includes, *own, "-c", "example.c", "-o", "example.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with (tmp_path / "example.o").open("rb") as file:
        elf = ELFFile(file)
        found = {each.name: each for each in elf.iter_sections() if each.name.startswith((".data", ".mine")) and each["sh_size"]}
        assert list(found) == [section]
        assert moved.memory_bytes[1] <= found[section]["sh_size"] <= moved.memory_bytes[1] + 64  # gcc aligns arrays as it likes
        assert found[section]["sh_type"] == "SHT_PROGBITS" and found[section]["sh_flags"] & 1, "initialized, and writable"
