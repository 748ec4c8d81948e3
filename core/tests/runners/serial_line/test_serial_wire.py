"""Lines by name: rates, ports that are not there, and one that pyserial has without a board."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.runners.serial_line.serial_wire import DEFAULT_BAUD, missing_pyserial, open_wire, split_port


def test_a_rate_stands_behind_the_port() -> None:
    assert split_port("/dev/ttyACM0") == ("/dev/ttyACM0", DEFAULT_BAUD)
    assert split_port("COM5@921600") == ("COM5", 921600)


@pytest.mark.parametrize("port", ["/dev/ttyACM0@fast", "/dev/ttyACM0@0", "/dev/ttyACM0@"])
def test_what_is_no_rate_is_refused(port: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        split_port(port)
    assert refused.value.code == "TW7131"


def test_a_port_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as refused:
        open_wire(str(tmp_path / "no-port"))
    assert refused.value.code == "TW7131"
    assert "no-port" in str(refused.value)


def test_bytes_go_through() -> None:
    assert missing_pyserial() is None
    wire = open_wire("loop://")
    wire.write(b"there and back")
    assert wire.read(1.0) == b"there and back"
    assert wire.read(0.01) == b""
    wire.close()
