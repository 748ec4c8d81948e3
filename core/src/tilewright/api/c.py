"""For authors of passes that look into C.

C as values: what statements are made of. Sums, products and conditions are folded when they are made; printed, they
have no parentheses that C does not need.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.programs.expressions import (
    Cast,
    Choice,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Operation,
    Product,
    Reference,
    Struct,
    Sum,
    operation,
)
from tilewright.ir.programs.statements import Code, Foreign

__all__ = [
    "Cast",
    "Choice",
    "Code",
    "Element",
    "Expression",
    "Field",
    "Foreign",
    "FunctionCall",
    "Name",
    "Number",
    "Operation",
    "Product",
    "Reference",
    "Struct",
    "Sum",
    "operation",
]
