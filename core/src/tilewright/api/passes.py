"""For authors of passes.

Two kinds of rewrites: of the graph, before kernels are chosen, and of the program, after everything has its place. The
program is a tree; its statements are all here.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.ir.programs.code_pass import CodePass, CodePassContext
from tilewright.ir.programs.program import (
    KernelLicence,
    Parameter,
    Part,
    Port,
    PortRows,
    Program,
    ProgramPool,
    StateInitialiser,
    StepCode,
)
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    Charge,
    Comment,
    CopyStart,
    CopyWait,
    Dead,
    Declare,
    For,
    Hook,
    If,
    KernelCall,
    KernelWait,
    Live,
    Mark,
    PartCall,
    Raw,
    Statement,
    StepCall,
    Switch,
    While,
    replaced,
    statements_in,
    touched,
)

__all__ = [
    "Barrier",
    "ByteRange",
    "Charge",
    "CodePass",
    "CodePassContext",
    "Comment",
    "CopyStart",
    "CopyWait",
    "Dead",
    "Declare",
    "For",
    "GraphPass",
    "Hook",
    "If",
    "KernelCall",
    "KernelLicence",
    "KernelWait",
    "Live",
    "Mark",
    "Parameter",
    "Part",
    "PartCall",
    "PassContext",
    "PassResult",
    "Port",
    "PortRows",
    "Program",
    "ProgramPool",
    "Raw",
    "StateInitialiser",
    "Statement",
    "StepCall",
    "StepCode",
    "Switch",
    "While",
    "replaced",
    "statements_in",
    "touched",
]
