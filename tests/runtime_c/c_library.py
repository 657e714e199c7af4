"""The C runtime as a shared library, called with ctypes: its types, aligned memory, and a session."""

from __future__ import annotations

import ctypes
from pathlib import Path


class ArnTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int32)),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_int),
        ("scale", ctypes.c_float),
        ("zero_point", ctypes.c_int32),
    ]


class ArnRegion(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class ArnModel(ctypes.Structure):
    """Opaque: larger than arn_model and arn_session on any host."""

    _fields_ = [("words", ctypes.c_uint64 * 16)]


class Aligned:
    """Bytes at a 16-byte boundary, or `skew` beyond one."""

    def __init__(self, data: bytes, skew: int = 0) -> None:
        self._storage = ctypes.create_string_buffer(len(data) + 32)
        self.address = -(-ctypes.addressof(self._storage) // 16) * 16 + skew
        self.size = len(data)
        ctypes.memmove(self.address, data, len(data))

    def read(self) -> bytes:
        return ctypes.string_at(self.address, self.size)


class Runtime:
    """The C interface. Methods return statuses by name."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        for name in ("arn_status_name", "arn_input_name", "arn_output_name"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.arn_region_bytes.restype = ctypes.c_size_t
        self.library.arn_input.restype = self.library.arn_output.restype = ArnTensor
        self.every_kernel = ctypes.addressof(ctypes.c_char.in_dll(self.library, "arn_every_kernel"))

    def name(self, status: int) -> str:
        return str(self.library.arn_status_name(status).decode()).removeprefix("ARN_").removeprefix("ERROR_")

    def open(self, model: ArnModel | None, file: Aligned | None, size: int | None = None) -> str:
        address = ctypes.c_void_p(file.address if file else None)
        length = ctypes.c_size_t(size if size is not None else file.size if file else 0)
        return self.name(self.library.arn_model_open(ctypes.byref(model) if model else None, address, length))

    def check(self, model: ArnModel) -> str:
        return self.name(self.library.arn_model_check(ctypes.byref(model)))

    def init(self, session: ArnModel, model: ArnModel, regions: ctypes.Array[ArnRegion], resolver: int | None = None) -> str:
        kernels = ctypes.c_void_p(resolver or self.every_kernel)
        return self.name(self.library.arn_session_init(ctypes.byref(session), ctypes.byref(model), kernels, regions, len(regions)))

    def call(self, function: str, session: ArnModel, *arguments: object) -> str:
        return self.name(getattr(self.library, function)(ctypes.byref(session), *arguments))


class Session:
    """A model opened, checked and begun, its regions kept alive. `statuses` are what open and init said."""

    def __init__(self, runtime: Runtime, file: bytes) -> None:
        self.runtime, self.file = runtime, Aligned(file)
        self.model, self.handle = ArnModel(), ArnModel()
        self.statuses = [runtime.open(self.model, self.file)]
        if self.statuses == ["OK"]:
            count = runtime.library.arn_region_count(ctypes.byref(self.model))
            self.memories = [Aligned(bytes(runtime.library.arn_region_bytes(ctypes.byref(self.model), i))) for i in range(count)]
            self.regions = (ArnRegion * count)(*((memory.address if memory.size else None, memory.size) for memory in self.memories))
            self.statuses.append(runtime.init(self.handle, self.model, self.regions))

    def tensor(self, kind: str, index: int) -> ArnTensor:
        return getattr(self.runtime.library, f"arn_{kind}")(ctypes.byref(self.handle), index)

    def write(self, index: int, data: bytes) -> None:
        tensor = self.tensor("input", index)
        assert tensor.bytes == len(data)
        ctypes.memmove(tensor.data, data, len(data))

    def read(self, index: int) -> bytes:
        tensor = self.tensor("output", index)
        return ctypes.string_at(tensor.data, tensor.bytes)

    def invoke(self) -> str:
        return self.runtime.call("arn_invoke", self.handle)
