"""A fully connected layer on the engine: int8 in, int8 out, requantised by a multiplier, an addend and a shift.

The engine is started and waited for. What a layer means is ONNX's; the kernel takes layers that the engine computes
exactly, and says of the others why not.
"""

from tilewright.api.graph import DType
from tilewright.api.kernel import Kernel, ShiftUnit, centred_weights, fragment_file, refused_products, sum_requant

UNIT = ShiftUnit(
    multiplier_bits=31,
    addend_bits=62,
    largest_shift=46,
    shift_per_channel=True,
    bits=64,
    rounding="floor",
)


def match(site):
    """The proof that every sum is requantised exactly: what `pack` stores is in it."""
    if reason := refused_products(site):
        return reason
    if {site.input(0).dtype, site.input(1).dtype, site.output.dtype} != {DType.I8}:
        return "the engine computes on i8 only"
    if len(site.input(0).shape) != 2:
        return f"A must have two axes, found {len(site.input(0).shape)}"
    if abs(centred_weights(site)).max() > 127:
        return "the engine's weights are within 127"
    proof = sum_requant(site, UNIT)
    unproved = [f"channel {channel}: {reason}" for channel, reason in enumerate(proof.reasons) if reason]
    return unproved[0] if unproved else proof


def pack(site):
    """Weights by rows of outputs; for each output its bias (with the zero point of A in it) and its requantisation."""
    import numpy as np

    weights = centred_weights(site).T  # [N, K]
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(len(weights), np.int64)
    bias = bias - site.node.integer("a_zero_point") * weights.sum(axis=1)
    proof = site.analysis
    table = np.stack([bias, proof.multipliers, proof.addends, proof.shifts], axis=1)
    return {"B": np.ascontiguousarray(weights, np.int8), "R": np.ascontiguousarray(table, np.int64)}


def values(call):
    requant = call.site.node.requant()
    return {
        "zero_point": requant.zero_point,
        "low": requant.low,
        "high": requant.high,
        "a_pitch": call.operands["A"].strides[0],
        "y_pitch": call.operands["Y"].strides[0],
    }


FULLY_CONNECTED = Kernel(
    name="${module}.fully_connected",
    op="QGemm",
    target="${name}",
    engine="matrix",
    roundings=("*",),  # the proof holds for whatever the layer's rounding is
    match=match,
    access="m n k : A[m,k] B[n,k] R[n,:] -> Y[m,n]",  # over packed operands; k is never cut: there is no `accumulates`
    requires=lambda site: {"A": (0, 1), "Y": (0, 1)},
    pack=pack,
    values=values,
    source=(fragment_file("${module}", "engine.h"),),
    call="""${module}<%text>_start(&(const </%text>${module}<%text>_job){
    .a = ${A}, .b = ${B}, .table = ${R}, .y = ${Y},
    .rows = ${loops["m"]}, .columns = ${loops["n"]}, .depth = ${loops["k"]},
    .a_pitch = ${a_pitch}, .y_pitch = ${y_pitch},
    .zero_point = ${zero_point}, .low = ${low}, .high = ${high},
});""",</%text>
    wait="${module}_wait();",
)
