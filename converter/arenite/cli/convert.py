"""`convert MODEL.onnx`, also `arenite convert`."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from arenite.cli.console import Debug, Json, Operators, Quiet, command
from arenite.cli.options import BOARD, parse_count, parse_memories, parse_rooms, parse_shapes, parse_size, parse_states, parse_values
from arenite.errors import PlanError


class Precision(Enum):
    int8 = "int8"
    int16x8 = "int16x8"
    int16 = "int16"
    float32 = "float32"
    auto = "auto"


class Weights(Enum):
    int8 = "int8"
    int4 = "int4"


class Io(Enum):
    int8 = "int8"
    float32 = "float32"
    model = "model"


class IoLayout(Enum):
    onnx = "onnx"
    nhwc = "nhwc"


class Optimize(Enum):
    speed = "speed"
    balanced = "balanced"
    size = "size"


class Observer(Enum):
    minmax = "minmax"
    percentile = "percentile"
    mse = "mse"
    entropy = "entropy"


class Quantize(Enum):
    default = "default"
    best = "best"


def convert(
    model: Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="The model.", show_default=False)],
    calibration: Annotated[
        Path | None,
        typer.Option(help="Typical inputs: .npz with an array for each model input (or `x`), .npy, or a folder of such files."),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(
            help="int16x8: activations of 16 bits, weights of 8; float32: nothing is quantized; auto: by layer, as --max-… ask for."
        ),
    ] = Precision.int8,
    target: Annotated[str | None, typer.Option(help="Processor that the model is for: cortex-m0, m3, m4, m7, m33, m55.")] = None,
    board: Annotated[
        str | None, typer.Option(help="Microcontroller or board that the model is for, e.g. stm32h743: its core, its flash and its RAM.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder to write. Default: named after the model, beside it.")] = None,
    shape: Annotated[list[str], typer.Option(metavar="NAME=1,2,3", help="Shape of an input with dynamic dimensions; repeatable.")] = [],  # noqa: B006
    bind: Annotated[
        list[str], typer.Option(metavar="NAME=NUMBER", help="Make this input a constant, of this number throughout; repeatable.")
    ] = [],  # noqa: B006
    state: Annotated[
        list[str],
        typer.Option(metavar="OUTPUT=INPUT", help="Keep this output as that input of the next invocation; repeatable."),
    ] = [],  # noqa: B006
    io: Annotated[
        Io | None,
        typer.Option(help="Element type of inputs and outputs; model: as the ONNX file declares each. Default: that of --precision."),
    ] = None,
    operators: Operators = [],  # noqa: B006
    int16_layer: Annotated[
        list[str], typer.Option(metavar="NAME", help="A layer to compute with activations and weights of 16 bits; repeatable.")
    ] = [],  # noqa: B006
    weights: Annotated[
        Weights,
        typer.Option(help="int4: weights of convolutions and fully connected layers take four bits; depthwise ones keep eight."),
    ] = Weights.int8,
    int4_layer: Annotated[list[str], typer.Option(metavar="NAME", help="A layer whose weights take four bits; repeatable.")] = [],  # noqa: B006
    int4_loss: Annotated[
        float | None,
        typer.Option(metavar="DB", help="Layers with which the outputs would lose more signal to noise than this keep eight bits."),
    ] = None,
    float_layer: Annotated[list[str], typer.Option(metavar="NAME", help="A layer to leave in float32; repeatable.")] = [],  # noqa: B006
    least_sqnr: Annotated[
        float,
        typer.Option(
            metavar="DB", help="Layers stay in float32 where int8 would leave less signal to noise of a typical sample; -inf: none."
        ),
    ] = 20.0,
    io_layout: Annotated[
        IoLayout, typer.Option(help="Layout of inputs and outputs; nhwc drops the transposes at the edges.")
    ] = IoLayout.onnx,
    keep_inputs: Annotated[bool, typer.Option("--keep-inputs", help="An inference leaves its inputs as they are.")] = False,
    optimize: Annotated[
        Optimize, typer.Option(help="What kernels are chosen for: how much flash may be spent on their speed.")
    ] = Optimize.balanced,
    tune: Annotated[bool, typer.Option("--tune", help="Measure the kernels that layers can take under the emulator.")] = False,
    quantize: Annotated[
        Quantize, typer.Option(help="best: every method that makes the outputs measurably more accurate; takes a minute.")
    ] = Quantize.default,
    method: Annotated[list[str], typer.Option(metavar="NAME", help="A method of quantization besides those; repeatable.")] = [],  # noqa: B006
    no_method: Annotated[list[str], typer.Option(metavar="NAME", help="A method of those to leave out; repeatable.")] = [],  # noqa: B006
    observer: Annotated[Observer, typer.Option(help="How activation ranges follow from the calibration data.")] = Observer.minmax,
    name: Annotated[str | None, typer.Option(help="C identifier for files and symbols. Default: from the file name.")] = None,
    max_ram: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="RAM that there is, e.g. 64k: where a plain plan needs more, layers run in bands of rows; exit status 8 if none fits.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=SIZE,…",
            help="RAMs that there are, the fastest first, e.g. dtcm=64k,sram=256k,sdram; the last needs no size. board: those of --board.",
        ),
    ] = None,
    weights_in: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=SIZE],…", help="RAMs that the weights which are read most are copied to; NAME: what --memory leaves of it."
        ),
    ] = None,
    max_flash: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Flash that there is: kernels are chosen to fit; exit status 8 if none do.")
    ] = None,
    max_cycles: Annotated[
        str | None, typer.Option(metavar="COUNT", help="Estimated cycles of an inference, e.g. 2M, for --precision auto.")
    ] = None,
    max_loss: Annotated[
        str | None,
        typer.Option(metavar="LOSS", help="What --precision auto may lose: 0.5 (points of accuracy) or 40dB (signal to noise to keep)."),
    ] = None,
    dump_ir: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the graph after every pass there, as text.")] = None,
    ram_curve: Annotated[
        bool, typer.Option("--ram-curve", help="Also look for what less RAM would cost: a table, ram_curve.svg and ram_curve.json.")
    ] = False,
    strip_names: Annotated[bool, typer.Option("--strip-names", help="Leave tensor and layer names out of the .arn file.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that holds other files.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Convert an ONNX model to INT8 or float32 code for microcontrollers.

    Writes a folder with the flat model (.arn), C sources in both forms, the C runtime, and a report.
    """
    shapes, values, states = parse_shapes(shape), parse_values(bind), parse_states(state)
    limits = parse_size(max_ram, "--max-ram"), parse_size(max_flash, "--max-flash")
    memories, rooms = parse_memories(memory), parse_rooms(weights_in)
    most_cycles = parse_count(max_cycles, "--max-cycles")
    with command(json, quiet, debug) as terminal:
        from arenite import pipeline, report  # onnxruntime takes a second to import: --help need not wait for it
        from arenite.emit.constants_in_ram import Room
        from arenite.plan import Memory
        from arenite.precision import parse_loss
        from arenite.quantize import selected

        options = pipeline.ConvertOptions(
            precision=precision.value,
            calibration=calibration,
            target=target,
            output=output,
            shapes=shapes,
            values=values,
            states=states,
            operators=tuple(operators),
            int16_layers=tuple(int16_layer),
            int4_layers=None if weights is Weights.int4 else tuple(int4_layer),
            int4_loss_db=math.inf if int4_loss is None else int4_loss,
            float_layers=tuple(float_layer),
            least_db=least_sqnr,
            io=None if io is None else io.value,
            io_layout=io_layout.value,
            keep_inputs=keep_inputs,
            optimize=optimize.value,
            tune=tune,
            observer=observer.value,
            methods=selected(quantize.value, method, no_method),
            name=name,
            limits=report.Limits(*limits),
            memories=tuple(Memory(*each) for each in memories),
            max_cycles=most_cycles,
            max_loss=None if max_loss is None else parse_loss(max_loss),
            dump_ir=dump_ir,
            ram_curve=ram_curve,
            strip_names=strip_names,
            force=force,
            weights_in=tuple(Room(*each) for each in rooms),
            board=board,
            board_memories=memory == BOARD,
        )
        with terminal.progress():
            conversion = pipeline.convert(model, options, terminal.advance)
        if json:
            traded = {} if conversion.curve is None else {"ram_curve": conversion.curve.to_json()}
            terminal.show_json({**report.to_json(conversion.report), **traded, "output": str(conversion.folder)})
            if not conversion.report.accuracy_known:
                terminal.remark(report.accuracy(conversion.report), style="bold red")
        else:
            terminal.remark(f"Wrote {conversion.folder}")
            if conversion.curve is not None:
                terminal.show([Text(conversion.curve.to_text())])
            terminal.show(report.render_summary(conversion.report))
    if conversion.report.fits is False:
        raise typer.Exit(PlanError.exit_code)
