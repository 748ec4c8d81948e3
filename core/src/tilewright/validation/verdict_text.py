"""Knows how a verdict is told: as lines for a terminal, and as the error of what failed.
Does not know how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tilewright.comparison.moves import move_lines
from tilewright.comparison.outputs import ROUNDED_SHARE
from tilewright.comparison.verdicts import LARGEST, Drift, OutputVerdict, Verdict
from tilewright.errors import Exit, TilewrightError
from tilewright.report.plain_text import Part, Table, plain

_FLOATS = "a share of its size, of the usual size in the output, or of 1, whichever is largest"
_INTEGERS = "one step of up to 16 bits, none of wider integers and booleans"


def verdict_text(verdict: Verdict) -> str:
    """Every output, how many steps are right, how close outputs are, what graph passes moved, and `PASS` or `FAIL`."""
    return plain(verdict_parts(verdict))


def verdict_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The same, where the table of outputs is still one."""
    return (
        _outputs(verdict),
        *_steps(verdict),
        *_compared(verdict),
        *_drifted(verdict),
        *move_lines(verdict.moves),
        *_windows(verdict),
        "PASS" if verdict.passed else "FAIL",
    )


def _outputs(verdict: Verdict) -> Table:
    is_given = any(item.given for item in verdict.outputs)
    rows = [("output", "elements", "different", "largest difference", "allowed" if is_given else "bound", "argmax")]
    for item in verdict.outputs:
        argmax = "same" if item.argmax_equal else "differs"
        limit = item.allowed if is_given else item.bound
        most = "-" if limit is None else f"{limit:.3g}"
        rows.append((item.name, f"{item.elements:,}", f"{item.different:,}", _largest_difference(item), most, argmax))
    return Table(rows=rows, right=(1, 2, 3, 4))


def _steps(verdict: Verdict) -> Iterator[str]:
    """How many steps are right: bit-equal or inside the error model of floats, and how far they are from its edge."""
    right = [step for step in verdict.steps if step.exact]
    rounded = [step for step in right if not step.bit_equal]
    text = f"{len(right)} of {len(verdict.steps)} steps are {'right' if rounded else 'exact'}"
    if rounded:
        most = 100 * max(step.of_allowed for step in rounded)
        inside = f"{len(rounded)} inside the error model of floats (at most {most:.0f} % of what it allows)"
        text += f": {len(right) - len(rounded)} exact, {inside}"
    if verdict.inner:
        text += f", and by them {len(verdict.inner)} more inside groups, whose values never exist whole"
    yield text


def _compared(verdict: Verdict) -> Iterator[str]:
    """What outputs are, integers and floats, beside the reference and beside expected values that were given."""
    parts = []
    for is_given, whom in ((False, "the reference"), (True, "the expected values")):
        for is_float, kind in ((False, "integer"), (True, "float")):
            group = [output for output in verdict.outputs if (output.given, output.is_float) == (is_given, is_float)]
            if group:
                parts.append(f"{kind} outputs {_closeness(group, whom)}")
    if parts:
        yield "; ".join(parts)


def _closeness(outputs: Sequence[OutputVerdict], whom: str) -> str:
    if not any(output.different for output in outputs):
        return f"identical to {whom}"
    worst = max(outputs, key=lambda output: output.max_difference)
    if worst.max_difference == LARGEST:
        return f"have infinities or NaN where {whom} {'have' if worst.given else 'has'} none, or the other way round"
    if not all(output.within for output in outputs):
        return f"as far as {worst.max_difference:g} from {whom}"
    spread = ""
    if most := max(output.share for output in outputs):
        spread = f" ({100 * most:.2g} % of the spread; up to {100 * ROUNDED_SHARE:g} % is right where a model rounds)"
    return f"within {worst.max_difference:g} of {whom}{spread if worst.max_difference > (worst.allowed or 0) else ''}"


def _by(output: OutputVerdict) -> str:
    if output.max_difference == LARGEST:
        return "and infinities or NaN stand in other places"
    return (
        f"by {output.max_difference:g} at most and {100 * output.share:.2g} % of the spread; where furthest out, "
        f"{output.allowed:g} is allowed: {_FLOATS if output.is_float else _INTEGERS}"
    )


