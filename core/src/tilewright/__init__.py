"""tilewright: ONNX in, C out, for machines whose memory is placed by hand."""

__version__ = "0.1.0"
