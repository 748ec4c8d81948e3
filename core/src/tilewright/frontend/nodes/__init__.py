"""ONNX nodes, made nodes of the normal form."""
