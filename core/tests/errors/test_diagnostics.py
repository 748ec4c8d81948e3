"""What an error looks like, and that no text from a file can act on the terminal."""

from __future__ import annotations

from tilewright.errors import Exit, model_error


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
