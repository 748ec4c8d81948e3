"""Knows the core's own graph passes. Does not know their order: `pipeline.ordered` works that out."""

from __future__ import annotations

from tilewright.rewrite import bound_inputs, declare_arithmetic
from tilewright.rewrite.fold import (
    flatten_into_weights,
    fold_channel_constants,
    fold_constants,
    fold_finite,
    fold_zero_points,
)
from tilewright.rewrite.merge import fuse, merge_lookups, merge_transposes, recognise_normalisation
from tilewright.rewrite.qdq import lowering, movement, recurrences
from tilewright.rewrite.quantisation import (
    dequantise_sums,
    packed_products,
    recognise_decomposed_quantisation,
    recognise_fake_quantisation,
    report_widened,
    scale_integer_products,
    split_dynamic_quantisation,
)
from tilewright.rewrite.remove import redundant_nodes, remove_dead_channels
from tilewright.rewrite.roll import roll_recurrences

PASSES = (
    redundant_nodes.DEAD_NODES,
    redundant_nodes.DROP_CASTS_BACK,
    recognise_fake_quantisation.PASS,
    recognise_decomposed_quantisation.PASS,
    fold_finite.FOLD_FINITE,
    fold_constants.FOLD_CONSTANTS,
    fold_finite.FOLD_DECIDED,
    redundant_nodes.MERGE_DUPLICATES,
    fuse.FUSE_MATMUL_ADD,
    packed_products.PASS,
    recognise_normalisation.PASS,
    scale_integer_products.PASS,
    dequantise_sums.PASS,
    roll_recurrences.PASS,
    fold_channel_constants.PASS,
    movement.MOVE_QUANTISATION,
    recurrences.LOWER_RECURRENCES,
    lowering.LOWER_QUANTISED,
    declare_arithmetic.SETTLE_ARITHMETIC,
    declare_arithmetic.DECLARE_ARITHMETIC,
    report_widened.PASS,
    split_dynamic_quantisation.PASS,
    merge_lookups.PASS,
    fold_constants.FOLD_DEQUANTISED,
    fuse.FUSE_ACTIVATION,
    remove_dead_channels.PASS,
    fold_zero_points.PASS,
    flatten_into_weights.PASS,
    merge_transposes.PASS,
    bound_inputs.PASS,
)
