"""Control loop: sensors are read, a model decides, commands go out, again and again at a fixed rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from designer.errors import AnalysisError
from designer.families.serving.inference import Inference
from designer.workload.job_settings import INPUT, input_path
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, MORE, Metric
from designer.workload.program import Arrivals, Measure, Move, Program, Step
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Access(Task):
    """The access latency that parts state: capture of a sensor, or the network to a client that is not drawn.

    Parameters
    ----------
    what
        What it is in words: ``capture``, ``way to the client``.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Frames(Task):
    """One frame of each sensor, in equal shares to the targets.

    Parameters
    ----------
    size
        Size of a frame [B]; 0 for that of each sensor.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    sensors: str
    target: str
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Forward(Task):
    """One pass of a model over a batch, on whichever accelerator of a group is free.

    Parameters
    ----------
    asked
        Model, precision and group; `batch` is the number of samples.
    tokens
        Tokens generated one after the other once the batch has been read.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    asked: Inference
    tokens: int = 0


_PRECISIONS = ("fp16", "bf16", "fp32", "fp8", "int8")


def program(settings: Mapping[str, Any]) -> Program:
    """Frames, a forward pass and a command for each turn of the loop."""
    s = settings
    if s["rate"] <= 0:
        raise AnalysisError("a loop that never turns", place="rate", remedy="give turns a second, above 0")
    if s["batch"] < 1 or s["sequence"] < 1:
        raise AnalysisError("a pass over nothing", place="batch", remedy="give samples and tokens of 1 or more")
    if not s["model"].strip() and not (s["flop"] and s["weights"]):
        raise AnalysisError("no model is named", place="model", remedy="name one, or give flop and weights")
    asked = Inference(
        "loop",
        s["model"].strip(),
        s["flop"],
        s["weights"],
        s["moved"],
        0.0,
        s["sequence"],
        s["precision"],
        s["group"],
        "",
        "single-stream",
        0.0,
        1,
        s["rate"],
        1,
        s["batch"],
        0.0,
        0.0,
        0.99,
        1,
        0,
        input_path({one.name: one.default for one in INPUT} | {"prefetch": 1, "source": "", "dataset": ""}),
    )
    steps = [Step("capture", Access(s["sensors"], "capture"))]
    steps.append(Step("sense", Frames(s["sensors"], s["target"], s["frame"]), after=("capture",)))
    steps.append(Step("decide", Forward(asked, s["tokens"]), after=("sense",)))
    if s["actuators"].strip():
        command = Move(s["target"], s["actuators"], s["command"], pairing="all")
        steps.append(Step("command", command, after=("decide",)))
        steps.append(Step("act", Access(s["actuators"], "way to the actuators"), after=("command",)))
    last = steps[-1].name
    measures = [
        Measure("reaction_time", "s", "latency", last),
        Measure("loops_per_second", "1/s", "rate", last),
        Measure("sense_time", "s", "latency", "sense"),
        Measure("decide_time", "s", "time", "decide"),
    ]
    if last == "act":
        measures.append(Measure("command_time", "s", "time", "command"))
    arrivals = Arrivals("periodic", s["rate"])
    return Program("loop", tuple(steps), float("inf"), arrivals, priority=-1, measures=tuple(measures))


WORKLOAD = WorkloadKind(
    name="control_loop",
    title="Control loop",
    reports="control",
    metrics=("reaction_time", "loops_per_second", "sense_time", "decide_time", "command_time"),
    own={
        "reaction_time": Metric("s", LESS, "from a capture to the end of the command it leads to, in the mean"),
        "loops_per_second": Metric("1/s", MORE, "turns of the loop that are completed"),
        "sense_time": Metric("s", LESS, "from capture until the frames of all sensors are there, in the mean"),
        "decide_time": Metric("s", LESS, "the model, with the wait for an accelerator"),
        "command_time": Metric("s", LESS, "the command on the links that are drawn, to the last actuator"),
    },
    program=program,
    help="A robot or a monitored line: frames of sensors, a model, commands to actuators, at a fixed rate.",
    settings=(
        Setting("sensors", "Sensors", "selector", "sensors"),
        Setting("frame", "Frame", "size", "0 B", help="of each sensor; 0 B for what each states"),
        Setting("target", "Frames go to", "selector", "memory"),
        Setting("rate", "Turns", "frequency", "30 1/s"),
        Setting("model", "Model", "text", "resnet-50", help="id of a model or path of a config.json; or empty"),
        Setting("flop", "Arithmetic of a sample", "flop", "0 FLOP", help="0 FLOP for that of the model"),
        Setting("weights", "Weights", "size", "0 B", help="0 B for those of the model"),
        Setting("moved", "Values through memory", "size", "0 B", help="of a sample; 0 B for those of the model"),
        Setting("sequence", "Sequence", "count", 384, help="tokens of a sample of a transformer"),
        Setting("tokens", "Tokens generated", "count", 0, help="one after the other, such as actions of a robot"),
        Setting("batch", "Samples of a turn", "count", 1),
        Setting("precision", "Precision", "choice", "fp16", choices=_PRECISIONS),
        Setting("group", "Accelerators", "selector", "gpus"),
        Setting("actuators", "Commands to", "selector", "", help="clients that get a command; empty for none"),
        Setting("command", "Command", "size", "1 kB"),
    ),
)
