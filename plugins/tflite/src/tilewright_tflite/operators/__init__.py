"""Operators of TensorFlow Lite in ONNX's words: one module for each family."""
