"""Makes the page of ONNX operators from the tables that the front end checks nodes with: imports, schemas and rules."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.frontend.load import import_table
from tilewright.frontend.schemas import Parameter, rules_of, schema_of
from tilewright.ir.graphs.importing import Import
from tilewright.plugins import load_for
from tilewright.plugins.kinds import CORE

TARGET = "generic"
HELD = ("float", "double", *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")), "bool")
ABOUT = """# ONNX operators

Every signature that is read: valid from its version on, until the next of the operator. A node is held against what
onnx says of its version (inputs, types, attributes that must be there) and against the rules of the last column before
anything else is done with it; what contradicts them is an error in the model (exit code 3). What keeps them and is
still not supported is refused with a reason (exit code 4): an attribute in brackets, a type that no kernel of the
target computes, or a parameter that is not known at compile time. `tilewright ops --target NAME` lists the kernels.

Attributes in bold must be there. An input with `?` may be left out, one with `...` stands for any number. Types are
those that tilewright holds, as they were in the version named: later ones may allow more. *Numbers* are all but bool.
Lines with `constant` are only taken where all inputs are known at compile time.
"""


def operator_page() -> Iterator[str]:
    """The lines of the page: what the core reads, whatever packages are installed beside it."""
    registry = load_for(target=TARGET)
    own = (name for name in registry.operators if registry.provenance["operator", name].distribution == CORE)
    table = import_table({name: registry.operators[name] for name in own})
    yield ABOUT
    yield from ("| signature | inputs | attributes | what must hold |", "|---|---|---|---|")
    rows = {key: (group, "") for key, group in table.by_type.items()}
    rows |= {key: (group, " constant") for key, group in table.constant_only.items() if key not in table.by_type}
    for (domain, op_type), (group, note) in sorted(rows.items()):
        for each in group:
            yield _row(f"{domain + '.' if domain else ''}{op_type}-{each.since}{note}", each)
    yield ""


def _row(title: str, each: Import) -> str:
    schema = schema_of(each.op_type, each.since, each.domain)
    attributes = sorted(each.attributes)
    if schema is None:
        span = f"{each.min_inputs}" if each.min_inputs == each.max_inputs else f"{each.min_inputs} to {each.max_inputs}"
        return f"| {title} | {span} inputs | {', '.join(attributes)} | |"
    refused = [f"({name})" for name in sorted(schema.attributes) if name not in attributes]
    shown = [f"**{name}**" if name in schema.required else name for name in attributes]
    inputs = [_input(declared) for declared in schema.inputs[: each.max_inputs]]
    known = {*attributes, *(declared.name for declared in schema.inputs)}
    rules = [rule.text for rule in rules_of(each.op_type, each.since) if rule.name in known and not each.domain]
    return f"| {title} | {', '.join(inputs)} | {', '.join((*shown, *refused))} | {', '.join(rules)} |"


def _input(kind: Parameter) -> str:
    return f"{kind.name}{'?' if kind.optional else '...' if kind.variadic else ''}: {_types(kind.types)}"


def _types(types: frozenset[str]) -> str:
    held = [name for name in HELD if name in types]
    if len(held) == len(HELD):
        return "any"
    return "numbers" if set(HELD) - set(held) == {"bool"} else " ".join(held) or "none"
