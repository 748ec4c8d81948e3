"""Knows which tier an ONNX operator is in: 1 is what small networks are made of, 4 is everything that nobody listed.
Does not know what tilewright supports.
"""

from __future__ import annotations

from types import MappingProxyType

_FIRST = """
Conv Relu Add MaxPool GlobalAveragePool Gemm MatMul Reshape Flatten Softmax Concat BatchNormalization AveragePool Clip
Transpose QuantizeLinear DequantizeLinear Constant Identity Mul Sub Div Sigmoid Tanh Pad Slice Squeeze Unsqueeze Cast
Shape Gather ReduceMean LeakyRelu HardSwish HardSigmoid Dropout Sqrt Pow Split Resize ConvTranspose QLinearConv
QLinearMatMul
"""
_SECOND = """
LSTM GRU RNN LayerNormalization Gelu Erf Exp Log Neg Abs Reciprocal ReduceSum ReduceMax ReduceMin ReduceL2 Max Min Sum
Mean Where Equal Greater Less GreaterOrEqual LessOrEqual And Or Not Xor Expand Tile ArgMax ArgMin DepthToSpace
SpaceToDepth PRelu Elu Selu Softplus Softsign LogSoftmax Floor Ceil Round InstanceNormalization GroupNormalization
ConstantOfShape Range MatMulInteger ConvInteger DynamicQuantizeLinear LRN GlobalMaxPool Upsample Swish Mish Einsum Sin
Cos ReduceProd ReduceL1 ReduceSumSquare ReduceLogSum ReduceLogSumExp
"""
_THIRD = """
NonMaxSuppression TopK GatherElements GatherND ScatterND ScatterElements Scatter OneHot CumSum Trilu RMSNormalization
Attention RotaryEmbedding Mod Sign IsNaN IsInf Size EyeLike Hardmax ThresholdedRelu Celu Shrink
MeanVarianceNormalization LpPool GlobalLpPool LpNormalization GridSample RoiAlign BitShift BitwiseAnd BitwiseOr
BitwiseXor BitwiseNot Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh CastLike ReverseSequence Col2Im CenterCropPad
AffineGrid DFT STFT HannWindow HammingWindow BlackmanWindow MelWeightMatrix NonZero Compress Unique If Loop Scan
DeformConv MaxUnpool MaxRoiPool Det TensorScatter BitCast CumProd
"""
LAST = 4
WEIGHTS = MappingProxyType({1: 4, 2: 2, 3: 1})  # of a tier in the score

TIER_OF = MappingProxyType(
    {op_type: tier for tier, names in enumerate((_FIRST, _SECOND, _THIRD), 1) for op_type in names.split()}
)
