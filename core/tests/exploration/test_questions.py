"""What is asked about boards: one RAM first, and once for all that give one answer."""

from __future__ import annotations

from dataclasses import replace

from core.tests.exploration.chain import board
from tilewright.exploration.questions import Question, by_target, questions


def test_the_first_ram_alone_comes_before_all_of_them() -> None:
    two = list(questions(board("two", 100, 50)))
    assert [question.flags for question in two] == ["--board two --pool ram", "--board two"]
    assert [list(question.sizes) for question in two] == [["ram", "flash"], ["ram", "ram1", "flash"]]
    assert [question.single for question in two] == [True, False]
    assert [question.flags for question in questions(board("one", 100))] == ["--board one"]


def test_what_is_kept_for_the_application_is_a_limit() -> None:
    (one,) = questions(board("one", 100), 30)
    assert one.flags == "--board one --memory ram=70"
    assert one.sizes == {"ram": 70, "flash": 65536}
    (small,) = questions(board("small", 10), 30)
    assert small.sizes["ram"] == 0


def test_addresses_and_sections_change_no_answer_and_sizes_do() -> None:
    one = board("one", 100)
    moved = tuple(replace(memory, base=4096, section=".x", machine_bytes=100) for memory in one.memories)
    other = replace(board("other", 100), memories=moved)
    assert Question(board=one).key == Question(board=other).key
    assert Question(board=one).key != Question(board=board("more", 200)).key
    assert Question(board=one).form == Question(board=board("more", 200)).form
    aligned = replace(one, memories=tuple(replace(memory, align=32) for memory in one.memories))
    assert Question(board=one).form != Question(board=aligned).form
    assert Question(board=one).form != Question(board=replace(one, target="other")).form


def test_without_limits_nothing_has_an_end() -> None:
    assert set(Question(board=board("one", 100)).without_limits().sizes.values()) == {None}


def test_boards_stand_by_their_targets() -> None:
    one, two, other = board("one", 1), board("two", 1), replace(board("other", 1), target="a")
    assert by_target((one, other, two)) == {"a": (other,), "plain": (one, two)}
