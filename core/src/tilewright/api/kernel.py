"""For authors of kernels.

C that computes an operator on one tile, what tilewright must know to call it, and what helps to write it: windows of
convolutions, loops around a function in C, exact arithmetic on integers.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.free_proof import UnitProof
from tilewright.arithmetic.requant_form import ChannelRange, RequantForm
from tilewright.arithmetic.scaled_sum import SumForm
from tilewright.arithmetic.shift_unit import ShiftUnit
from tilewright.c_text.fragment_files import fragment_file, template_file
from tilewright.c_text.literals import c_element
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import (
    Call,
    CodeFragments,
    Finish,
    Kernel,
    Matched,
    Operand,
    OperandPlace,
    PartialSums,
    PlacedTile,
    Sharing,
    TileShape,
)
from tilewright.ir.tensors.stored_form import Groups, Rows, Stored, StoredValue
from tilewright.operators.c_code.c_source import c_functions
from tilewright.operators.c_code.walk import Nest, Walk, broadcast_steps, elementwise_walk, nest, walk
from tilewright.operators.quantised.integer_layers import (
    centred_weights,
    refused_products,
    refused_softmax,
    scaled_sum_form,
    softmax_table,
    sum_bounds,
    sum_requant,
    zero_points,
)
from tilewright.operators.shared.matrices import gemm_access, matmul_access, pack_gemm, pack_matmul
from tilewright.operators.shared.packed_weights import pack_rows, weight_bits
from tilewright.operators.shared.windows import Windows, image_fields, tap_fields, windows_of

__all__ = [
    "AccumulatorBounds",
    "Call",
    "ChannelRange",
    "CodeFragment",
    "CodeFragments",
    "Finish",
    "FragmentTemplate",
    "Groups",
    "Kernel",
    "Matched",
    "Nest",
    "Operand",
    "OperandPlace",
    "PartialSums",
    "PlacedTile",
    "RequantForm",
    "Rows",
    "Sharing",
    "ShiftUnit",
    "Stored",
    "StoredValue",
    "SumForm",
    "TileShape",
    "UnitProof",
    "Walk",
    "Windows",
    "broadcast_steps",
    "c_element",
    "c_functions",
    "centred_weights",
    "elementwise_walk",
    "fragment_file",
    "gemm_access",
    "image_fields",
    "matmul_access",
    "nest",
    "pack_gemm",
    "pack_matmul",
    "pack_rows",
    "refused_products",
    "refused_softmax",
    "scaled_sum_form",
    "softmax_table",
    "sum_bounds",
    "sum_requant",
    "tap_fields",
    "template_file",
    "walk",
    "weight_bits",
    "windows_of",
    "zero_points",
]
