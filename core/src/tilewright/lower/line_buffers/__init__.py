"""Line-buffered regions in C: calls, stripes, streamed inputs and outputs."""
