"""How the words in which a compilation is asked for are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from tilewright.errors import TilewrightError
from tilewright.front_door.compile_keywords import options_of
from tilewright.front_door.options_from_flags import (
    decisions_from,
    exporters_from,
    files_read,
    io_from,
    limits_from,
    memory_pins_from,
)


def test_io_of_all_tensors_and_of_one() -> None:
    assert io_from(()) == ("pool", "pool", {})
    assert io_from(("user",)) == ("user", "user", {})
    assert io_from(("push", "pull")) == io_from(("pull", "push")) == ("push", "pull", {})
    assert io_from(("user", "push")) == ("push", "user", {})
    assert io_from(("user", "a=b:0=pool", "x=user")) == ("user", "user", {"a=b:0": "pool", "x": "user"})
    for text in ("both", "x=", "=user", "x=both"):
        with pytest.raises(TilewrightError, match="TW1101"):
            io_from((text,))


def test_pins_are_patterns_or_files() -> None:
    assert memory_pins_from(("a*=dtcm", "pins.json", "b=c=sram"), None) == (("a*", "dtcm"), ("b=c", "sram"))
    with pytest.raises(TilewrightError, match="TW1106"):
        decisions_from(("a=dtcm", "nowhere.json"))
    with pytest.raises(TilewrightError, match="TW1106") as caught:
        decisions_from(("nowhere",))
    assert "--pin nowhere=POOL" in caught.value.fix[0] and "says no memory" in caught.value.message


def test_a_clock_that_is_typed_comes_before_the_boards(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text('clock = "216MHz"\n', encoding="utf-8")
    board = tmp_path / "board.toml"
    assert [options_of({"board": board, **typed}).clock_hz for typed in ({}, {"clock": "80MHz"})] == [
        216_000_000,
        80_000_000,
    ]


def test_build_systems_are_names_and_commas_each_once() -> None:
    assert exporters_from("cmake, make,cmake") == ("cmake", "make")
    for text in ("", "cmake,,make"):
        with pytest.raises(TilewrightError, match="TW1101"):
            exporters_from(text)


def test_files_that_are_read_are_those_that_the_model_names_too(tmp_path: Path) -> None:
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="w.bin")
    end = helper.make_tensor_value_info("w", TensorProto.FLOAT, [1])
    model = tmp_path / "m.onnx"
    model.write_bytes(helper.make_model(helper.make_graph([], "net", [], [end], [weights])).SerializeToString())
    flags = {"model": model, "board": None, "pins": ("p.json", "a=b"), "bound": ("x=x.npy", "y=1"), "states": ()}
    assert files_read(flags) == (model, Path("p.json"), Path("x.npy"), tmp_path / "w.bin")
    assert files_read({**flags, "model": None}) == (Path("p.json"), Path("x.npy"))


def test_limits_are_amounts_by_name() -> None:
    assert limits_from(("file=1K", "nodes=5")) == {"file": 1024, "nodes": 5}
    for texts in (("file",), ("file=1", "file=2"), ("file=much",)):
        with pytest.raises(TilewrightError, match="TW1101"):
            limits_from(texts)
