"""From a float network to an int8 one, with onnxruntime's static quantisation, and what that costs in accuracy.
Does not compile anything: the result is an ONNX file in the form (QDQ) that `frontend` reads.
"""
