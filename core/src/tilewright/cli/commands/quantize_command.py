"""Knows `tilewright quantize`: from a float network and samples to an int8 one, and what that costs."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tilewright.cli.flags import external_flag, limit_flag
from tilewright.cli.log_display import verbose_flag, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, progress, send_result, show_diagnostics
from tilewright.cli.quantize_notes import demand_float, recurrent_notes, weight_notes
from tilewright.errors import TilewrightError
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.quantize.accuracy import Accuracy, ValueLoss
    from tilewright.quantize.recurrent import Written
    from tilewright.quantize.samples import Samples
    from tilewright.quantize.static import Method, Recipe

SHOWN = 5  # values that lost most
FLOAT_BYTES = 4  # for each byte of an int8 network


@click.command(
    "quantize",
    epilog=examples(
        "quantize float.onnx --calibration samples.npz -o int8.onnx",
        "quantize float.onnx --calibration samples.npz --test test.npz --method percentile -o int8.onnx",
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
    type=click.Choice(["int8", "uint8"]),
    default="int8",
    show_default=True,
    help="Type of the values between layers; weights are int8.",
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
    method: Method,
    activations: Literal["int8", "uint8"],
    recurrent: Literal["float", "int8", "int16"],
    per_tensor: bool,
    limits: tuple[str, ...],
    allow_external: bool | None,
    json_target: str | None,
) -> None:
    """Quantise the float network MODEL to int8 with samples, and compare both. Needs `tilewright[quantize]`."""
    from tilewright.frontend.reading.model_digest import files_beside
    from tilewright.quantize.accuracy import accuracy, largest_losses
    from tilewright.quantize.samples import read_samples
    from tilewright.quantize.static import Recipe, inputs_of
    from tilewright.snapshot.atomic_folder import write_file

    demand_writable_files(file, json_target, read=(model, *files_beside(model), calibration, test))
    recipe = Recipe(method=method, activations=activations, per_channel=not per_tensor)
    with _scratch(model) as folder:
        whole, prepared, quantised = (folder / name for name in ("model.onnx", "float.onnx", "int8.onnx"))
        whole.write_bytes(_whole(model, limits, allow_external))
        inputs = inputs_of(whole)
        samples = read_samples(calibration, inputs)
        judged = read_samples(test, inputs) if test else samples
        progress(f"finding ranges with {len(samples.inputs)} samples")
        with working("quantising: finding ranges"):
            layers = _quantise((whole, prepared, quantised), samples, recipe, recurrent)
        progress(f"comparing both networks on {len(judged.inputs)} samples")
        with working("comparing: running both networks"):
            comparison = accuracy(whole, quantised, judged)
            losses = largest_losses(prepared, quantised, judged.inputs[:SHOWN], SHOWN, folder)
        write_file(file, quantised.read_bytes())
        show_diagnostics((*recurrent_notes(layers), *weight_notes(quantised.read_bytes())), strict=False)
    result = {**asdict(comparison), "largest_losses": [asdict(loss) for loss in losses]}
    wrote = f"wrote {file}.   Next: tilewright check {shlex.quote(str(file))} --target generic"
    send_result(result, json_target, *_lines(comparison, losses), wrote)


def _quantise(
    files: tuple[Path, Path, Path], samples: Samples, recipe: Recipe, recurrent: Literal["float", "int8", "int16"]
) -> Written | None:
    """Of the network in the first file the one that is quantised, in the second, and in the third what comes of it."""
    from tilewright.quantize.recurrent import quantise_recurrent
    from tilewright.quantize.static import prepare, quantise

    whole, prepared, quantised = files
    prepare(whole, prepared)
    quantise(prepared, quantised, samples.inputs, recipe)
    return None if recurrent == "float" else quantise_recurrent(prepared, quantised, samples.inputs, recurrent)


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


def _lines(comparison: Accuracy, losses: tuple[ValueLoss, ...]) -> Iterator[Part]:
    from tilewright.quantize.accuracy import LARGEST

    rows = [("output", "samples", "same argmax", "signal to noise", "largest difference")]
    for output in comparison.outputs:
        ratio = "exact" if output.sqnr_db is None else f"{output.sqnr_db:.1f} dB"
        largest = "inf or NaN" if output.largest_difference == LARGEST else f"{output.largest_difference:g}"
        rows.append((output.name, str(output.samples), str(output.same_argmax), ratio, largest))
    yield Table(rows=rows, right=(1, 2, 3, 4))
    if comparison.labelled:
        shares = [100 * right / comparison.labelled for right in (comparison.right_float, comparison.right_quantised)]
        yield f"accuracy on {comparison.labelled} labelled samples: float {shares[0]:.2f} %, int8 {shares[1]:.2f} %"
    if losses:
        yield "values that lost most: " + ", ".join(f"{loss.name} ({loss.sqnr_db:.1f} dB)" for loss in losses)
