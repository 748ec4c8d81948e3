"""Knows which operator families the core has: one module each, offering OPERATORS and KERNELS.
Does not know what is in them, nor who offers them to whom.
"""

FAMILIES = (
    "tilewright.operators.arg",
    "tilewright.operators.batchnorm",
    "tilewright.operators.binary",
    "tilewright.operators.cast",
    "tilewright.operators.clip",
    "tilewright.operators.concat",
    "tilewright.operators.conv",
    "tilewright.operators.conv_transpose",
    "tilewright.operators.gather",
    "tilewright.operators.gemm",
    "tilewright.operators.layernorm",
    "tilewright.operators.logic",
    "tilewright.operators.pad",
    "tilewright.operators.pool",
    "tilewright.operators.qconv",
    "tilewright.operators.qelementwise",
    "tilewright.operators.qgemm",
    "tilewright.operators.qlookup",
    "tilewright.operators.qpool",
    "tilewright.operators.qsoftmax",
    "tilewright.operators.quantize",
    "tilewright.operators.reduce",
    "tilewright.operators.reshape",
    "tilewright.operators.slice",
    "tilewright.operators.softmax",
    "tilewright.operators.transpose",
    "tilewright.operators.unary",
    "tilewright.operators.upsample",
)
