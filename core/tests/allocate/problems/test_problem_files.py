"""Problems as files: our own form keeps everything, others are read, what cannot be read is said."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate.problems.problem_files import problem_json, read_problem
from tilewright.errors import TilewrightError
from tilewright.testing.allocation_problems import joined_problem

CSV = "id,lower,upper,size\na,0,2,16\nb,1,3,16\nc,2,4,16\n"


@pytest.fixture(name="problem")
def _problem(tmp_path: Path) -> Path:
    file = tmp_path / "three.csv"
    file.write_text(CSV)
    return file


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_our_own_form_keeps_everything(tmp_path_factory: pytest.TempPathFactory, chance: Any) -> None:
    problem = joined_problem(chance)
    data = problem_json(problem)
    schema = json.loads(files("tilewright.allocate").joinpath("problem-1.schema.json").read_text("utf-8"))
    jsonschema.validate(data, schema)
    file = tmp_path_factory.mktemp("problem") / "problem.json"
    file.write_text(json.dumps(data))
    assert read_problem(file) == problem


def test_all_columns_of_minimalloc_are_read(tmp_path: Path) -> None:
    file = tmp_path / "all.csv"
    file.write_text("id,lower,upper,size,alignment,offset,hint,gaps\nx,0,20,8,4,,12,7-9 12-14\ny,0,4,8,,16,-1,\n")
    x, y = read_problem(file).blocks
    assert (x.align, x.fixed_offset, x.hint, x.lifetimes) == (4, None, 12, ((0, 6), (9, 11), (14, 19)))
    assert (y.align, y.fixed_offset, y.hint, y.lifetimes) == (1, 16, None, ((0, 3),))


def test_other_names_of_columns_and_a_closed_end(tmp_path: Path) -> None:
    """As in the reference program's reader: `end` belongs to the lifetime, and so do ends of gaps."""
    file = tmp_path / "old.csv"
    file.write_text("buffer_id,start,end,size,gaps\nb,0,19,8,7-8 12-13\n\nnot read\n")
    (block,) = read_problem(file).blocks
    assert (block.name, block.lifetimes) == ("b", ((0, 6), (9, 11), (14, 19)))
    file.write_text("buffer,begin,upper,size\nb,0,20,8\n")
    assert read_problem(file).blocks[0].lifetimes == ((0, 19),)


def test_a_gap_with_a_window_gives_nothing_up(tmp_path: Path) -> None:
    file = tmp_path / "window.csv"
    file.write_text("id,lower,upper,size,gaps\nx,0,20,8,3-5@2:8 7-9\n")
    assert read_problem(file).blocks[0].lifetimes == ((0, 6), (9, 19))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id,id,lower,upper,size\n",
        "id,lower,upper,size\n1,2\n",
        "id,size\n1,2\n",
        "{",
        '{"a": 1}',
        "id,lower,upper,size\na,b,c,d\n",
        '{"buffers": [{}]}',
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad"
    file.write_text(text)
    with pytest.raises(TilewrightError) as caught:
        read_problem(file)
    assert caught.value.code == "TW5022"


def test_buffers_with_candidates_keep_them_in_their_order_and_others_are_in_one_pool(tmp_path: Path) -> None:
    file = tmp_path / "buffers.json"
    buffers = [{"name": "a", "size": 4, "pools": ["near", "far"]}, {"name": "b", "size": 8, "pools": ["far"]}]
    file.write_text(json.dumps({"buffers": buffers}))
    problem = read_problem(file)
    assert [pool.name for pool in problem.pools] == ["near", "far"]
    assert [block.pools for block in problem.blocks] == [("near", "far"), ("far",)]
    file.write_text(json.dumps({"buffers": [{"name": "a", "size": 4}, {"name": "b", "size": 8, "pools": []}]}))
    alone = read_problem(file)
    assert len(alone.pools) == 1 and {block.pools for block in alone.blocks} == {(alone.pools[0].name,)}


def test_a_json_has_no_lifetimes_that_are_inclusive(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"buffers": [{"name": "a", "size": 8, "lower": 0, "upper": 3}]}', encoding="utf-8")
    assert read_problem(file).blocks
    with pytest.raises(TilewrightError, match="--inclusive is about a CSV"):
        read_problem(file, inclusive=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"buffers": [{}]}', "' is missing"),
        ("id,lower,upper,size\na,0,2\n", "shorter"),
        ("id,lower,upper,size\na,0,2,16,7\n", "longer"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "problem"
    file.write_text(text)
    with pytest.raises(TilewrightError) as failed:
        read_problem(file)
    assert words in str(failed.value)
