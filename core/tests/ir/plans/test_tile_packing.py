"""Constants whose bytes follow the tiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.ir.plans.tile_packing import TilePacking, boxes_of
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of


def numbered(tile: TileShape) -> Mapping[str, np.ndarray[Any, Any]]:
    """Every byte says where its tile begins."""
    low, high = tile.box["n"]
    return {"P": np.full((high - low, 2), low, np.uint8)}


def packing(text: str = "m n : X[m] P[n,:] -> Y[m,n]", pack_tile: object = numbered) -> TilePacking:
    x = np.zeros((4, 5), np.float32)
    site = Matched.of(site_of(vocabulary()["Neg"], [x], {}, ()), None)
    kernel = Kernel(name="k", op="Neg", access=text, pack_tile=pack_tile)  # type: ignore[arg-type]  # wrong ones, too
    packed = {"P": np.zeros((5, 2), np.uint8), "S": np.ones(3, np.uint8)}
    text = text.replace(" P[", " S[:] P[")
    return TilePacking(kernel=kernel, site=site, access=bound(text), packed=packed)


def bound(text: str) -> Access:
    return parse_map(text).bind({"Y": (4, 5), "X": (4,), "P": (5, 2), "S": (3,)})


def test_every_tile_has_its_bytes_and_the_rest_stays() -> None:
    made = packing()
    result = made.of(tuple(boxes_of(made.access, [{"m": 2, "n": 2}])))
    assert result["P"].tolist() == [[0, 0], [0, 0], [2, 2], [2, 2], [4, 4]]
    assert np.array_equal(result["S"], made.packed["S"])


def test_inner_nests_cut_the_tiles_of_outer_ones() -> None:
    access = bound("m n : X[m] S[:] P[n,:] -> Y[m,n]")
    assert [box["n"] for box in boxes_of(access, [{"n": 3}, {"n": 2}])] == [(0, 2), (2, 3), (3, 5)]
    assert list(boxes_of(access, [])) == [{"m": (0, 4), "n": (0, 5)}]


@pytest.mark.parametrize(
    ("text", "shared", "reason"),
    [
        ("m n : X[m] P[n,:] -> Y[m,n]", (), ""),
        ("m n : X[m] P[n,:] -> Y[m,n]", ("m",), ""),
        ("m n : X[m] P[n,:] -> Y[m,n]", ("n",), "packs P for each tile, and several cores share its loop 'n'"),
        ("m n : X[m] P[n+m-2,:] -> Y[m,n]", (), "packs P for each tile, and an axis of it is neither a loop nor `:`"),
    ],
)
def test_what_cannot_be_packed_for_tiles_is_refused(text: str, shared: tuple[str, ...], reason: str) -> None:
    assert packing(text).refusal(shared) == reason


READS = "pack_tile of 'P' must return what its map says the tile reads, uint8[2, 2]"


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (
            {"P": np.zeros((9, 2), np.uint8)},
            READS,
        ),
        (
            {"P": np.zeros((2, 2), np.int8)},
            READS,
        ),
        ({"P": [[0, 0], [0, 0]]}, "pack_tile of 'P' must return a numpy array"),
        ({"Q": np.zeros((2, 2), np.uint8)}, "pack_tile must return some of what `pack` has: P, S"),
        (None, "pack_tile must return a mapping from names"),
    ],
)
def test_a_wrong_answer_names_the_hook(answer: object, wanted: str) -> None:
    made = packing(pack_tile=lambda tile: answer)
    with pytest.raises(TilewrightError) as caught:
        made.of(tuple(boxes_of(made.access, [{"n": 2}])))
    assert caught.value.code == "TW8062"
    assert wanted in caught.value.message
