"""ONNX operators that are composed of others."""
