"""Knows how a verdict is told: as lines for a terminal, and as the error of what failed.
Does not know how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilewright.errors import Exit, TilewrightError
from tilewright.report.table import Part, Table, plain
from tilewright.validate.comparison import Drift, Verdict


def verdict_text(verdict: Verdict) -> str:
    """Every output, how many steps are exact, what graph passes moved, and `PASS` or `FAIL`."""
    return plain(verdict_parts(verdict))


def verdict_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The same, where the table of outputs is still one."""
    return (_outputs(verdict), *_steps(verdict), *_drifted(verdict), "PASS" if verdict.passed else "FAIL")


def _outputs(verdict: Verdict) -> Table:
    rows = [("output", "elements", "different", "largest difference", "allowed", "argmax")]
    for item in verdict.outputs:
        argmax = "same" if item.argmax_equal else "differs"
        numbers = (f"{item.elements:,}", f"{item.different:,}", f"{item.max_difference:g}", f"{item.allowed:g}")
        rows.append((item.name, *numbers, argmax))
    return Table(rows=rows, right=(1, 2, 3, 4))


def _steps(verdict: Verdict) -> Iterator[str]:
    exact = sum(step.bit_equal for step in verdict.steps)
    yield f"{exact} of {len(verdict.steps)} steps are exact{_nearly(verdict)}{_inside(len(verdict.inner))}"


def _drifted(verdict: Verdict) -> Iterator[str]:
    """How far graph passes have moved each output, if they have."""
    for name, moved, share in ((one.verdict.name, one.verdict, one.share) for one in verdict.drift):
        if moved.different:
            yield (
                f"graph passes moved {moved.different:,} of {moved.elements:,} elements of '{name}', by "
                f"{moved.max_difference:g} at most ({100 * share:.2g} % of its spread)"
            )


def _nearly(verdict: Verdict) -> str:
    """What is said of steps on floats that are right and not bit-equal, and how far they are from being wrong."""
    near = [step for step in verdict.steps if step.exact and not step.bit_equal]
    if not near:
        return ""
    most = 100 * max(step.of_allowed for step in near)
    return f", {len(near)} inside the error model of floats (at most {most:.0f} % of what it allows)"


def _inside(count: int) -> str:
    """What is said of steps that nobody can see alone."""
    return f", and by them {count} more inside groups, whose values never exist whole" if count else ""


def mismatch(verdict: Verdict, guilty: Callable[[], str]) -> TilewrightError:
    """TW6002 (exit 6): the first step that is wrong, or else the first output; TW6003 where only graph passes are."""
    wrong = [step for step in verdict.steps if not step.exact]
    if not wrong and (far := [one for one in verdict.drift if not one.within]):
        return _too_far(far[0], guilty())
    if wrong:
        where = f"step '{wrong[0].name}' ({wrong[0].op})"
        reason = f"{wrong[0].different:,} elements differ, by {wrong[0].max_difference:g} at most"
        fix = "report it, with the model: every step must equal its reference"
    else:
        output = next(item for item in verdict.outputs if not item.within)
        where = f"output '{output.name}'"
        reason = f"{output.different:,} of {output.elements:,} elements differ, by {output.max_difference:g} at most"
        fix = "compare the vectors: every step equals its reference, so these come from another model or runtime"
    return TilewrightError(
        "TW6002",
        f"validation failed: {len(wrong)} of {len(verdict.steps)} steps differ from the reference",
        where=where,
        details=(reason,),
        fix=(fix,),
        exit_code=Exit.MISMATCH,
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
