"""C names from whatever users call their layers."""

from __future__ import annotations

import re

import pytest
from arenite.emit.identifiers import KEYWORDS, MAX_LENGTH, ascii_text, identifier, layer_names, program_name
from hypothesis import given, settings
from hypothesis import strategies as st

C_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("conv1", "conv1"),
        ("my model-v2.1", "my_model_v2_1"),
        ("1st", "model_1st"),
        ("", "model"),
        ("日本", "model"),
        ("Größe", "Gro_e"),
        ("int", "int_"),
        ("_Bool", "Bool"),
        ("__reserved", "reserved"),
        ("café", "cafe"),
        ("a/*b*/c", "a_b_c"),
        ("x\n#error", "x_error"),
    ],
)
def test_identifier(text: str, name: str) -> None:
    assert identifier(text) == name


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    name = identifier(text)
    assert C_NAME.fullmatch(name) and name not in KEYWORDS and "__" not in name
    assert identifier(name) == name
    assert all(" " <= c <= "~" for c in ascii_text(text))


def test_common_path_is_dropped() -> None:
    assert layer_names(["model/conv1/Conv2D", "model/conv2/Conv2D"]) == ["conv1_Conv2D", "conv2_Conv2D"]
    assert layer_names(["/features/0/Conv"]) == ["features_0_Conv"]
    assert layer_names(["a/b", "a"]) == ["a_b", "a"]


def test_first_of_joined_names() -> None:
    assert layer_names(["net/conv/BiasAdd;net/conv/Conv2D;net/weights", "net/relu"]) == ["conv_BiasAdd", "relu"]


def test_duplicates_are_numbered() -> None:
    assert layer_names(["conv", "conv", "conv_2", "conv"], ["conv_3"]) == ["conv", "conv_2", "conv_2_2", "conv_4"]


def test_long_names_keep_their_end() -> None:
    (name,) = layer_names(["x" * 50 + "/block_12/depthwise/BatchNormV3"])
    assert len(name) <= MAX_LENGTH and name.endswith("block_12_depthwise_BatchNormV3")


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.text(max_size=70), max_size=8))
def test_any_names(names: list[str]) -> None:
    chosen = layer_names(names, ["model", "layer"])
    assert len(chosen) == len(names) == len(set(chosen)) and not {"model", "layer"} & set(chosen)
    assert all(C_NAME.fullmatch(name) for name in chosen)


@pytest.mark.parametrize("text", ["arenite", "arn_kernels", "stdint", "String", "signal", "help", "arenite_kernels"])
def test_a_program_hides_no_header_and_no_build_target(text: str) -> None:
    assert program_name(text) == f"model_{text}" == program_name(program_name(text))
    assert program_name("kws 1") == "kws_1"
