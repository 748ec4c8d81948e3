"""Knows which nodes compute element by element, so that they do the same on values in any form, and such a node in a
form: what its padding becomes, and how its constants are stored. Does not know when that pays (`stored_choice`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError
from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_attributes, stored_tensor
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.stored_form import Form, Groups, Stored, StoredValue

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elementwise:
    """A node in a form: its site, whose constants have names of their own, and how its output is stored."""

    site: Site
    output: Stored


def is_elementwise(site: Site, operator: Operator) -> bool:
    """Whether each element of the only output is made of the elements at the same place, and of constants."""
    attributes = site.node.attributes.values()
    per_channel = any(isinstance(value, Requant) and len(value.scale) > 1 for value in attributes)
    if len(site.outputs) != 1 or site.node.links or per_channel or operator.inputs[-1:] == ("...",):
        return False
    if "axis" in site.node.attributes or any(isinstance(value, tuple) and len(value) > 1 for value in attributes):
        return False
    shape, computed = site.output.shape, _computed(site)
    if len(shape) < 2 or not computed or any(tensor.shape != shape for tensor in computed):
        return False
    try:
        access = operator.access(site)
    except ValueError:
        return False
    return isinstance(access, MapAccess) and _same_places(access, operator, site)


def in_form(site: Site, operator: Operator, form: Form, fills: Sequence[int | float | None]) -> Elementwise | None:
    """The node on values in `form`, whose padding is `fills`, one for each input that is no constant. None where its
    constants have no such form, or its operator takes none.
    """
    held = {name: _in_form(array, form, len(site.output.shape)) for name, array in site.constants.items()}
    constants = {_named(name, form): array for name, array in held.items() if array is not None}
    if len(constants) < len(held):
        return None
    fill = _fill(site, operator, fills)
    value = StoredValue(stored=Stored(form=form, fill=fill), shape=site.output.shape)
    attributes = {**site.node.attributes, **stored_attributes({operator.outputs[0]: value})}
    names = tuple(_named(name, form) if name else "" for name in site.node.inputs)
    inputs = tuple(None if each is None else _typed(each, form, constants) for each in site.inputs)
    output = stored_tensor(site.output, value, _named(site.output.name, form))
    node = replace(site.node, inputs=names, outputs=(output.name,), attributes=attributes)
    stored = Site(node=node, inputs=inputs, outputs=(output,), constants=constants)
    try:
        (inferred,) = operator.infer(stored)
    except (TilewrightError, ValueError):
        return None
    fits = (inferred.shape, inferred.dtype) == (output.shape, output.dtype)
    return Elementwise(site=stored, output=value.stored) if fits else None


def _computed(site: Site) -> list[Tensor]:
    return [tensor for tensor in site.inputs if tensor is not None and tensor.name not in site.constants]


def _same_places(access: MapAccess, operator: Operator, site: Site) -> bool:
    """Whether every computed input is read where the output is written, and no loop is beside those of the output."""
    (output,) = access.outputs
    axes = access.axes[output]
    loops = [bare_loop(axis) for axis in axes if axis.extent != 1]
    others = {loop.name for loop in access.loops if loop.extent != 1}.difference(loops)
    if "" in loops or len(set(loops)) != len(loops) or others:
        return False
    pairs = zip(operator.inputs, site.inputs, strict=False)
    read = [name for name, tensor in pairs if tensor is not None and tensor.name not in site.constants]
    return all([axis.index for axis in access.axes[name]] == [axis.index for axis in axes] for name in read)


def _named(name: str, form: Form) -> str:
    return f"{name}:{form.short}"


def _typed(tensor: Tensor, form: Form, constants: Mapping[str, Array]) -> Tensor:
    name = _named(tensor.name, form)
    if name in constants:
        return Tensor(name=name, dtype=tensor.dtype, shape=constants[name].shape)
    value = StoredValue(stored=Stored(form=form), shape=tensor.shape)
    return stored_tensor(tensor, value, name)


def _in_form(array: Array, form: Form, rank: int) -> Array | None:
    """A constant that is broadcast against what is stored; padding is its last element."""
    if array.size == 1:
        return array.reshape(1)
    if not isinstance(form, Groups) or array.ndim > rank:
        return None
    whole = array.reshape((1,) * (rank - array.ndim) + array.shape)
    if whole.shape[form.axis] == 1:
        return whole.reshape(*whole.shape, 1)
    return form.store(whole, whole.reshape(-1)[-1], whole.dtype.itemsize)


def _fill(site: Site, operator: Operator, fills: Sequence[int | float | None]) -> int | float | None:
    """What padding becomes, where constants are the same for all elements."""
    import numpy as np

    if None in fills or any(array.size > 1 for array in site.constants.values()):
        return None
    left = list(fills)
    ones = (1,) * len(site.output.shape)
    arrays: list[Array | None] = []
    for tensor in site.inputs:
        if tensor is None or tensor.name in site.constants:
            arrays.append(None if tensor is None else site.constants[tensor.name])
        else:
            arrays.append(np.full(ones, left.pop(0), tensor.dtype.numpy))
    inputs = tuple(
        tensor if tensor is None or tensor.name in site.constants else replace(tensor, shape=ones)
        for tensor in site.inputs
    )
    one = replace(site, inputs=inputs, outputs=(replace(site.output, shape=ones),))
    with np.errstate(all="ignore"):
        (result,) = results(operator, one, arrays)
    value = np.asarray(result).reshape(-1)[0].item()
    return value if np.isfinite(float(value)) else None
