"""Knows whether a layer that a package hands to the suite is one of its operator, and how a function of a package that
fails on a layer is named. Does not know which kernels take it.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path

from tilewright.errors import TilewrightError
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.testing.operator_sites import Sample, site_of

_WHERE = "correct it where `pytest_tilewright_layers` returns it"


def sample_fault(sample: Sample, operators: Mapping[str, Operator]) -> str:
    """Why `sample` is no layer of its operator, and what to change; empty where it is one."""
    said = f"Sample(op='{sample.op}', kind='{sample.kind}')"
    operator = operators.get(sample.op)
    if operator is None:
        chain = "; that of a chain is made where an installed kernel has it as `pattern`" if "+" in sample.op else ""
        near = "".join(f"; {line}" for line in did_you_mean(sample.op, operators))
        return f"{said}: no installed package describes operator '{sample.op}'{near}{chain}: {_WHERE}"
    reason = _misfit(sample, operator) or _failure(sample, operator)
    stated = ", ".join(map(_shown, sample.inputs))
    has = f"it has inputs ({stated}) and attributes ({', '.join(sample.attributes)})"
    return f"{said}: {reason}; {has}, {sample.op} reads {', '.join(operator.inputs)}: {_WHERE}" if reason else ""


def layer_site(sample: Sample, operators: Mapping[str, Operator]) -> Site | None:
    """The node that a sample is; None where it is none, for which `sample_fault` has the reason."""
    operator = operators.get(sample.op)
    if operator is None or _misfit(sample, operator):
        return None
    try:
        return site_of(operator, sample.inputs, sample.attributes, sample.constants)
    except Exception:  # whatever an operator of a package answers to what it does not expect
        return None


def failure_in_package(error: BaseException) -> str:
    """What was raised, and the last function of a package, not of the core, that it came through."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = traceback.extract_tb(error.__traceback__)
    places = [
        f" in {frame.f_code.co_qualname} at {'/'.join(Path(line.filename).parts[-2:])}:{line.lineno}"
        for frame, line in zip(frames, lines, strict=True)
        if str(frame.f_globals.get("__name__", "")).split(".", 1)[0] != "tilewright"
    ]
    return f"{type(error).__name__}: {error}{places[-1] if places else ''}"


def _shown(array: object) -> str:
    """Its type and shape, where it is an array."""
    import numpy as np

    return f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__


def _misfit(sample: Sample, operator: Operator) -> str:
    """Why its inputs are none of the operator, whatever they are."""
    import numpy as np

    if wrong := next((each for each in sample.inputs if not isinstance(each, (np.ndarray, type(None)))), None):
        return f"an input is a {type(wrong).__name__}, no numpy array"
    variadic = any("..." in name for name in operator.inputs)
    if operator.members and len(sample.inputs) != len(operator.inputs):
        return f"{len(sample.inputs)} inputs are given, and a chain has all {len(operator.inputs)}, None where absent"
    if whole := _reading_nothing(sample, operator):
        return f"nothing that {whole} reads is absent, and in a chain it reads what the operator before it writes"
    if not variadic and len(sample.inputs) > len(operator.inputs):
        return f"{len(sample.inputs)} inputs are given"
    if any(not 0 <= at < len(sample.inputs) for at in sample.constants):
        return f"`constants` has positions {list(sample.constants)} of {len(sample.inputs)} inputs"
    return ""


def _reading_nothing(sample: Sample, chain: Operator) -> str:
    """The operator of a chain that reads nothing of the one before it."""
    at = 0
    for position, operator in enumerate(chain.members):
        own = sample.inputs[at : at + len(operator.inputs)]
        if position and all(array is not None for array in own):
            return operator.name
        at += len(operator.inputs)
    return ""


def _failure(sample: Sample, operator: Operator) -> str:
    """What its operator finds wrong with it."""
    try:
        site = site_of(operator, sample.inputs, sample.attributes, sample.constants)
        operator.access(site)
        results(operator, site, sample.inputs)
    except TilewrightError as error:
        return error.message
    except IndexError as error:  # of `Site.input`
        return str(error)
    except KeyError as error:  # of `Node.attributes`
        return f"attribute {error} is missing"
    except Exception as error:  # as above
        return f"its operator fails on it ({failure_in_package(error)})"
    return ""
