"""What an error looks like, and that no text from a file can act on the terminal."""

from __future__ import annotations

import pickle
import traceback

import pytest

from tilewright.errors import Exit, TilewrightError, amended, model_error, with_fix


def test_rendering_ends_with_what_to_try():
    error = model_error("TW1299", "it broke", where="node 'n'", details=("one", "two\nthree"), fix=("do this",))
    assert str(error) == ("error[TW1299]: it broke\n  at    node 'n'\n  one\n  two\n  three\n  try:  do this")
    assert error.exit_code is Exit.MODEL


def test_control_and_invisible_characters_are_escaped():
    text = str(model_error("TW1299", "a\x1b[2Jb\n", where="\u202e", fix=("x",)))
    assert text == "error[TW1299]: a\\x1b[2Jb\\n\n  at    \\u202e\n  try:  x"


def test_a_detail_keeps_its_indent_where_one_word_of_it_is_longer_than_a_line():
    name = "/" + "encoder/" * 20 + "Conv"
    text = str(model_error("TW1299", "it broke", details=(f"{name}: no room", f"  {name}"), fix=("x",)))
    assert text.splitlines()[1:-1] == [f"  {name}:", "    no room", f"    {name}"]


def raised() -> TilewrightError:
    """An error that was raised here, and its cause."""
    try:
        try:
            raise ValueError("odd")
        except ValueError as cause:
            raise model_error("TW1299", "it broke") from cause
    except TilewrightError as error:
        return error


@pytest.mark.parametrize("change", [lambda error: amended(error, fix=("x",)), lambda error: with_fix(error, ("x",))])
def test_an_amended_error_was_raised_where_the_first_was(change):
    with pytest.raises(TilewrightError) as caught:
        raise change(raised()) from None
    assert caught.value.fix == ("x",)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "raised"


def test_an_amended_error_has_the_cause_of_the_first():
    assert isinstance(amended(raised(), where="here").__cause__, ValueError)


def test_an_error_crosses_processes_whole() -> None:
    error = TilewrightError("TW5001", "no room", "here", ("why",), ("do this",), Exit.DOES_NOT_FIT, needs=("ram", 5))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.exit_code, again.needs) == (str(error), error.exit_code, ("ram", 5))
