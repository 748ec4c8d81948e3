"""The onnx package's own test cases, compiled to C and run here."""
