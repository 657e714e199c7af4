"""Reading samples: every accepted form, and a message for every mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arenite.errors import CalibrationError
from arenite.graph import DType, Graph, Quantization, Tensor
from arenite.quantize import InputSpec, input_specs, load_data, synthetic_data

IMAGE = (InputSpec("image", (1, 4, 3, 2)),)
TWO = (InputSpec("a", (1, 5)), InputSpec("b", (1, 2, 3)))
Q = Quantization.per_tensor(0.5, 3)


def write(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("shape", [(7, 4, 3, 2), (7, 1, 4, 3, 2)])
@pytest.mark.parametrize("key", ["image", "x", "anything"])
def test_samples_with_and_without_the_batch_dimension(tmp_path: Path, shape: tuple[int, ...], key: str) -> None:
    values = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    data = load_data(write(tmp_path / "d.npz", **{key: values, "y": np.arange(7)}), IMAGE)
    assert len(data) == 7
    assert data.inputs["image"].shape == (7, 1, 4, 3, 2)
    assert data.inputs["image"].dtype == np.float32
    np.testing.assert_array_equal(data.sample(6)["image"].ravel(), values[6].ravel())
    assert data.labels is not None
    assert data.labels.tolist() == list(range(7))
    assert [s["image"].shape for s in data.samples()] == [(1, 4, 3, 2)] * 7
    assert len(data.first(3)) == 3
    assert len(data.first(30)) == 7
    spread = data.spread(3)
    assert spread.labels is not None
    assert spread.labels.tolist() == [0, 2, 4]
    assert len(data.spread(100)) == 7


def test_npy_and_a_single_sample(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.ones((4, 3, 2), np.float32))
    assert len(load_data(tmp_path / "one.npy", IMAGE)) == 1
    np.save(tmp_path / "batch.npy", np.ones((1, 4, 3, 2), np.float32))
    assert len(load_data(str(tmp_path / "batch.npy"), IMAGE)) == 1


def test_folder_in_the_order_of_names(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        np.save(tmp_path / f"{number}.npy", np.full((4, 3, 2), number, np.float32))
    (tmp_path / "readme.txt").write_text("ignored")
    data = load_data(tmp_path, IMAGE)
    assert data.inputs["image"][:, 0, 0, 0, 0].tolist() == [0, 1, 2]
    assert data.labels is None


def test_folder_with_labels(tmp_path: Path) -> None:
    write(tmp_path / "a.npz", x=np.zeros((4, 3, 2)), y=np.array(4))
    write(tmp_path / "b.npz", x=np.zeros((2, 4, 3, 2)), y=np.array([5, 6]))
    labels = load_data(tmp_path, IMAGE).labels
    assert labels is not None
    assert labels.tolist() == [4, 5, 6]


def test_several_inputs(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.npz", a=np.ones((3, 5)), b=np.zeros((3, 1, 2, 3))), TWO)
    assert {name: v.shape for name, v in data.sample(2).items()} == {"a": (1, 5), "b": (1, 2, 3)}


def test_input_without_a_batch_of_one(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.npz", x=np.zeros((6, 2, 5))), (InputSpec("a", (2, 5)),))
    assert data.inputs["a"].shape == (6, 2, 5)


def test_int8_and_uint8_of_the_declared_type_stand_for_real_values(tmp_path: Path) -> None:
    signed = (InputSpec("x", (1, 3), DType.INT8, Q),)
    stored = np.array([[-128, 3, 127]], np.int8)
    data = load_data(write(tmp_path / "s.npz", x=stored), signed)
    assert data.inputs["x"].ravel().tolist() == [-65.5, 0.0, 62.0]
    np.testing.assert_array_equal(data.declared_sample(0)["x"], stored)
    unsigned = (InputSpec("x", (1, 3), DType.UINT8, Q),)
    stored_u = np.array([[0, 131, 255]], np.uint8)
    data = load_data(write(tmp_path / "u.npz", x=stored_u), unsigned)
    assert data.inputs["x"].ravel().tolist() == [-65.5, 0.0, 62.0]
    np.testing.assert_array_equal(data.declared_sample(0)["x"], stored_u)


def test_real_values_for_a_quantized_input_become_its_type(tmp_path: Path) -> None:
    path = write(tmp_path / "d.npz", x=np.array([[-65.5, 0.25, 1e9]], np.float32))
    assert load_data(path, (InputSpec("x", (1, 3), DType.UINT8, Q),)).declared_sample(0)["x"].tolist() == [[0, 131, 255]]
    assert load_data(path, (InputSpec("x", (1, 3), DType.INT8, Q),)).declared_sample(0)["x"].tolist() == [[-128, 3, 127]]
    assert load_data(path, (InputSpec("x", (1, 3)),)).declared_sample(0)["x"].dtype == np.float32


def test_int8_data_for_a_float_input_that_the_model_quantizes_itself(tmp_path: Path) -> None:
    data = load_data(write(tmp_path / "d.npz", x=np.array([[5, 3, 1]], np.int8)), (InputSpec("x", (1, 3), DType.FLOAT32, Q),))
    assert data.inputs["x"].tolist() == [[[1.0, 0.0, -1.0]]]
    assert data.declared_sample(0)["x"].dtype == np.float32


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.zeros((5, 49, 10))}, ["`x`", "(5, 49, 10)", "[samples, 4, 3, 2]", "as the application does"]),
        ({"x": np.zeros((5, 2, 4, 3))}, ["(5, 2, 4, 3)", "numpy.transpose(array, (0, 2, 3, 1))"]),
        ({"x": np.zeros((5, 24))}, ["reshape(-1, 4, 3, 2)"]),
        ({"x": np.zeros(24)}, ["one sample", "reshape(1, 4, 3, 2)"]),
        ({"x": np.zeros(())}, ["shape ()"]),
        ({"x": np.zeros((0, 4, 3, 2))}, ["no samples"]),
        ({"x": np.zeros((3, 4, 3, 2), np.uint8)}, ["uint8", "float32", "/ 255"]),
        ({"x": np.zeros((3, 4, 3, 2), np.int64)}, ["int64", "float32"]),
        ({"x": np.zeros((3, 4, 3, 2), np.complex64)}, ["complex64"]),
        ({"x": np.array([["a"]])}, ["shape (1, 1)"]),
        ({"a": np.zeros((3, 4, 3, 2)), "b": np.zeros(3)}, ["`image`", "`a`", "`b`", "`x`"]),
        ({"y": np.zeros(3)}, ["no array for the input `image`"]),
        ({"x": np.zeros((3, 4, 3, 2)), "y": np.zeros(4)}, ["`y`", "(4,)", "3 samples"]),
    ],
)
def test_refused(tmp_path: Path, arrays: dict[str, np.ndarray], words: list[str]) -> None:
    path = write(tmp_path / "data.npz", **arrays)
    with pytest.raises(CalibrationError) as caught:
        load_data(path, IMAGE)
    for word in ["data.npz", *words]:
        assert word in str(caught.value)


def test_nan_and_infinity_name_the_sample(tmp_path: Path) -> None:
    values = np.zeros((5, 4, 3, 2))
    values[3, 0, 0, 0], values[4, 1, 1, 1] = np.nan, np.inf
    with pytest.raises(CalibrationError, match=r"2 values for the input `image` are NaN or infinite, first in sample 3"):
        load_data(write(tmp_path / "d.npz", x=values), IMAGE)


@pytest.mark.parametrize(
    ("stored", "declared"), [(np.uint8, DType.INT8), (np.int8, DType.UINT8), (np.int32, DType.INT8), (np.uint8, DType.FLOAT32)]
)
def test_other_integers_for_a_quantized_input(tmp_path: Path, stored: type, declared: DType) -> None:
    with pytest.raises(CalibrationError, match=np.dtype(stored).name):
        load_data(write(tmp_path / "d.npz", x=np.zeros((1, 3), stored)), (InputSpec("x", (1, 3), declared, Q),))


def test_unequal_numbers_of_samples(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match=r"'a': 3, 'b': 2"):
        load_data(write(tmp_path / "d.npz", a=np.ones((3, 5)), b=np.zeros((2, 2, 3))), TWO)


def test_missing_input(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="no array for the input `b`"):
        load_data(write(tmp_path / "d.npz", a=np.ones((3, 5)), x=np.zeros((3, 2, 3))), TWO)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="no such file"):
        load_data(tmp_path / "absent.npz", IMAGE)
    (tmp_path / "text.csv").write_text("1,2")
    with pytest.raises(CalibrationError, match=r"end in \.npz or \.npy"):
        load_data(tmp_path / "text.csv", IMAGE)
    empty = tmp_path / "folder"
    empty.mkdir()
    with pytest.raises(CalibrationError, match=r"holds no \.npy"):
        load_data(empty, IMAGE)
    whole = write(tmp_path / "whole.npz", x=np.zeros((300, 4, 3, 2))).read_bytes()
    for name, content in (("broken.npz", whole[: len(whole) // 2]), ("text.npz", b"hello"), ("empty.npy", b""), ("text.npy", b"hello")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CalibrationError, match=f"{name}: not a readable NumPy file"):
            load_data(tmp_path / name, IMAGE)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(CalibrationError, match="not a readable NumPy file"):
        load_data(tmp_path / "objects.npy", IMAGE)


def test_some_files_of_a_folder_have_labels(tmp_path: Path) -> None:
    write(tmp_path / "a.npz", x=np.zeros((2, 4, 3, 2)), y=np.zeros(2))
    write(tmp_path / "b.npz", x=np.zeros((2, 4, 3, 2)))
    with pytest.raises(CalibrationError, match="some files have labels"):
        load_data(tmp_path, IMAGE)


def test_model_without_inputs(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="no inputs"):
        load_data(write(tmp_path / "d.npz", x=np.zeros(1)), Graph("constant"))


def graph() -> Graph:
    return Graph(
        "g",
        {
            "image": Tensor("image", (1, 32, 32, 3), DType.FLOAT32),
            "pixels": Tensor("pixels", (1, 16), DType.FLOAT32, None, Quantization.per_tensor(1 / 255, -128)),
        },
        inputs=["image", "pixels"],
        io_dtypes={"pixels": DType.UINT8},
    )


def test_specs_of_a_graph() -> None:
    image, pixels = input_specs(graph())
    assert (image.shape, image.declared, image.quantization) == ((1, 32, 32, 3), DType.FLOAT32, None)
    assert pixels.declared is DType.UINT8


def test_synthetic_data_is_seeded_smooth_and_fills_annotated_ranges() -> None:
    first, again, other = synthetic_data(graph(), 16, 3), synthetic_data(graph(), 16, 3), synthetic_data(graph(), 16, 4)
    assert len(first) == 16
    images = first.inputs["image"]
    assert images.shape == (16, 1, 32, 32, 3)
    np.testing.assert_array_equal(images, again.inputs["image"])
    assert not np.array_equal(images, other.inputs["image"])
    assert 0.3 < images.std() < 2.0
    assert np.abs(images).max() < 12
    neighbours = np.mean([np.corrcoef(i[0, :-1, :, 0].ravel(), i[0, 1:, :, 0].ravel())[0, 1] for i in images])
    assert neighbours > 0.5
    pixels = first.inputs["pixels"]
    assert pixels.min() >= 0
    assert pixels.max() <= 1
    assert pixels.max() - pixels.min() > 0.6


def test_constant_inputs(tmp_path):
    varied = np.zeros((3, 1, 2, 3))
    varied[2, 0, 1, 1] = 1e-6
    data = load_data(write(tmp_path / "d.npz", a=np.full((3, 5), 0.25), b=varied), TWO)
    assert data.constant_inputs() == {"a": 0.25}
    lone = load_data(write(tmp_path / "e.npz", x=np.ones((1, 1))), (InputSpec("a", (1,)),))
    assert lone.constant_inputs() == {}


@pytest.mark.filterwarnings("error")
def test_values_beyond_float32(tmp_path):
    """The message alone, which says that it is float32 that they are infinite in."""
    with pytest.raises(CalibrationError, match=r"24 values .* are NaN or infinite in float32, first in sample 1\. Remove"):
        load_data(write(tmp_path / "d.npz", x=np.stack([np.ones((4, 3, 2)), np.full((4, 3, 2), 1e300)])), IMAGE)


def test_a_folder_of_images(tmp_path):
    (tmp_path / "0.png").touch()
    with pytest.raises(
        CalibrationError, match=r"holds no \.npy or \.npz file, only \.png\. Read samples as the application does, images too"
    ):
        load_data(tmp_path, IMAGE)
