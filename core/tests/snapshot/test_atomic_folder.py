"""Files are written all or nothing, into new folders and into old ones."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.snapshot.atomic_folder import (
    demand_writable,
    demand_writable_file,
    temporary_folder,
    write_file,
    write_folder,
)

FILES = {"a.c": b"int a;\n", "below/b.bin": bytes(range(256))}


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("place", [".", "new", "new/deep/er"])
def test_files_arrive(tmp_path: Path, place: str) -> None:
    write_folder(tmp_path / place, FILES)
    assert written(tmp_path / place) == FILES


def test_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("out"), FILES)
    write_folder(Path("out"), {"a.c": b"new"})
    assert written(tmp_path / "out") == {**FILES, "a.c": b"new"}


def test_the_new_folder_has_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "ordinary").mkdir()
    write_folder(tmp_path / "out", FILES)
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


class Interrupting(dict[str, bytes]):
    """Interrupts in the middle of being written."""

    def items(self) -> object:
        yield "first", b"1"
        raise KeyboardInterrupt


@pytest.mark.parametrize("place", ["new/deep", "there"])
def test_an_interruption_leaves_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / place, Interrupting())
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


@pytest.mark.parametrize("place", ["file", "file/below", "file/below/it"])
def test_below_a_file(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    for attempt in (lambda: write_folder(tmp_path / place, FILES), lambda: demand_writable(tmp_path / place)):
        with pytest.raises(TilewrightError, match="is a file, not a folder") as caught:
            attempt()
        assert (caught.value.code, caught.value.exit_code) == ("TW1107", Exit.USAGE)
    assert written(tmp_path) == {"file": b"mine"}


def test_asking_changes_nothing(tmp_path: Path) -> None:
    demand_writable(tmp_path / "a" / "b")
    demand_writable_file(tmp_path / "a" / "c.json")
    assert list(tmp_path.iterdir()) == []


def test_one_file(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "report.json", b"{}")
    assert written(tmp_path) == {"new/report.json": b"{}"}
    with pytest.raises(TilewrightError, match="TW1107"):
        demand_writable_file(tmp_path)


def test_a_temporary_folder_is_gone_afterwards() -> None:
    with temporary_folder() as folder:
        (folder / "x").write_bytes(b"x")
    assert not folder.exists()


def test_no_place_for_temporary_files_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    with pytest.raises(TilewrightError, match="TW1107"), temporary_folder():
        pass


def test_no_room_for_temporary_files_is_said_and_what_is_there_removed() -> None:
    with pytest.raises(TilewrightError, match=r"(?s)TW1107.*No space left"), temporary_folder() as folder:
        (folder / "x").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not folder.exists()


def test_other_errors_inside_are_passed_on() -> None:
    with pytest.raises(ConnectionError), temporary_folder():
        raise ConnectionError
