"""Knows `tilewright quantize`: from a float network and samples to one of integers, and what that costs."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from tilewright.cli.flags import external_flag, limit_flag
from tilewright.cli.log_display import verbose_flag, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, progress, send_result, show_diagnostics
from tilewright.cli.quantize_notes import demand_float, recurrent_notes, weight_notes
from tilewright.errors import TilewrightError
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.cli.quantize_within import Place
    from tilewright.quantize.accuracy import Accuracy, ValueLoss
    from tilewright.quantize.samples import Samples
    from tilewright.quantize.static import Activations, Method, Recipe, Weights
    from tilewright.quantize.stored_recurrences import Written

SHOWN = 5  # values that lost most
FLOAT_BYTES = 4  # for each byte of an int8 network


@click.command(
    "quantize",
    epilog=examples(
        "quantize float.onnx --calibration samples.npz -o int8.onnx",
        "quantize float.onnx --calibration samples.npz --test test.npz --method percentile -o int8.onnx",
        "quantize float.onnx --calibration samples.npz --target cortex-m4 --within ram=20K,flash=64K -o best.onnx",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@option(
    "--calibration",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.npz",
    help="Samples to find ranges with: an array for each input, samples along its first axis. 100 typical ones do.",
)
@option("-o", "--output", "file", type=click.Path(path_type=Path), required=True, help="ONNX file to write.")
@option(
    "--test",
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="Other samples to compare both networks on, with `labels` where there are classes. Default: the same.",
)
@option(
    "--method",
    type=click.Choice(["minmax", "entropy", "percentile"]),
    default="minmax",
    show_default=True,
    help="How the range of a value is found.",
)
@option(
    "--activations",
    type=click.Choice(["int8", "uint8", "int16", "mixed"]),
    help="Type of the values between layers; mixed: int8 or int16, as is best for each. Default: int8, or mixed with "
    "--within or --drop.",
)
@option(
    "--weights",
    type=click.Choice(["8", "4", "mixed"]),
    help="Bits of weights; mixed: 4 or 8, as is best for each layer. Default: 8, or mixed with --within or --drop.",
)
@option(
    "--within",
    default="",
    metavar="ram=BYTES,flash=BYTES,ms=TIME",
    help="Find the bits of each layer with which the network fits there, and loses least: bytes as planned, without "
    "stack and code, and time as estimated.",
)
@option(
    "--drop",
    default="",
    metavar="PERCENT",
    help="What may be lost, as 1%: of labels that are right, or without labels of the outputs. Alone, the smallest "
    "network that loses no more is found; with --within, what loses more is refused.",
)
@option("-t", "--target", default="", metavar="NAME", help="Where --within and --drop plan it (`tilewright targets`).")
@option("--board", default="", metavar="FILE.toml|NAME", help="The same by board, with its memories and clock.")
@option("--clock", default="", metavar="FREQUENCY", help="Clock of the processor, as 80MHz, for ms.")
@option(
    "--io-type",
    type=click.Choice(["int8", "uint8", "int16"]),
    help="With --within and --drop, inputs and outputs are planned as these integers, not as floats.",
)
@option(
    "--recurrent",
    type=click.Choice(["float", "int8", "int16"]),
    default="float",
    show_default=True,
    help="What LSTM and GRU compute in; int8 and int16 say what their input and hidden state have.",
)
@option("--per-tensor", is_flag=True, help="One scale for all weights of a layer, instead of one per channel.")
@limit_flag
@external_flag
@option("--json", "json_target", metavar="FILE|-", help="Write the accuracy as JSON.")
@verbose_flag
def command(
    model: Path,
    calibration: Path,
    file: Path,
    test: Path | None,
    recurrent: Literal["float", "int8", "int16"],
    limits: tuple[str, ...],
    allow_external: bool | None,
    json_target: str | None,
    **words: Any,
) -> None:
    """Quantise the float network MODEL to integers with samples, and compare both. Needs `tilewright[quantize]`."""
    from tilewright.cli.quantize_making import make
    from tilewright.frontend.reading.model_digest import files_beside
    from tilewright.quantize.accuracy import accuracy, largest_losses
    from tilewright.quantize.samples import read_samples
    from tilewright.quantize.static import inputs_of
    from tilewright.snapshot.atomic_folder import write_file

    demand_writable_files(file, json_target, read=(model, *files_beside(model), calibration, test))
    recipe, place = _asked(**words)
    with _scratch(model) as folder:
        whole = folder / "model.onnx"
        whole.write_bytes(_whole(model, limits, allow_external))
        inputs = inputs_of(whole)
        samples = read_samples(calibration, inputs)
        judged = read_samples(test, inputs) if test else samples
        made = make(whole, recipe, place, samples, judged)
        layers = _recurrent(made.prepared, made.file, samples, recurrent)
        progress(f"comparing both networks on {len(judged.inputs)} samples")
        with working("comparing: running both networks"):
            comparison = accuracy(whole, made.file, judged)
            losses = largest_losses(made.prepared, made.file, judged.inputs[:SHOWN], SHOWN, folder)
        write_file(file, made.file.read_bytes())
        show_diagnostics((*made.notes, *recurrent_notes(layers), *weight_notes(made.file.read_bytes())), strict=False)
    result = {**asdict(comparison), "largest_losses": [asdict(loss) for loss in losses], **made.json}
    name = "quantised" if recipe.opset else "int8"
    send_result(result, json_target, *made.lines, *_lines(comparison, losses, name), _next(file, place))


def _asked(
    method: Method,
    activations: Activations | None,
    weights: Weights | None,
    per_tensor: bool,
    **room: str | None,
) -> tuple[Recipe, Place | None]:
    """How it is quantised, and for where. TilewrightError TW1418, TW1419 (exit 2)."""
    from tilewright.cli.quantize_within import demand_place, place_of
    from tilewright.quantize.static import Recipe

    place = place_of(**{word: text or "" for word, text in room.items()})
    recipe = Recipe(
        method=method,
        activations=activations or ("mixed" if place else "int8"),
        weights=weights or ("mixed" if place else "8"),
        per_channel=not per_tensor,
    )
    if place is None and "mixed" in (recipe.activations, recipe.weights):
        raise demand_place(recipe.activations, recipe.weights)
    return recipe, place


def _next(file: Path, place: Place | None) -> str:
    where = place.check_flags() if place else ("--target", "generic")
    return f"wrote {file}.   Next: {shlex.join(['tilewright', 'check', str(file), *where])}"


def _recurrent(
    prepared: Path, quantised: Path, samples: Samples, to: Literal["float", "int8", "int16"]
) -> Written | None:
    """LSTM and GRU of the quantised network as integers, where that is asked for."""
    from tilewright.quantize.stored_recurrences import quantise_recurrent

    return None if to == "float" else quantise_recurrent(prepared, quantised, samples.inputs, to)


def _whole(model: Path, limits: tuple[str, ...], allow_external: bool | None) -> bytes:
    """MODEL, with what it keeps beside it inside; a float network may be as many times as large as what it becomes.
    TilewrightError TW1231 (exit 3) where it is quantised already.
    """
    from tilewright.front_door.options_from_flags import limits_from
    from tilewright.frontend.reading.external import embedded
    from tilewright.frontend.reading.import_options import ImportOptions, limits_with
    from tilewright.ir.graphs.model_formats import Limits
    from tilewright.plugins import load_named
    from tilewright.plugins.kinds import announced_names

    own = Limits()
    most = replace(own, file_bytes=FLOAT_BYTES * own.file_bytes, constant_bytes=FLOAT_BYTES * own.constant_bytes)
    reading = ImportOptions(allow_external=allow_external, limits=limits_with(limits_from(limits), most))
    importers = load_named(welcome=[("importer", name) for name in announced_names("importer")]).importers
    network = embedded(model, reading, importers.values())
    demand_float(network, str(model))
    return network


@contextmanager
def _scratch(model: Path) -> Iterator[Path]:
    """A folder for a while. Errors name MODEL, not a copy of it there, which is gone when they are read."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        try:
            yield Path(folder)
        except TilewrightError as error:
            copy = re.compile(rf"{re.escape(folder)}/\w+\.onnx")
            where, *details = (copy.sub(lambda _: str(model), text) for text in (error.where, *error.details))
            raise replace(error, where=where, details=tuple(details)) from None


def _lines(comparison: Accuracy, losses: tuple[ValueLoss, ...], name: str) -> Iterator[Part]:
    from tilewright.quantize.output_noise import LARGEST

    rows = [("output", "samples", "same argmax", "signal to noise", "largest difference")]
    for output in comparison.outputs:
        ratio = "exact" if output.sqnr_db is None else f"{output.sqnr_db:.1f} dB"
        largest = "inf or NaN" if output.largest_difference == LARGEST else f"{output.largest_difference:g}"
        rows.append((output.name, str(output.samples), str(output.same_argmax), ratio, largest))
    yield Table(rows=rows, right=(1, 2, 3, 4))
    if comparison.labelled:
        shares = [100 * right / comparison.labelled for right in (comparison.right_float, comparison.right_quantised)]
        yield f"accuracy on {comparison.labelled} labelled samples: float {shares[0]:.2f} %, {name} {shares[1]:.2f} %"
    if losses:
        yield "values that lost most: " + ", ".join(f"{loss.name} ({loss.sqnr_db:.1f} dB)" for loss in losses)
