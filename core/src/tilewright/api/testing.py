"""For authors of tests.

Kernels and operators from arrays, made-up machines, random problems and networks. Nothing here is part of a plugin that
is installed; numpy and all of tilewright come with it.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.testing.allocation_problems import block, joined_problem, ram, random_problem
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES, cluster, copy_path, registry_for
from tilewright.testing.kernels.kernel_checks import (
    kernel_errors,
    layers_taken,
    random_cuts,
    random_layouts,
    random_parts,
)
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled, tile_boxes
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary, with_kernel
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import (
    Sample,
    byte_array,
    make_requant,
    points,
    position,
    refusal,
    result_errors,
    site_of,
    window_errors,
)
from tilewright.testing.pass_faults import pass_faults
from tilewright.testing.random_graphs import SmallWorld, random_graph, small_world
from tilewright.testing.random_networks import KINDS, RandomNetwork, random_network
from tilewright.testing.side_by_side import SideBySide, side_by_side
from tilewright.testing.sketch import Sketch

__all__ = [
    "CLUSTER",
    "KINDS",
    "RUNTIME_BYTES",
    "STRICT",
    "UBSAN",
    "RandomNetwork",
    "Sample",
    "SideBySide",
    "Sketch",
    "SmallWorld",
    "block",
    "byte_array",
    "cluster",
    "copy_path",
    "every_layer",
    "joined_problem",
    "kernel_errors",
    "kernel_faults",
    "layers_taken",
    "make_requant",
    "one_step",
    "pass_faults",
    "points",
    "portable_kernels",
    "position",
    "ram",
    "random_cuts",
    "random_graph",
    "random_layouts",
    "random_network",
    "random_parts",
    "random_problem",
    "refusal",
    "registry_for",
    "result_errors",
    "run_kernel",
    "run_tiled",
    "side_by_side",
    "site_of",
    "small_world",
    "tile_boxes",
    "vocabulary",
    "window_errors",
    "with_kernel",
]
