"""What ONNX's operators demand of their nodes."""
