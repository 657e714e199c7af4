"""Flat models with whatever a test wants changed, and the runtime as a library of this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import flatbuffers
import numpy as np
import pytest
from arenite.emit import Program
from arenite.emit.flat import serialize
from arenite_runtime.flat import arenite_generated as schema
from runtime_c.c_library import Aligned, ArnModel, ArnRegion, ArnTensor, Runtime, Session
from runtime_c.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime_c"
INCLUDES = [f"-I{RUNTIME / folder}" for folder in ("include", "kernels", "src")]


def runtime_sources() -> list[Path]:
    return [*sorted((RUNTIME / "src").glob("*.c")), *sorted((RUNTIME / "kernels/portable").glob("*.c"))]


@pytest.fixture(scope="session", params=list(PROGRAMS))
def program(request: pytest.FixtureRequest) -> Program:
    return PROGRAMS[request.param]()


@pytest.fixture(scope="session")
def arn() -> Callable[[str], bytes]:
    """The bytes of one of PROGRAMS."""
    return lambda name: serialize(PROGRAMS[name]())


def seal(file: bytearray) -> bytes:
    """With size and checksum."""
    table = schema.Model.GetRootAs(file, 0)._tab
    for slot, value in ((1, len(file)), (2, 0)):
        at = table.Pos + table.Offset(4 + 2 * slot)
        file[at : at + 4] = value.to_bytes(4, "little")
    file[at : at + 4] = crc32(file).to_bytes(4, "little")
    return bytes(file)


def pack(model: schema.ModelT) -> bytes:
    """A model of FlatBuffers' object interface as a file, its data 16-byte aligned."""
    model.fileSize = model.checksum = 0xFFFFFFFF
    for padding in range(0, 16, 4):
        builder = flatbuffers.Builder(1 << 14)
        builder.Prep(16, 0)  # the file becomes a multiple of 16
        builder.Pad(padding)
        builder.Finish(model.Pack(builder), file_identifier=b"ARN1")
        file = builder.Output()
        root = schema.Model.GetRootAs(file, 0)
        if root.DataLength() == 0 or root._tab.Vector(root._tab.Offset(4 + 2 * 10)) % 16 == 0:
            return seal(file)
    raise AssertionError("no padding aligns the data")


@pytest.fixture(scope="session")
def edited() -> Callable[..., bytes]:
    """The file of a program after `edit` has changed its FlatBuffers objects."""

    def build(name: str, edit: Callable[[schema.ModelT], None] = lambda model: None) -> bytes:
        model = schema.ModelT.InitFromPackedBuf(serialize(PROGRAMS[name]()))
        edit(model)
        return pack(model)

    return build


@pytest.fixture(scope="session")
def compiler() -> str:
    found = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if found is None:
        pytest.skip("there is no C compiler")
    return found


@pytest.fixture(scope="session")
def library_path(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runtime") / "runtime.so"
    flags = ["-std=c99", "-O1", "-g", "-fPIC", "-shared", "-ffp-contract=off"]
    subprocess.run([compiler, *flags, *INCLUDES, *runtime_sources(), "-lm", "-o", path], check=True)
    return path


def with_state(model: schema.ModelT) -> None:
    """After an invocation of `small`, out0 becomes in1, which begins as a constant of the model."""
    initial = next(i for i, tensor in enumerate(model.tensors) if tensor.storage == schema.Storage.constant)
    model.states = [schema.StateT(output=2, input=1, initial=initial)]
    model.inputs = model.inputs[:1]


def with_constant(model: schema.ModelT) -> None:
    """Eight more bytes of constants, 1…8, as a tensor."""
    tensor = schema.TensorT(shape=[1, 8], dtype=schema.DType.int8, storage=schema.Storage.constant, offset=0)
    model.tensors.append(tensor)
    model.data = np.arange(1, 9, dtype=np.uint8)


def rich_edits() -> dict[str, Callable[[schema.ModelT], None]]:
    def state(model: schema.ModelT) -> None:
        with_constant(model)
        with_state(model)

    def bound(model: schema.ModelT) -> None:
        for i, tensor in enumerate(model.tensors):
            model.regions.append(region(8, 4, schema.RegionKind.bound))
            tensor.region, tensor.offset = i + 1, 0

    def external(model: schema.ModelT) -> None:
        model.regions.append(region(32, 16, schema.RegionKind.external))
        model.tensors[1].storage, model.tensors[1].region, model.tensors[1].offset = schema.Storage.external, 1, 16
        model.inputs = model.inputs[:1]

    def loaded(model: schema.ModelT) -> None:
        with_constant(model)
        external(model)
        model.regions[1].size = 8
        model.tensors[1].offset, model.tensors[-1].region = 0, 1

    return {"state": state, "bound": bound, "external": external, "loaded": loaded}


def region(size: int, alignment: int, kind: int) -> schema.RegionT:
    return schema.RegionT(size=size, alignment=alignment, kind=kind)


@pytest.fixture(scope="session")
def rich_models(edited: Callable[..., bytes]) -> dict[str, bytes]:
    """What no program of today has, but the schema does: state, memory bound by the caller, constants in another memory."""
    return {name: edited("small", edit) for name, edit in rich_edits().items()}


@pytest.fixture(scope="session")
def runtime(library_path: Path) -> Runtime:
    return Runtime(library_path)


@pytest.fixture(scope="session")
def start(runtime: Runtime) -> Callable[[bytes], Session]:
    return lambda file: Session(runtime, file)


@pytest.fixture(scope="session")
def aligned() -> type[Aligned]:
    return Aligned


@pytest.fixture(scope="session")
def c_types() -> dict[str, type]:
    return {"model": ArnModel, "region": ArnRegion, "tensor": ArnTensor}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)
