"""Knows how a judgement is told: as lines for a terminal, as JSON, and as the error where tilewright is at fault or
nothing could be decided. Does not know how it was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tilewright.comparison.judgement import AGREE, EACH, NEITHER, OURS, THEIRS, UNDECIDED, Example, Judgement, Verdict
from tilewright.errors import Exit, TilewrightError, unsupported_error
from tilewright.report.plain_text import Part, Table

_PLACES = 12  # digits of what is rounded


def judgement_parts(verdict: Verdict, other: str, sets: int) -> Iterator[Part]:
    """What parts, how far each side is from exact arithmetic, the first element, and who is right."""
    yield f"{verdict.compared} value(s) that tilewright and {other} both have, {sets} set(s)"
    for number, judgement in enumerate(verdict.judgements):
        yield ""
        yield _where(judgement, first=number == 0, equal=verdict.equal)
        if judgement.right == UNDECIDED:
            yield f"undecided: {judgement.reason}"
            continue
        yield _distances(judgement, other)
        if judgement.example:
            yield from _example(judgement, judgement.example, other)
        yield from _formula(judgement)
        yield _who(judgement, other)
    yield ""
    yield f"verdict: {_word(verdict.right, other)}"


def _where(judgement: Judgement, *, first: bool, equal: int) -> str:
    begun = ", ".join(judgement.known[:3]) + (" and others" if len(judgement.known) > 3 else "")
    place = f"the first that parts is '{judgement.value}'" if first else f"output '{judgement.value}' parts"
    before = f" ({equal} before it are equal)" if first and equal else ""
    basis = f"; computed exactly from {begun}" if begun else ""
    return (
        f"{place}, node '{judgement.node}' ({judgement.op}): {judgement.parted:,} of {judgement.elements:,} elements"
        f"{before}{basis}"
    )


def _distances(judgement: Judgement, other: str) -> Table:
    unit = "" if judgement.is_float else " step(s)"
    rows = [("side", "off exact arithmetic", "of those that part", "largest difference")]
    for name, side in (("tilewright", judgement.ours), (other, judgement.theirs)):
        rows.append((name, f"{side.off:,}", f"{side.off_where_parted:,}", f"{side.largest:g}{unit}"))
    return Table(rows=rows, right=(1, 2, 3))


def _example(judgement: Judgement, example: Example, other: str) -> Iterator[str]:
    """The first element that parts."""
    place = f"set {example.set}, [{', '.join(map(str, example.index))}]"
    yield f"first element: {place}: tilewright {example.ours:g}, {other} {example.theirs:g}, exact {example.exact:.9g}"
    if example.before is not None and example.from_tie is not None:
        tie = (
            "a tie, exactly half-way between two steps: it goes to the even one"
            if example.tie
            else f"no tie, {example.from_tie:.3g} of a step from half-way"
        )
        yield f"before it is rounded it is {example.before:.{_PLACES}g} steps from the zero point: {tie}"
    if judgement.ties:
        yield f"{judgement.ties:,} of the elements that part are ties"


def _formula(judgement: Judgement) -> Iterator[str]:
    """Where tilewright keeps its formula and is off all the same, both are named."""
    if not judgement.ours.off or judgement.is_float:
        return
    if judgement.by_formula and not judgement.faulty:
        yield (
            f"by its documented formula {judgement.op} gives what tilewright has (the page on numbers): that and exact "
            f"arithmetic over the stored scales differ at {judgement.ours.off:,} of {judgement.elements:,} elements, "
            f"by {judgement.ours.largest:g} step(s) at most"
        )
    elif not judgement.by_formula:
        yield f"{judgement.op} is computed with floats by tilewright: float32 rounds before a step is chosen"


def _who(judgement: Judgement, other: str) -> str:
    parted, off = judgement.parted, (judgement.ours.off_where_parted, judgement.theirs.off_where_parted)
    if judgement.right == EACH:
        return (
            f"of the {parted:,} elements that part tilewright is right at {parted - off[0]:,}, {other} at "
            f"{parted - off[1]:,}, neither at {judgement.neither:,}"
        )
    return f"here {_word(judgement.right, other)}"


def _word(right: str, other: str) -> str:
    return {
        OURS: f"tilewright is right, {other} is off",
        THEIRS: f"{other} is right, tilewright is off",
        EACH: "each side is right in places",
        NEITHER: "neither side is right",
        UNDECIDED: "undecided",
        AGREE: "both sides agree",
    }[right]


def judgement_data(verdict: Verdict, other: str, sets: int) -> dict[str, Any]:
    """The same with every number."""
    return {
        "right": other if verdict.right == THEIRS else verdict.right,
        "verdict": _word(verdict.right, other),
        "against": other,
        "sets": sets,
        "compared": verdict.compared,
        "equal_before": verdict.equal,
        "judgements": [
            {**asdict(each), "right": other if each.right == THEIRS else each.right} for each in verdict.judgements
        ],
    }


def demand_no_fault(verdict: Verdict) -> None:
    """TW6005 (exit 6) where tilewright is further off than a rounding takes it; TW6006 (exit 4) where nothing that
    parts could be decided.
    """
    for judgement in verdict.judgements:
        where = f"node '{judgement.node}' ({judgement.op})"
        if judgement.faulty:
            raise TilewrightError(
                "TW6005",
                f"tilewright is off by {judgement.ours.largest:g} where one rounding allows one step, or a float its "
                "tolerance",
                where=where,
                details=(f"value '{judgement.value}': {judgement.ours.off:,} of {judgement.elements:,} elements",),
                fix=("report it, with the model and the inputs",),
                exit_code=Exit.MISMATCH,
            )
    if verdict.right == UNDECIDED:
        judgement = verdict.judgements[-1]
        raise unsupported_error(
            "TW6006",
            "it cannot be decided who is right",
            where=f"node '{judgement.node}' ({judgement.op})",
            details=(judgement.reason,),
            fix=("give values of nodes before it, too: setK/out/TENSOR in the file, or compare with a runtime",),
        )
