"""Knows the `transform` stage: which passes run, in which order, and that the plan survives each of them.
Does not know any pass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from tilewright.errors import plugin_error, typed, usage_error
from tilewright.ir.log_span import DEBUG, INFO, log_span, with_log_span
from tilewright.ir.plugin_contract import demand_type
from tilewright.ir.programs.program import CodePass, CodePassContext, Program
from tilewright.transform.shared_steps import shared_steps

_NOBODY: Mapping[str, str] = MappingProxyType({})


@with_log_span(INFO, "transform: code passes")
def transform(
    program: Program,
    passes: Sequence[CodePass],
    wanted: Collection[str] = (),
    settings: Mapping[str, Mapping[str, str]] | None = None,
    owners: Mapping[str, str] = _NOBODY,
) -> Program:
    """Apply the default ones of `passes`, and those named in `wanted`, in the order of `in_order`; then steps that are
    the same code share one function.

    `settings` is by pass name, and so is `owners`: the package of each, with its version. Raises TilewrightError TW8030
    (exit 8) naming the pass that broke the memory map,
    TW8031 for demands that form a circle, and what `demand_known` raises.
    """
    settings = settings or {}
    demand_known(wanted, passes, settings)
    for code_pass in in_order([code_pass for code_pass in passes if code_pass.default or code_pass.name in wanted]):
        with log_span(DEBUG, "code pass '%s'", code_pass.name):
            changed = code_pass.apply(program, CodePassContext(settings=settings.get(code_pass.name, {})))
        demand_type(changed, Program, f"code pass '{code_pass.name}'", code_pass.apply, "apply")
        _check(program, changed, code_pass, owners.get(code_pass.name, ""))
        program = replace(changed, passes=(*program.passes, code_pass.name))
    return shared_steps(program)


def demand_known(
    wanted: Collection[str], passes: Sequence[CodePass], settings: Mapping[str, Mapping[str, str]]
) -> None:
    """TilewrightError (exit 2): TW1111 for a pass that is not there, TW1112 for a setting that it does not take."""
    known = {code_pass.name: code_pass for code_pass in passes}
    for name in wanted:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            raise usage_error(
                "TW1111",
                f"there is no code pass '{name}'",
                details=(f"there are {', '.join(sorted(known))}",),
                fix=(typed("--code-pass", near[0]) if near else typed("tilewright", "plugins", "list"),),
            )
        taken = known[name].settings
        if taken is None:
            continue
        for setting in settings.get(name, ()):
            if setting not in taken:
                raise usage_error(
                    "TW1112",
                    f"code pass '{name}' has no setting '{setting}'",
                    details=(f"it has {', '.join(taken) or 'none'}",),
                    fix=(typed("--code-pass", name),),
                )


def in_order(passes: Sequence[CodePass]) -> tuple[CodePass, ...]:
    """The passes sorted by their demands, then by name. A demand on a pass that is not among them is no demand."""
    by_name = {code_pass.name: code_pass for code_pass in passes}
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(sorted(by_name), ()))
    for code_pass in sorted(passes, key=lambda code_pass: code_pass.name):
        sorter.add(code_pass.name, *(name for name in code_pass.after if name in by_name))
        for name in code_pass.before:
            if name in by_name:
                sorter.add(name, code_pass.name)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise plugin_error("TW8031", f"code passes demand to run before each other: {circle}") from error
    ordered: list[CodePass] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered.extend(by_name[name] for name in ready)
        sorter.done(*ready)
    return tuple(ordered)


def _check(before: Program, after: Program, applied: CodePass, owner: str) -> None:
    fixed = ("allocated", "prefix", "inputs", "outputs", "pools", "constants", "state_bytes")
    changed = [name for name in fixed if getattr(before, name) != getattr(after, name)]
    reason = f"it changed {', '.join(changed)}, which a code pass may not" if changed else _problem(after)
    if reason:
        whose = f" of {owner}" if owner else ""
        raise plugin_error("TW8030", f"code pass '{applied.name}'{whose} broke the program: {reason}")


def _problem(program: Program) -> str:
    try:
        program.verify()
    except ValueError as error:
        return str(error)
    return ""
