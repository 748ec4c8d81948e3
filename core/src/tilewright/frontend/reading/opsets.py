"""Knows which version of each operator set a file means, also where it names none or two.
Does not know how nodes are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tilewright.errors import Diagnostic, TilewrightError, model_error
from tilewright.frontend.reading.names import show

OLDEST_OPSET = 1
_SAYS_OPSETS = 3  # first ir_version whose files say which operator sets they use


def opsets_of_model(proto: Any) -> Mapping[str, int]:
    """Domain -> version. Files from before there were operator sets mean the first.

    TW1204 where nothing is said, where two versions are and a node differs between them, or for one not known.
    """
    if proto.opset_import:
        return opsets_of(proto.opset_import, proto.graph.node, "")
    if 0 < proto.ir_version < _SAYS_OPSETS:
        return {"": OLDEST_OPSET}
    raise _opset_error("does not say which operator sets it uses (opset_import is missing)", "")


def opsets_of(entries: Any, nodes: Any, where: str) -> Mapping[str, int]:
    """Domain -> version, for the entries and the nodes of a model or a local function."""
    versions_of: dict[str, set[int]] = {}
    for entry in entries:
        versions_of.setdefault(own_domain(entry.domain), set()).add(entry.version)
    newest = newest_opset()
    for version in versions_of.get("", ()):
        if not OLDEST_OPSET <= version <= newest:
            raise _opset_error(f"uses opset {version}; tilewright reads {OLDEST_OPSET} to {newest}", where)
    for domain, versions in versions_of.items():
        if len(versions) > 1 and not _are_one(domain, versions, nodes):
            raise _opset_error(f"imports operator set {show(domain)} in two versions, and they differ", where)
    return {domain: max(versions) for domain, versions in versions_of.items()}


def own_domain(domain: str) -> str:
    """The one name of a domain: ONNX's own has two."""
    return "" if domain == "ai.onnx" else domain


def newest_opset() -> int:
    """The newest version of domain ai.onnx that the installed onnx knows."""
    import onnx.defs

    return onnx.defs.onnx_opset_version()


def newer_form(ir_version: int) -> tuple[Diagnostic, ...]:
    """One warning where the form of the file is newer than the installed onnx, so that something may be overlooked."""
    import onnx

    if ir_version <= onnx.IR_VERSION:
        return ()
    return (
        Diagnostic(
            code="TW1224",
            severity="warning",
            message=f"the file is of ir_version {ir_version}; the installed onnx knows {onnx.IR_VERSION}",
            fix=("upgrade the package onnx",),
        ),
    )


def _are_one(domain: str, versions: Collection[int], nodes: Any) -> bool:
    """Whether every node of a domain has one definition in all of the versions."""
    used = {node.op_type for node in _walk(nodes) if own_domain(node.domain) == domain}
    return all(len({_since(op_type, version, domain) for version in versions}) == 1 for op_type in used)


def _since(op_type: str, version: int, domain: str) -> int:
    """The version that defined the operator; another number for each `version` where onnx has no definition."""
    import onnx.defs

    try:
        return onnx.defs.get_schema(op_type, version, domain).since_version
    except onnx.defs.SchemaError:
        return -version


def _walk(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _walk(graph.node)


def _opset_error(reason: str, where: str) -> TilewrightError:
    return model_error(
        "TW1204",
        f"the model {reason}",
        where=where,
        fix=("export with opset 17 (torch.onnx.export(..., opset_version=17))", "or upgrade the package onnx"),
    )
