"""Knows `--bind`: inputs that are constants, because the application would always give the same.
Does not know what follows from them: folding and branches are the walk's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Tensor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_WORDS = {"true": 1, "false": 0}


def bound_values(inputs: Sequence[Tensor], given: Mapping[str, str]) -> dict[str, Array]:
    """The inputs that are bound: a number, which every element gets, or the array of a file NAME.npy.

    TilewrightError TW1226 (exit 2) for a name that is no input, and for a value that does not fit.
    """
    known = {tensor.name: tensor for tensor in inputs}
    for name, text in given.items():
        if name not in known:
            raise usage_error(
                "TW1226",
                f"--bind {name}={text} names no input of the model",
                details=(*did_you_mean(name, known), f"it has: {', '.join(known)}"),
                fix=("remove or correct that --bind",),
            )
    return {name: _value(known[name], text) for name, text in given.items()}


def _value(tensor: Tensor, text: str) -> Array:
    if text.endswith(".npy"):
        return _from_file(tensor, text)
    import numpy as np

    try:
        number = _WORDS.get(text) if text in _WORDS else float(text) if tensor.dtype.is_float else int(text)
        return np.full(tensor.shape, number, tensor.dtype.numpy)
    except (ValueError, OverflowError):
        raise _misfit(tensor, text, f"'{text}' is no {tensor.dtype.value}") from None


def _from_file(tensor: Tensor, text: str) -> Array:
    import numpy as np

    try:
        array = np.load(Path(text), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _misfit(tensor, text, f"{text} cannot be read: {error}") from None
    if array.dtype != tensor.dtype.numpy or array.size != tensor.elements:
        raise _misfit(tensor, text, f"{text} holds {array.dtype}{list(array.shape)}")
    return np.asarray(array.reshape(tensor.shape))


def _misfit(tensor: Tensor, text: str, reason: str) -> TilewrightError:
    return usage_error(
        "TW1226",
        f"--bind {tensor.name}={text} does not fit the input",
        details=(reason, f"'{tensor.name}' is {tensor.dtype.value}{list(tensor.shape)}"),
        fix=(typed("--bind", f"{tensor.name}=1", gives="a number for every element, or a file .npy"),),
    )
