"""Knows the core's own graph passes. Does not know their order: `pipeline.ordered` works that out."""

from __future__ import annotations

from tilewright.rewrite import bound_inputs
from tilewright.rewrite.fold import (
    flatten_into_weights,
    fold_batch_norm,
    fold_constants,
    fold_dequantised,
    fold_zero_points,
)
from tilewright.rewrite.merge import fuse_activation, fuse_matmul_add, merge_duplicates, merge_lookups, merge_transposes
from tilewright.rewrite.quantisation import (
    lower_quantised,
    move_quantisation,
    recognise_decomposed_quantisation,
    recognise_fake_quantisation,
)
from tilewright.rewrite.remove import dead_nodes, remove_dead_channels

PASSES = (
    dead_nodes.PASS,
    recognise_fake_quantisation.PASS,
    recognise_decomposed_quantisation.PASS,
    fold_constants.PASS,
    merge_duplicates.PASS,
    fuse_matmul_add.PASS,
    fold_batch_norm.PASS,
    move_quantisation.PASS,
    lower_quantised.PASS,
    merge_lookups.PASS,
    fold_dequantised.PASS,
    fuse_activation.PASS,
    remove_dead_channels.PASS,
    fold_zero_points.PASS,
    flatten_into_weights.PASS,
    merge_transposes.PASS,
    bound_inputs.PASS,
)
