"""Files are written all or nothing, into new folders and into old ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.snapshot.atomic_folder import demand_writable, demand_writable_file, write_file, write_folder

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

    def items(self) -> object:  # type: ignore[override]  # only iterated
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
