"""Frames: what is sent comes out, whatever was lost before, and nothing else does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.runners.serial_line.frames import DATA_BYTES, ESCAPE, FLAG, FrameReader, encoded

MESSAGES = st.binary(min_size=1, max_size=5 + DATA_BYTES) | st.lists(st.sampled_from([FLAG, ESCAPE]), min_size=1).map(
    bytes
)


def test_a_frame_is_what_the_firmware_sends() -> None:
    assert encoded(b"123456789") == b"~123456789\xb1\x29~"  # the check value of this CRC in catalogues is 29B1


@given(st.lists(MESSAGES, max_size=4))
def test_messages_come_out_as_they_went_in(messages: list[bytes]) -> None:
    messages = [message[: 5 + DATA_BYTES] for message in messages]
    sent = b"".join(encoded(message) for message in messages)
    reader = FrameReader()
    assert [found for byte in sent for found in reader.feed(bytes([byte]))] == messages


@given(st.binary(max_size=300), MESSAGES)
def test_after_anything_the_second_frame_arrives(noise: bytes, message: bytes) -> None:
    message = message[: 5 + DATA_BYTES]
    found = list(FrameReader().feed(noise + encoded(message) * 2))
    assert found[-1:] == [message]


@given(MESSAGES, st.data())
def test_a_changed_bit_is_noticed(message: bytes, data: st.DataObject) -> None:
    message = message[: 5 + DATA_BYTES]
    frame = bytearray(encoded(message))
    frame[data.draw(st.integers(1, len(frame) - 2))] ^= 1 << data.draw(st.integers(0, 7))
    assert message not in list(FrameReader().feed(bytes(frame)))
