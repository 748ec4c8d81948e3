"""Knows whose code computes a step: its kernel, the functions in C that are called, and the package; and how an error
of a run, in which a step or a value is named, says so. Does not know what went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plugin_contract import demand_type
from tilewright.ir.programs.runner import Job, Runner, RunResult
from tilewright.ir.programs.statements import KernelCall, KernelWait
from tilewright.plugins.kinds import CORE

_NAMED = re.compile(r"(?:step|value|output) '([^']+)'")
_PASS = re.compile(r"graph pass '([^']+)'")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORDS = {"for", "if", "while", "switch", "return", "sizeof"}
_FAILED = "TW7003"  # the program failed, and the runner knows no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Who computes a step."""

    step: str
    kernel: str
    package: str  # name and version
    functions: tuple[str, ...]

    def __str__(self) -> str:
        called = f", in C {', '.join(self.functions)}" if self.functions else ""
        return f"step '{self.step}' is computed by kernel '{self.kernel}' of {self.package}{called}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassBlame:
    """Whose graph pass it is."""

    name: str
    package: str

    def __str__(self) -> str:
        return f"graph pass '{self.name}' is of {self.package}"


def blame(deployment: Deployment, step: str) -> Blame | None:
    """Who computes the step of that name; None where none is called so."""
    binding = deployment.bound.bindings.get(step)
    if binding is None:
        return None
    return Blame(
        step=step,
        kernel=binding.kernel.name,
        package=_owner(deployment, "kernel", binding.kernel.name),
        functions=tuple(dict.fromkeys(_functions(deployment, step, binding.kernel.name))),
    )


def run_on(runner: Runner, job: Job, folder: Path, deployment: Deployment) -> RunResult:
    """What the runner answers. TilewrightError of the runner, `explained`; TW8062 where it answers what it may not."""
    try:
        answer = runner.run(job, folder)
    except TilewrightError as error:
        raise explained(error, deployment, job, folder) from error
    return demand_type(answer, RunResult, f"runner '{runner.name}'", runner.run, "run")


def explained(error: TilewrightError, deployment: Deployment, job: Job, folder: Path) -> TilewrightError:
    """The error of a run, with what the program has left in `folder` about it, and with who computes the steps and
    values that it names: package, kernel and functions in C.
    """
    from tilewright.runners.harness import make_harness
    from tilewright.runners.write_guard import running_step, trespass

    if error.code == _FAILED:
        result = trespass(job, make_harness(job).areas, folder)
        if result is not None:
            error = result
        elif step := running_step(job, folder):
            error = replace(error, details=(f"it ended in step '{step}'", *error.details))
    return with_blame(error, deployment)


def with_blame(error: TilewrightError, deployment: Deployment) -> TilewrightError:
    """The same error, with a line for each step, step of a value and graph pass that it names."""
    text = "\n".join((error.message, error.where, *error.details))
    producers = {value: node.name for node in deployment.bound.graph.nodes for value in node.outputs}
    steps = dict.fromkeys(producers.get(name, name) for name in _NAMED.findall(text))
    found: list[Blame | PassBlame] = [each for step in steps if (each := blame(deployment, step)) is not None]
    found += [PassBlame(name=name, package=_owner(deployment, "graph_pass", name)) for name in _PASS.findall(text)]
    if not found:
        return error
    reports = tuple(dict.fromkeys(_report(each.package) for each in found))
    kept = tuple(line for line in error.fix if "report it" not in line)
    return replace(error, details=(*error.details, *map(str, found)), fix=(*kept, *reports))


def _owner(deployment: Deployment, kind: str, name: str) -> str:
    owner = deployment.registry.provenance.get((kind, name))
    return f"{owner.distribution} {owner.version}" if owner else "an unknown package"


def _report(package: str) -> str:
    """What to do about it."""
    if package.split(" ", maxsplit=1)[0] == CORE:
        return "report it, with the model"
    return f"report it to the author of {package}, with the model, unless the package is yours"


def _functions(deployment: Deployment, step: str, kernel: str) -> Iterator[str]:
    """The functions that the generated code of a step calls for its kernel."""
    for code in deployment.program.steps:
        for statement in code.statements:
            if code.step == step and isinstance(statement, (KernelCall, KernelWait)) and statement.kernel == kernel:
                yield from (name for name in _CALLED.findall(str(statement.code)) if name not in _WORDS)