def _largest_difference(output: OutputVerdict) -> str:
    return "inf or NaN" if output.max_difference == LARGEST else f"{output.max_difference:g}"


def _drifted(verdict: Verdict) -> Iterator[str]:
    """How far graph passes have moved each output, if they have."""
    for drift in verdict.drift:
        moved = drift.verdict
        if moved.different:
            yield (
                f"graph passes moved {moved.different:,} of {moved.elements:,} elements of '{moved.name}', by "
                f"{moved.max_difference:g} at most ({100 * drift.share:.2g} % of its spread)"
            )


def _windows(verdict: Verdict) -> Iterator[str]:
    """How close all values of a stream, states as well, are to the whole network's on every window."""
    different = [window for window in verdict.windows if window.different]
    if verdict.windows and all(window.within for window in verdict.windows):
        most = max((window.max_difference for window in different), default=0.0)
        said = f"within {most:g} of" if different else "identical to"
        yield f"all {len(verdict.windows)} values of the stream are {said} those of the whole network on every window"
    if verdict.unseen:
        yield f"of the first {verdict.unseen:,} calls that is what they hand out; the others are judged by steps, too"


def mismatch(verdict: Verdict, faulty_pass: Callable[[], str]) -> TilewrightError:
    """TW6003 (exit 6) where graph passes are wrong. Else TW6002: the first step that is outside its error model, or the
    first output that is not what its step wrote, or else the first that is too far from expected values.
    """
    wrong = [step for step in verdict.steps if not step.exact]
    if wrong:
        return _failed(
            f"{len(wrong)} of {len(verdict.steps)} steps differ from the reference",
            f"step '{wrong[0].name}' ({wrong[0].op})",
            f"{wrong[0].different:,} elements differ, by {wrong[0].max_difference:g} at most",
            fix=("report it, with the model: every step must equal its reference",),
        )
    if rewritten := [output for output in verdict.outputs if not output.as_written]:
        return _failed(
            "the program hands out something else than it computed",
            f"output '{rewritten[0].name}'",
            "every step is right, and this is not what the last one wrote",
            fix=("report it, with the model and the target",),
        )
    if drifted := [drift for drift in verdict.drift if not drift.within]:
        return _too_far(drifted[0], faulty_pass())
    if streams := [window for window in verdict.windows if not window.within]:
        return _failed(
            "the stream gives something else than the whole network does on the same windows",
            f"value '{streams[0].name}'",
            f"{streams[0].different:,} of {streams[0].elements:,} elements differ, "
            f"by {streams[0].max_difference:g} at most",
            fix=("report it, with the model and the flag --slide",),
        )
    output = next(item for item in verdict.outputs if not item.within)
    return _failed(
        "the expected values that were given are others",
        f"output '{output.name}'",
        f"{output.different:,} of {output.elements:,} elements differ, {_by(output)}",
        "every step is right: the program computes what the file says, on these inputs",
        fix=(
            "see that they come from this very file and these inputs: no other version, preprocessing or order of axes",
            "leave them out and ask another runtime, node by node: --against onnxruntime",
        ),
    )


def _failed(what: str, where: str, *details: str, fix: Sequence[str]) -> TilewrightError:
    return TilewrightError(
        "TW6002", f"validation failed: {what}", where=where, details=details, fix=tuple(fix), exit_code=Exit.MISMATCH
    )


def _too_far(drift: Drift, graph_pass: str) -> TilewrightError:
    verdict = drift.verdict
    return TilewrightError(
        "TW6003",
        "the graph that is compiled does not compute what the model does",
        where=f"graph pass '{graph_pass}'" if graph_pass else "after the graph passes",
        details=(
            f"output '{verdict.name}': {verdict.different:,} of {verdict.elements:,} elements differ, by "
            f"{verdict.max_difference:g} at most, {100 * drift.share:.3g} % of its spread",
        ),
        fix=("tilewright plugins list     says whose pass that is: report it there, with the model",),
        exit_code=Exit.MISMATCH,
    )
