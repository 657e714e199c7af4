"""Samples for calibration and verification: reading .npz, .npy and folders of them, and making synthetic ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import CalibrationError
from arenite.graph import DType, Graph, Quantization

Array = NDArray[np.generic]
SHARED_KEY = "x"
LABELS_KEY = "y"


@dataclass(frozen=True)
class InputSpec:
    """What a model input takes. `declared` is the element type in the ONNX file; `quantization` that of an int8 or uint8 input
    (int8 values, as everywhere in the IR)."""

    name: str
    shape: tuple[int, ...]
    declared: DType = DType.FLOAT32
    quantization: Quantization | None = None

    @property
    def is_plain(self) -> bool:
        """Integers or truth values that stand for themselves."""
        return self.quantization is None and self.declared is not DType.FLOAT32

    def real_values(self, stored: Array) -> NDArray[np.float32]:
        """int8 or uint8 values of the declared type as the real numbers that they stand for."""
        if self.quantization is None:
            raise ValueError(f"{self.name} has no quantization")
        offset = 128 if stored.dtype == np.uint8 else 0
        steps = stored.astype(np.int32) - offset - self.quantization.zero_point
        return np.asarray(steps.astype(np.float32) * self.quantization.scale, np.float32)

    def declared_values(self, real: NDArray[np.float32]) -> Array:
        """Real numbers in the type that the ONNX file declares: what onnxruntime wants to be fed."""
        if self.declared not in (DType.INT8, DType.UINT8) or self.quantization is None:
            return np.asarray(real, self.declared.numpy)
        with np.errstate(invalid="ignore"):
            steps = np.rint(real / self.quantization.scale) + self.quantization.zero_point
        steps = np.clip(steps, -128, 127).astype(np.int32)
        return np.asarray(steps + 128, np.uint8) if self.declared is DType.UINT8 else np.asarray(steps, np.int8)


def input_specs(graph: Graph) -> tuple[InputSpec, ...]:
    """The inputs of a float graph that a caller gives, in order."""
    return tuple(
        InputSpec(name, tensor.shape, graph.io_dtypes.get(name, tensor.dtype), tensor.quantization)
        for name, tensor in ((name, graph.tensors[name]) for name in graph.input_ports)
    )


@dataclass(frozen=True)
class Dataset:
    """Samples for every input of a model, as real numbers, and labels where the file has them."""

    specs: tuple[InputSpec, ...]
    inputs: Mapping[str, NDArray[Any]]
    """By input name: [samples, *shape of the input], float32; of the declared type for inputs of integers that stand for themselves."""
    labels: Array | None = None
    """[samples, …], of any type."""
    source: str = ""
    declared: Mapping[str, Array] = field(default_factory=dict)
    """By input name: int8 or uint8 data as given, for inputs that the ONNX file declares so."""

    def __len__(self) -> int:
        return len(next(iter(self.inputs.values())))

    def constant_inputs(self) -> dict[str, float]:
        """Inputs that have one value throughout, in all their elements and samples, and that value. A lone number is none of them."""
        return {
            name: float(values.flat[0])
            for name, values in self.inputs.items()
            if values.size > 1 and bool(np.all(values == values.flat[0]))
        }

    def sample(self, index: int) -> dict[str, NDArray[Any]]:
        """Inputs for one inference of the float graph, each of the input's shape."""
        return {name: values[index] for name, values in self.inputs.items()}

    def samples(self) -> Iterator[dict[str, NDArray[Any]]]:
        return (self.sample(index) for index in range(len(self)))

    def declared_sample(self, index: int) -> dict[str, Array]:
        """Inputs for one inference of the ONNX file, in its own element types."""
        return {
            spec.name: self.declared[spec.name][index]
            if spec.name in self.declared
            else spec.declared_values(self.inputs[spec.name][index])
            for spec in self.specs
        }

    def first(self, count: int) -> Dataset:
        """The first `count` samples (all where there are fewer)."""
        return self.select(range(min(count, len(self))))

    def spread(self, count: int) -> Dataset:
        """`count` samples at equal distances (all where there are fewer): files are often sorted by class."""
        count = min(count, len(self))
        return self.select(range(len(self)) if count == 0 else [i * len(self) // count for i in range(count)])

    def select(self, indices: Sequence[int]) -> Dataset:
        chosen = np.asarray(indices, np.int64)
        return Dataset(
            self.specs,
            {name: values[chosen] for name, values in self.inputs.items()},
            None if self.labels is None else self.labels[chosen],
            self.source,
            {name: values[chosen] for name, values in self.declared.items()},
        )


def load_data(path: Path | str, inputs: Graph | tuple[InputSpec, ...]) -> Dataset:
    """Read samples for `inputs`: a float graph, or its input_specs().

    `path` is an .npz file with an array named after each model input (or `x`, or a single array of any name, where the model has one
    input) and, optionally, labels `y`; an .npy file for a model of one input; or a folder of such files, read in the order
    of their names. The leading axis counts samples; a sample may have the input's shape with or without its leading
    dimension of 1, and a lone sample may lack the axis of samples. int8 and uint8 data are taken where the ONNX file gives that
    input this type (or int8, where it quantizes the input itself); for other inputs they are refused.

    Raises CalibrationError, naming file, array and shapes, for whatever cannot be read or does not fit.
    """
    specs = input_specs(inputs) if isinstance(inputs, Graph) else inputs
    path = Path(path)
    if not specs:
        raise CalibrationError(f"{path}: the model has no inputs, so there is nothing to feed. Leave the data out.")
    parts = [_read(file, specs) for file in _files(path)]
    arrays = {spec.name: np.concatenate([part[spec.name] for part in parts]) for spec in specs}
    labels = _join_labels(path, parts)
    count = len(arrays[specs[0].name])
    if count == 0:
        raise CalibrationError(f"{path}: no samples. Give at least one; a few hundred typical ones calibrate well.")
    return Dataset(
        specs,
        {spec.name: _real(path, spec, arrays[spec.name]) for spec in specs},
        labels,
        str(path),
        {
            spec.name: arrays[spec.name]
            for spec in specs
            if arrays[spec.name].dtype == spec.declared.numpy and arrays[spec.name].dtype != np.float32
        },
    )


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in (".npy", ".npz"))
        if not files:
            others = sorted({file.suffix for file in path.iterdir() if file.suffix})
            found = f", only {', '.join(others)}" if others else ""
            raise CalibrationError(
                f"{path}: the folder holds no .npy or .npz file{found}. Read samples as the application does, images too, and write the "
                "arrays with numpy.save or numpy.savez."
            )
        return files
    if not path.exists():
        raise CalibrationError(f"{path}: no such file or folder. Give an .npz or .npy file, or a folder of them.")
    if path.suffix not in (".npy", ".npz"):
        raise CalibrationError(f"{path}: data files end in .npz or .npy. Write them with numpy.savez or numpy.save.")
    return [path]


def _read(file: Path, specs: tuple[InputSpec, ...]) -> dict[str, Array]:
    """The arrays of one file by input name, shaped [samples, *input shape], and labels under LABELS_KEY's own name ''."""
    try:
        loaded: Any = np.load(file, allow_pickle=False)
        stored = {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except Exception as error:  # numpy raises ValueError, OSError, EOFError, zipfile's and zlib's own, by kind of damage
        raise CalibrationError(f"{file}: not a readable NumPy file ({error}). Write it with numpy.savez or numpy.save.") from error
    result: dict[str, Array] = {}
    for spec in specs:
        key = _key(file, spec, specs, list(stored))
        result[spec.name] = _as_samples(file, key or file.name, stored[key], spec)
    counts = {name: len(array) for name, array in result.items()}
    if len(set(counts.values())) > 1:
        raise CalibrationError(f"{file}: the inputs have different numbers of samples: {counts}. Give as many of each.")
    count = next(iter(counts.values()))
    if LABELS_KEY in stored and all(spec.name != LABELS_KEY for spec in specs):
        labels = stored[LABELS_KEY]
        if count == 1 and labels.shape[:1] != (1,):
            labels = labels[None]
        if labels.ndim == 0 or len(labels) != count:
            raise CalibrationError(
                f"{file}: `{LABELS_KEY}` has the shape {labels.shape}, which does not give {count} samples a label each. "
                f"Its leading axis must have {count} entries."
            )
        result[""] = labels
    return result


def _key(file: Path, spec: InputSpec, specs: tuple[InputSpec, ...], keys: list[str]) -> str:
    if spec.name in keys:
        return spec.name
    others = [key for key in keys if key != LABELS_KEY]
    if len(specs) == 1:
        if SHARED_KEY in keys:
            return SHARED_KEY
        if len(others) == 1:
            return others[0]
    names = ", ".join(f"`{s.name}` {s.shape}" for s in specs)
    found = ", ".join(f"`{key}`" for key in keys if key) or "one array without a name"
    also = f" (or `{SHARED_KEY}`)" if len(specs) == 1 else ""
    raise CalibrationError(
        f"{file}: no array for the input `{spec.name}`; it holds {found}. "
        f"Write an .npz with an array for each model input, named after it{also}: {names}."
    )


def _as_samples(file: Path, key: str, array: Array, spec: InputSpec) -> Array:
    """[samples, *spec.shape], whichever of the accepted forms `array` has."""
    shape = spec.shape
    inner = shape[1:] if shape[:1] == (1,) else shape
    if array.ndim >= 1 and array.shape[1:] in (shape, inner):
        return array.reshape(len(array), *shape)
    if array.shape in (shape, inner):
        return array.reshape(1, *shape)
    wanted = f"[samples, {', '.join(map(str, inner))}]"
    raise CalibrationError(
        f"{file}: array `{key}` has the shape {array.shape}, the model's input `{spec.name}` needs {wanted}. {_shape_remedy(array, inner)}"
    )


def _shape_remedy(array: Array, inner: tuple[int, ...]) -> str:
    found = array.shape[1:]
    if sorted(found) == sorted(inner) and len(inner) > 1:
        perm, free = [0], list(range(1, array.ndim))
        for size in inner:
            axis = next(a for a in free if array.shape[a] == size)
            free.remove(axis)
            perm.append(axis)
        return f"The axes seem to be in another order: try numpy.transpose(array, {tuple(perm)})."
    if array.ndim >= 1 and np.prod(found) == np.prod(inner):
        return f"As many values, so array.reshape(-1, {', '.join(map(str, inner))}) may be what you want."
    if array.size and array.size == np.prod(inner):
        return f"It is one sample of another shape: array.reshape(1, {', '.join(map(str, inner))}) may be what you want."
    return "Prepare the data as the application does before it calls the model."


def _real(path: Path, spec: InputSpec, array: Array) -> NDArray[Any]:
    kind = array.dtype
    if spec.is_plain:
        values = array.astype(spec.declared.numpy)
        if not np.array_equal(values, array):
            raise CalibrationError(f"{path}: the input `{spec.name}` is {spec.declared.value}, and its data, {kind}, has other values.")
        return values
    if kind == np.bool_ or kind.kind not in "fiu":
        raise CalibrationError(f"{path}: data for the input `{spec.name}` has the type {kind}. Give float32 values.")
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            values = array.astype(np.float32)
        bad = int(np.count_nonzero(~np.isfinite(values)))
        if bad:
            sample = int(np.argwhere(~np.isfinite(values))[0][0])
            where = " in float32" if np.all(np.isfinite(array)) else ""
            raise CalibrationError(
                f"{path}: {bad} values for the input `{spec.name}` are NaN or infinite{where}, "
                f"first in sample {sample}. Remove those samples."
            )
        return values
    own = spec.quantization is not None and kind == np.int8 and spec.declared in (DType.INT8, DType.FLOAT32)
    if own or (spec.quantization is not None and kind == np.uint8 and spec.declared is DType.UINT8):
        return spec.real_values(array)
    if spec.declared in (DType.INT8, DType.UINT8):
        raise CalibrationError(
            f"{path}: data for the input `{spec.name}` is {kind}, the ONNX file declares {spec.declared.value}. "
            f"Give {spec.declared.value} data, or the real values as float32."
        )
    raise CalibrationError(
        f"{path}: data for the input `{spec.name}` is {kind}, but the model takes float32, and what the integers stand for is not known. "
        "Convert them as the application does, scaling included (for example x.astype('float32') / 255)."
    )


def _join_labels(path: Path, parts: list[dict[str, Array]]) -> Array | None:
    labels = [part[""] for part in parts if "" in part]
    if not labels:
        return None
    if len(labels) != len(parts):
        raise CalibrationError(f"{path}: some files have labels `{LABELS_KEY}` and some have none. Give them to all or to none.")
    try:
        return np.concatenate(labels)
    except ValueError as error:
        raise CalibrationError(f"{path}: the labels `{LABELS_KEY}` of the files do not fit together ({error}).") from error


def synthetic_data(graph: Graph, samples: int = 32, seed: int = 0) -> Dataset:
    """Made-up samples, the same for the same seed, for a model without calibration data.

    Real signals are smooth with noise on top and differ in level and contrast. Each sample is a random field that
    was smoothed by a random amount along every axis but the last of an image (and the only axis of a vector), plus white noise, brought to
    unit variance and scaled and shifted at random: values are mostly within ±4. An input with an annotation is drawn over its
    whole range instead. Sizes and speed measured with such data are right; accuracy is not known.
    """
    generator = np.random.default_rng(seed)
    specs = input_specs(graph)
    inputs: dict[str, NDArray[Any]] = {}
    for spec in specs:
        fields = np.stack([_field(generator, spec.shape) for _ in range(samples)])
        if spec.is_plain:
            inputs[spec.name] = np.asarray(
                np.abs(fields) > 0.5 if spec.declared is DType.BOOL else np.rint(np.abs(fields)), spec.declared.numpy
            )
            continue
        if spec.quantization is not None and spec.quantization.is_per_tensor:
            low, high = (float(spec.quantization.scale) * (end - float(spec.quantization.zero_point)) for end in (-128, 127))
            fields = np.clip((low + high) / 2 + fields * (high - low) / 6, low, high)
        inputs[spec.name] = fields.astype(np.float32)
    return Dataset(specs, inputs, None, f"synthetic data (seed {seed})")


def _field(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    values = generator.standard_normal(shape)
    axes = [axis for axis, size in enumerate(shape) if size > 4]
    smooth = values
    for axis in axes:
        width = int(generator.integers(1, max(2, shape[axis] // 4)))
        smooth = sum((np.roll(smooth, step, axis) for step in range(width)), np.zeros(shape)) / width
    deviation = float(smooth.std())
    if deviation > 0:
        smooth = smooth / deviation
    noise = float(generator.uniform(0.05, 0.5))
    mixed = (smooth + noise * values) / np.sqrt(1 + noise**2)
    return np.asarray(mixed * generator.uniform(0.5, 1.5) + generator.normal(0, 0.3), np.float64)
