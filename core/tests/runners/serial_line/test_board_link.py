"""Asking a board that is written here: refusals, other protocols, and an answer that comes twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.errors import TilewrightError
from tilewright.runners.serial_line.board_link import BoardLink, BoardReset
from tilewright.runners.serial_line.frames import FrameReader, encoded


class Answering:
    """A line whose other end answers each question with what `answer` makes of it: status, session, data."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self.answer, self.reader, self.waiting = answer, FrameReader(), b""

    def write(self, content: bytes) -> None:
        for question in self.reader.feed(content):
            head = bytes([question[0] | 0x80, question[1]])
            self.waiting += encoded(head + self.answer(question)) * 2

    def read(self, seconds: float) -> bytes:
        del seconds
        came, self.waiting = self.waiting, b""
        return came

    def close(self) -> None:
        self.waiting = b""


def link(answer: Callable[[bytes], bytes]) -> BoardLink:
    return BoardLink(Answering(answer), ask_seconds=0.01)


def test_answers_to_other_questions_are_left_out() -> None:
    counts = iter([7, 8])
    asked = link(lambda _question: b"\0\0\0" + next(counts).to_bytes(4, "little"))
    assert asked.run(by_steps=False, seconds=1) == 7
    assert asked.run(by_steps=False, seconds=1) == 8
    assert asked.asked_again == 0


@pytest.mark.parametrize(
    ("answer", "words"), [(b"\2\0\0", "does not take"), (b"\3\0\0\xff", "returned -1"), (b"\3\0\0", "does not take")]
)
def test_a_refusal_says_why(answer: bytes, words: str) -> None:
    with pytest.raises(TilewrightError, match=words) as refused:
        link(lambda _question: answer).outputs(1)
    assert refused.value.code == "TW7135"


@pytest.mark.parametrize("said", [b"", b"\2" + bytes(24)])
def test_another_protocol_is_refused(said: bytes) -> None:
    with pytest.raises(TilewrightError) as refused:
        link(lambda _question: b"\0\0\0" + said).hello()
    assert refused.value.code == "TW7133"


def test_a_lost_session_is_noticed() -> None:
    sessions = iter([b"\0\5\0", b"\0\5\0", b"\0\6\0"])
    asked = link(lambda _question: next(sessions))
    asked.begin(5)
    asked.write(b"1")
    with pytest.raises(BoardReset):
        asked.write(b"2")
    with pytest.raises(BoardReset):
        link(lambda _question: b"\1\0\0").write(b"1")
