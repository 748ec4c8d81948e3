"""A TensorFlow Lite file whose operators cut a stream into frames and join them again."""

from __future__ import annotations

from flat_models import G, Op, T, file_of


def frames_network() -> bytes:
    """Eight samples, delayed by three, in frames of seven four apart, added where they overlap; and eight channels,
    three frames of them at once.
    """
    words = {"delayed": (8,), "frames": (2, 7), "sound": (8,), "stack": (24,)}
    tensors = [T(name="x", type="int16", shape=(8,))]
    tensors += [T(name=name, type="int16", shape=shape) for name, shape in words.items()]
    tensors += [T(name=name, type="bool", shape=()) for name in ("whole", "full")]
    stacked = {"num_channels": 8, "stacker_left_context": 1, "stacker_right_context": 1, "stacker_step": 2}
    ops = [
        Op(code="SignalDelay", inputs=(0,), outputs=(1,), numbers={"delay_length": 3}),
        Op(code="SignalFramer", inputs=(1,), outputs=(2, 5), numbers={"frame_size": 7, "frame_step": 4, "prefill": 0}),
        Op(code="SignalOverlapAdd", inputs=(2,), outputs=(3,), numbers={"T": 7, "frame_step": 4}),
        Op(code="SignalStacker", inputs=(0,), outputs=(4, 6), numbers=stacked),
    ]
    return file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(3, 4, 5, 6)))
