"""The only module a plugin imports: everything that is promised to stay within one major version of the contract.
Each name is imported when it is first used, so that a plugin pays only for what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.allocate.bound import lower_bounds as lower_bounds
    from tilewright.allocate.stacking import stack as stack
    from tilewright.arithmetic.bounds import AccumulatorBounds as AccumulatorBounds
    from tilewright.arithmetic.requant_form import RequantForm as RequantForm
    from tilewright.arithmetic.scaled_sum import SumForm as SumForm
    from tilewright.errors import Diagnostic as Diagnostic
    from tilewright.errors import Exit as Exit
    from tilewright.errors import Refusal as Refusal
    from tilewright.errors import TilewrightError as TilewrightError
    from tilewright.errors import memory_error as memory_error
    from tilewright.errors import model_error as model_error
    from tilewright.errors import plugin_error as plugin_error
    from tilewright.errors import toolchain_error as toolchain_error
    from tilewright.errors import unsupported_error as unsupported_error
    from tilewright.errors import usage_error as usage_error
    from tilewright.ir.access import Access as Access
    from tilewright.ir.access import Box as Box
    from tilewright.ir.access import Footprint as Footprint
    from tilewright.ir.access import IndexMap as IndexMap
    from tilewright.ir.access import Loop as Loop
    from tilewright.ir.access import Span as Span
    from tilewright.ir.access import Window as Window
    from tilewright.ir.access import parse_map as parse_map
    from tilewright.ir.access import whole as whole
    from tilewright.ir.allocation import Allocator as Allocator
    from tilewright.ir.allocation import Block as Block
    from tilewright.ir.allocation import Budget as Budget
    from tilewright.ir.allocation import Place as Place
    from tilewright.ir.allocation import Pool as Pool
    from tilewright.ir.allocation import Problem as Problem
    from tilewright.ir.allocation import Solution as Solution
    from tilewright.ir.allocation import Within as Within
    from tilewright.ir.code_pass import CodePass as CodePass
    from tilewright.ir.code_pass import CodePassContext as CodePassContext
    from tilewright.ir.decisions import Decisions as Decisions
    from tilewright.ir.decisions import Staging as Staging
    from tilewright.ir.dtypes import DType as DType
    from tilewright.ir.graph import Graph as Graph
    from tilewright.ir.graph import Node as Node
    from tilewright.ir.graph import Quantization as Quantization
    from tilewright.ir.graph import Site as Site
    from tilewright.ir.graph import Tensor as Tensor
    from tilewright.ir.graph_pass import GraphPass as GraphPass
    from tilewright.ir.graph_pass import PassContext as PassContext
    from tilewright.ir.graph_pass import PassResult as PassResult
    from tilewright.ir.importing import Conversion as Conversion
    from tilewright.ir.importing import Import as Import
    from tilewright.ir.importing import OnnxNode as OnnxNode
    from tilewright.ir.kernel import Call as Call
    from tilewright.ir.kernel import Kernel as Kernel
    from tilewright.ir.kernel import Matched as Matched
    from tilewright.ir.kernel import Operand as Operand
    from tilewright.ir.kernel import PartialSums as PartialSums
    from tilewright.ir.kernel import TileShape as TileShape
    from tilewright.ir.layout import Layout as Layout
    from tilewright.ir.layout import channels_last as channels_last
    from tilewright.ir.layout import row_major as row_major
    from tilewright.ir.layout import strides as strides
    from tilewright.ir.operator import Alias as Alias
    from tilewright.ir.operator import Operator as Operator
    from tilewright.ir.platform import CopyPath as CopyPath
    from tilewright.ir.platform import Engine as Engine
    from tilewright.ir.platform import Memory as Memory
    from tilewright.ir.platform import MemoryHierarchy as MemoryHierarchy
    from tilewright.ir.platform import Option as Option
    from tilewright.ir.platform import Platform as Platform
    from tilewright.ir.program import Program as Program
    from tilewright.ir.regions import Copy as Copy
    from tilewright.ir.regions import Cut as Cut
    from tilewright.ir.regions import Held as Held
    from tilewright.ir.regions import Hop as Hop
    from tilewright.ir.regions import Region as Region
    from tilewright.ir.regions import Sums as Sums
    from tilewright.ir.requant import Requant as Requant
    from tilewright.ir.requant import requantise as requantise
    from tilewright.ir.runner import Job as Job
    from tilewright.ir.runner import Runner as Runner
    from tilewright.ir.runner import RunResult as RunResult
    from tilewright.ir.stages import Allocated as Allocated
    from tilewright.ir.stages import Artifact as Artifact
    from tilewright.ir.stages import Group as Group
    from tilewright.ir.stages import Scheduled as Scheduled
    from tilewright.ir.stages import Tiled as Tiled
    from tilewright.ir.statements import Comment as Comment
    from tilewright.ir.statements import Raw as Raw
    from tilewright.ir.statements import StepCall as StepCall
    from tilewright.ir.tiler import Tiler as Tiler
    from tilewright.ir.tiler import TilingRequest as TilingRequest
    from tilewright.operators.c_functions import c_functions as c_functions
    from tilewright.operators.integer_layers import refused_softmax as refused_softmax
    from tilewright.operators.integer_layers import scaled_sum_form as scaled_sum_form
    from tilewright.operators.integer_layers import softmax_table as softmax_table
    from tilewright.operators.integer_layers import sum_bounds as sum_bounds
    from tilewright.operators.integer_layers import sum_requant as sum_requant
    from tilewright.operators.nest import Nest as Nest
    from tilewright.operators.nest import nest as nest
    from tilewright.operators.walk import Walk as Walk
    from tilewright.operators.walk import broadcast_steps as broadcast_steps
    from tilewright.operators.walk import elementwise_walk as elementwise_walk
    from tilewright.operators.walk import walk as walk
    from tilewright.operators.windows import Windows as Windows
    from tilewright.operators.windows import windows_of as windows_of
    from tilewright.plugins.hookspecs import hookimpl as hookimpl
    from tilewright.plugins.offers import Command as Command
    from tilewright.plugins.offers import Exporter as Exporter
    from tilewright.plugins.offers import StageEvent as StageEvent
    from tilewright.runners.elf import ElfSymbol as ElfSymbol
    from tilewright.runners.elf import elf_code_bytes as elf_code_bytes
    from tilewright.runners.elf import elf_function_at as elf_function_at
    from tilewright.runners.elf import elf_symbols as elf_symbols
    from tilewright.runners.harness import Harness as Harness
    from tilewright.runners.harness import decode_outputs as decode_outputs
    from tilewright.runners.harness import decode_trace as decode_trace
    from tilewright.runners.harness import make_harness as make_harness
    from tilewright.runners.toolchain import execute as execute
    from tilewright.runners.toolchain import find_compiler as find_compiler
    from tilewright.runners.toolchain import missing_compiler as missing_compiler
    from tilewright.tile.choices import TileChoices as TileChoices
    from tilewright.tile.choices import Tiling as Tiling
    from tilewright.tile.misfit import Needs as Needs

_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "tilewright.ir.access": "Access Box Footprint IndexMap Loop Span Window parse_map whole",
        "tilewright.allocate.bound": "lower_bounds",
        "tilewright.ir.allocation": "Allocator Block Budget Place Pool Problem Solution Within",
        "tilewright.allocate.stacking": "stack",
        "tilewright.arithmetic.bounds": "AccumulatorBounds",
        "tilewright.arithmetic.requant_form": "RequantForm",
        "tilewright.arithmetic.scaled_sum": "SumForm",
        "tilewright.ir.decisions": "Decisions Staging",
        "tilewright.ir.dtypes": "DType",
        "tilewright.errors": "Diagnostic Exit Refusal TilewrightError memory_error model_error plugin_error "
        "toolchain_error unsupported_error usage_error",
        "tilewright.ir.importing": "Conversion Import OnnxNode",
        "tilewright.ir.graph": "Graph Node Quantization Site Tensor",
        "tilewright.operators.integer_layers": "refused_softmax scaled_sum_form softmax_table sum_bounds sum_requant",
        "tilewright.ir.kernel": "Call Kernel Matched Operand PartialSums TileShape",
        "tilewright.ir.layout": "Layout channels_last row_major strides",
        "tilewright.ir.operator": "Alias Operator",
        "tilewright.operators.c_functions": "c_functions",
        "tilewright.operators.nest": "Nest nest",
        "tilewright.operators.walk": "Walk broadcast_steps elementwise_walk walk",
        "tilewright.operators.windows": "Windows windows_of",
        "tilewright.ir.platform": "CopyPath Engine Memory MemoryHierarchy Option Platform",
        "tilewright.plugins.hookspecs": "hookimpl",
        "tilewright.plugins.offers": "Command Exporter StageEvent",
        "tilewright.ir.program": "Program",
        "tilewright.ir.regions": "Copy Cut Held Hop Region Sums",
        "tilewright.ir.requant": "Requant requantise",
        "tilewright.ir.graph_pass": "GraphPass PassContext PassResult",
        "tilewright.runners.elf": "ElfSymbol elf_code_bytes elf_function_at elf_symbols",
        "tilewright.runners.harness": "Harness decode_outputs decode_trace make_harness",
        "tilewright.ir.runner": "Job RunResult Runner",
        "tilewright.runners.toolchain": "execute find_compiler missing_compiler",
        "tilewright.ir.stages": "Allocated Artifact Group Scheduled Tiled",
        "tilewright.ir.statements": "Comment Raw StepCall",
        "tilewright.tile.choices": "TileChoices Tiling",
        "tilewright.tile.misfit": "Needs",
        "tilewright.ir.tiler": "Tiler TilingRequest",
        "tilewright.ir.code_pass": "CodePass CodePassContext",
    }
)
_HOME_OF = MappingProxyType({name: home for home, names in _HOMES.items() for name in names.split()})


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tilewright.api' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
