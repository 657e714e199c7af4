"""The model of the Cortex-M4's timing, against instructions and sequences that were counted by hand from its reference manual."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from arenite.errors import ToolError
from arenite.targets.block_counts import BlockCount, parse_counts
from arenite.targets.cortex_m4_timing import JUMP_CYCLES, block_cycles, instructions_of
from arenite.targets.image import Image
from arenite.targets.timing import cycles_of

ALONE = [
    ("adds r0, r1, r2", "1888", 1),
    ("mov.w r0, #4", "f04f 0004", 1),
    ("ldr r0, [r1, #4]", "6848", 2),
    ("ldr.w r0, [r1, r2, lsl #2]", "f851 0022", 2),
    ("ldrb r0, [r1]", "7808", 2),
    ("ldrsh r0, [r1, r2]", "5e88", 2),
    ("ldr r0, [pc, #8]", "4802", 2),
    ("ldr r0, [sp, #8]", "9802", 2),
    ("ldr.w r0, [r1], #4", "f851 0b04", 2),
    ("str r0, [r1]", "6008", 1),
    ("strh r0, [r1, #2]", "8048", 1),
    ("strb r0, [r1, r2]", "5488", 1),
    ("str r0, [sp, #4]", "9001", 1),
    ("str.w r0, [r1, #64]", "f8c1 0040", 1),
    ("push {r4, r5, lr}", "b530", 4),
    ("pop {r4, r5, pc}", "bd30", 4),
    ("ldm r0!, {r1, r2, r3}", "c80e", 4),
    ("ldmia.w r1!, {r6, r7, r8, r9, sl, fp, ip, lr}", "e8b1 5fc0", 9),
    ("stmdb sp!, {r4, r5, r6, r7, r8, r9, sl, fp, lr}", "e92d 4ff0", 10),
    ("ldrd r0, r1, [r2]", "e9d2 0100", 3),
    ("strd r0, r1, [sp, #8]", "e9cd 0102", 3),
    ("tbb [pc, r0]", "e8df f000", 3),
    ("it ne", "bf18", 0),
    ("nop", "bf00", 1),
    ("mul r0, r1, r2", "fb01 f002", 1),
    ("mla r0, r1, r2, r3", "fb01 3002", 1),
    ("smull r0, r1, r2, r3", "fb82 0103", 1),
    ("smlal r0, r1, r2, r3", "fbc2 0103", 1),
    ("smlad r0, r1, r2, r3", "fb21 3002", 1),
    ("sxtb16 r0, r1", "fa2f f081", 1),
    ("ssat r0, #8, r1", "f301 0007", 1),
    ("sdiv r0, r1, r2", "fb91 f0f2", 7),
    ("udiv r0, r1, r2", "fbb1 f0f2", 7),
    ("bx lr", "4770", 1),
    ("vldr s0, [r0]", "ed90 0a00", 2),
    ("vstr s0, [r0]", "ed80 0a00", 1),
    ("vpush {s16-s19}", "ed2d 8a04", 5),
    ("vldmia r0!, {s0-s3}", "ecb0 0a04", 5),
    ("vadd.f32 s0, s1, s2", "ee30 0a81", 1),
    ("vmul.f32 s0, s1, s2", "ee20 0a81", 1),
    ("vmla.f32 s0, s1, s2", "ee00 0a81", 3),
    ("vfma.f32 s0, s1, s2", "eea0 0a81", 3),
    ("vfnms.f32 s0, s1, s2", "ee90 0a81", 3),
    ("vnmls.f32 s0, s1, s2", "ee10 0a81", 3),
    ("vdiv.f32 s0, s1, s2", "ee80 0a81", 14),
    ("vsqrt.f32 s0, s1", "eeb1 0ae0", 14),
    ("vneg.f32 s0, s1", "eeb1 0a60", 1),
    ("vcvt.f32.s32 s0, s1", "eeb8 0ae0", 1),
    ("vmov s0, r0", "ee00 0a10", 1),
    ("vmov r0, s0", "ee10 0a10", 1),
    ("vmov r0, r1, s0, s1", "ec51 0a10", 2),
    ("vmrs APSR_nzcv, fpscr", "eef1 fa10", 1),
]


def code(halfwords: str) -> bytes:
    return b"".join(int(word, 16).to_bytes(2, "little") for word in halfwords.split())


@pytest.mark.parametrize(("text", "halfwords", "cycles"), ALONE, ids=[text for text, _, _ in ALONE])
def test_an_instruction_alone(text: str, halfwords: str, cycles: int) -> None:
    assert block_cycles(code(halfwords)) == cycles
    assert len(list(instructions_of(code(halfwords)))) == 1


@pytest.mark.skipif(not shutil.which("arm-none-eabi-as"), reason="no assembler")
def test_the_encodings_are_those_of_the_assembler(tmp_path: Path) -> None:
    source = tmp_path / "all.s"
    lines = [text + ("\n movne r0, r1" if text.startswith("it") else "") for text, _, _ in ALONE]
    source.write_text(".syntax unified\n.thumb\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.align 2\n" + "\n".join(lines) + "\n")
    subprocess.run(["arm-none-eabi-as", source, "-o", tmp_path / "all.o"], check=True, capture_output=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", tmp_path / "all.o", tmp_path / "all.bin"], check=True)
    wanted = b"".join(code(halfwords + (" 4608" if text.startswith("it") else "")) for text, halfwords, _ in ALONE)
    assert (tmp_path / "all.bin").read_bytes()[: len(wanted)] == wanted  # behind it may be padding


@pytest.mark.parametrize(
    ("halfwords", "cycles"),
    [
        ("6802 680b 684c", 4),  # ldr, ldr, ldr: 2 + 1 + 1
        ("6802 1888 680b", 5),  # ldr, adds, ldr: the second does not overlap
        ("6008 6848 6008", 3),  # str, ldr, str
        ("6802 fb22 6603", 3),  # ldr, smlad
        ("6802 e9d2 0100 680b", 7),  # ldr, ldrd, ldr: 2 + 3 + 2
        ("4288 bf18 4608 4770", 3),  # cmp, it ne, movne, bx lr: the IT is folded
        ("b530 6802 fb22 6603 bd30", 4 + 2 + 1 + 4),
    ],
)
def test_sequences(halfwords: str, cycles: int) -> None:
    assert block_cycles(code(halfwords)) == cycles


def image(contents: bytes, at: int = 0x100) -> Image:
    return Image(Path("some.elf"), "gcc", (), {}, ((at, contents),))


def test_cycles_of_executions() -> None:
    """A loop of three instructions: ldr, subs, bne. Four iterations, three of them from the branch at its end."""
    loop = BlockCount(0, 0x102, 3, 4, 3)
    flash = image(code("2004 680b 3801 d1fc"))
    assert cycles_of(flash, "cortex-m4", [loop]) == 4 * (2 + 1 + 1) + 3 * JUMP_CYCLES
    assert cycles_of(flash, "cortex-m4", [loop, BlockCount(-1, 0x100, 1, 1, 1)]) == 4 * 4 + 3 * 2 + 1 + 2
    assert cycles_of(flash, "cortex-m4", []) == 0
    assert cycles_of(flash, "cortex-m3", [loop]) is None


def test_code_elsewhere() -> None:
    with pytest.raises(ToolError, match=r"some\.elf executes code at 0x20000000, outside its flash"):
        cycles_of(image(b"\0\0"), "cortex-m4", [BlockCount(0, 0x20000000, 1, 1, 0)])
    with pytest.raises(ToolError, match="0x100"):
        cycles_of(image(b"\0\0"), "cortex-m4", [BlockCount(0, 0x100, 2, 1, 0)])


def test_parsing_counts() -> None:
    opened, invoked, same = parse_counts("call 7 0\nblock -1 0x10 7 1 1\ncall 30 2\nblock 0 0x20 5 4 3\nblock 1 0x20 5 2 2\ncall 30 2\n")
    assert (opened.instructions, opened.layer_calls, opened.blocks) == (7, 0, (BlockCount(-1, 16, 7, 1, 1),))
    assert (invoked.instructions, invoked.layer_calls) == (30, 2)
    assert invoked.blocks == (BlockCount(0, 32, 5, 4, 3), BlockCount(1, 32, 5, 2, 2))
    assert same.blocks == ()


@pytest.mark.parametrize("text", ["call 3\n", "block 1 2 3 4 5\n", "calls 3 1\n", "call 3 1\nblock 1 2 3 4\n", "\n", "call x 1\n"])
def test_text_that_is_none_of_the_plugin(text: str) -> None:
    with pytest.raises(ToolError, match="the counting plugin wrote"):
        parse_counts(text)


def test_a_line_that_was_cut_off_is_left_out() -> None:
    assert [call.instructions for call in parse_counts("call 3 1\nblock 1 0x2")] == [3]
