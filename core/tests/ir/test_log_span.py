"""What is told to the log, and that it costs nothing while nobody listens."""

from __future__ import annotations

import logging

import pytest

from tilewright.ir.log_span import BEGINNING, DEBUG, INFO, LOG, log_begin, log_span, with_log_span


@with_log_span(INFO, "the answer")
def answer(number: int, *, more: int = 0) -> int:
    """A number."""
    return number + more


def test_what_begins_and_what_it_took_are_told_to_who_listens(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(BEGINNING, LOG.name):
        with log_span(DEBUG, "part %d of %d", 1, 2):
            log_begin("step %s", "a")
        assert answer(1, more=2) == 3
    texts = [(one.levelno, one.getMessage()) for one in caplog.records]
    assert texts[:2] == [(BEGINNING, "part 1 of 2"), (BEGINNING, "step a")]
    assert texts[2][0] == DEBUG and texts[2][1].endswith(" s  part 1 of 2")
    assert texts[4][0] == INFO and texts[4][1].endswith(" s  the answer")


def test_nothing_is_told_by_default(caplog: pytest.LogCaptureFixture) -> None:
    assert answer(1) == 1
    assert caplog.records == []


def test_what_fails_is_told_by_its_error_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOG.name), pytest.raises(ZeroDivisionError), log_span(INFO, "breaks"):
        raise ZeroDivisionError
    assert caplog.records == []


def test_a_function_that_is_timed_keeps_its_name_and_text() -> None:
    assert (answer.__name__, answer.__doc__) == ("answer", "A number.")
