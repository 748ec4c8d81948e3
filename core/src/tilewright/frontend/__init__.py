"""From ONNX bytes to a verified Graph. Knows what the model means; does not know any target."""
