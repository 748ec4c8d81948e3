"""Run by the tests in a process of its own: does what each argument says, prints all answers as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tilewright.errors import TilewrightError
from tilewright.plugins import discover, examine_all, list_all, load_for, load_named
from tilewright.plugins.offers import StageEvent
from tilewright.plugins.registry import Registry


def _line(text: str) -> str:
    """One line, wherever a terminal's width broke it."""
    return " ".join(text.split())


def _registry(registry: Registry) -> dict[str, Any]:
    return {
        "warnings": [_line(diagnostic.render()) for diagnostic in registry.diagnostics],
        "platforms": list(registry.platforms),
        "kernels": list(registry.kernels),
        "graph_passes": list(registry.graph_passes),
        "order": [list(key) for key in registry.provenance],
        "who": {f"{kind} {name}": who.distribution for (kind, name), who in registry.provenance.items()},
    }


def _fix(module: str) -> dict[str, Any]:
    """Repair a plugin on disk while the process runs."""
    (name, _, folder) = module.partition("@")
    with open(f"{folder}/{name}.py", encoding="utf-8") as file:
        text = file.read()
    with open(f"{folder}/{name}.py", "w", encoding="utf-8") as file:
        file.write(text.replace("import nothing_of_this_name", ""))
    return {}


def _observe(target: str) -> dict[str, Any]:
    registry = load_for(target=target)
    event = StageEvent(stage="bind", value=None)
    return {"warnings": [_line(item.render()) for item in registry.stage_finished(event)], **_heard()}


def _heard() -> dict[str, Any]:
    return {"heard": getattr(sys.modules.get("listener"), "HEARD", None)}


ACTIONS: dict[str, Callable[[str], Any]] = {
    "compile": lambda target: _registry(load_for(target=target)),
    "allocator": lambda name: _registry(load_for(target="healthy", allocator=name)),
    "named": lambda what: _registry(load_named(tuple(what.split(".", 1)))),
    "names": lambda kind: discover().names(kind),
    "list": lambda _: [asdict(report) for report in list_all()],
    "doctor": lambda _: [asdict(report) for report in examine_all()],
    "imported": lambda name: [module for module in sorted(sys.modules) if module.startswith(name)],
    "fix": _fix,
    "observe": _observe,
}


def _answer(action: str) -> dict[str, Any]:
    verb, _, what = action.partition(":")
    try:
        return {"answer": ACTIONS[verb](what)}
    except TilewrightError as error:
        return {"error": _line(str(error)), "exit": int(error.exit_code), "code": error.code}


if __name__ == "__main__":
    sys.stdout.write(json.dumps([_answer(action) for action in sys.argv[1:]]))
