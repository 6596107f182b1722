"""Throughput at most load where nothing was fitted: ``python -m tests.validation.serving.unseen``.

TensorRT-LLM 1.0 on B200 and RTX PRO 6000 in 4 bit, and a mixture of experts in 8 bit on H100 and H200. Only judged.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Final

from designer.families.serving.devices import with_kernels
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Release
from designer.families.serving.formulas.experts import INSIDE_SHARE, START
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.scheduler import run_requests
from designer.families.serving.spreads import WIDER, four_bit, release_spread
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.offline import ENOUGH
from tests.validation.serving.runs import DEVICES

FILE: Final = Path(__file__).parent / "unseen.json"
_B200: Final = {"bf16": 2250e12, "fp16": 2250e12, "fp8": 4500e12, "fp4": 9000e12}
_RTX: Final = {"bf16": 500e12, "fp16": 500e12, "fp8": 1000e12, "fp4": 2000e12}
#: data sheets, the same values the catalog has, and the link of a device one way [B/s]
SYSTEMS: Final[Mapping[str, tuple[Device, float]]] = {
    "H100": (replace(DEVICES["h100_sxm"], architecture="Hopper GH100"), 450e9),
    "H200": (replace(DEVICES["h200_sxm"], architecture="Hopper GH100"), 450e9),
    "B200": (Device("B200", _B200, 8e12, 180e9, 148, architecture="Blackwell GB100", part="gpu/nvidia/b200"), 900e9),
    "RTX PRO 6000": (
        Device(
            "RTX PRO 6000",
            _RTX,
            1.597e12,
            96e9,
            188,
            architecture="Blackwell GB202",
            part="gpu/nvidia/rtxpro6000-server",
        ),
        64e9,
    ),
}


@dataclass(frozen=True)
class Point:
    """One load of one layout, and the output tokens a second that were measured [1/s]."""

    system: str
    model: str
    weights: str
    tensor: int
    stages: int
    prompt: int
    output: int
    count: int
    measured: float

    @property
    def group(self) -> tuple[str, ...]:
        """System, model and layout."""
        return self.system, self.model, self.weights, f"{self.tensor} x {self.stages}"


@cache
def points() -> Sequence[Point]:
    """All loads of the file that were measured."""
    data = json.loads(FILE.read_text("utf-8"))
    names = ("system", "model", "weights", "tensor", "stages")
    return tuple(
        Point(*(one[name] for name in names), load["prompt"], load["output"], load["count"], value)
        for one in data["series"]
        for load, value in zip(data["loads"], one["tokens_per_second"], strict=True)
        if value is not None
    )


def _steps(system: str, name: str, weights: str, cache: str, split: Split) -> tuple[StepTime, Release]:
    """Steps of a model on a system under TensorRT-LLM 1.0."""
    chosen, (device, link) = release("tensorrt-llm", "1.0.0").release, SYSTEMS[system]
    device, shape = with_kernels(device, chosen.engine), model(name)
    assert isinstance(shape, TransformerShape)

    def reduce(size: float) -> float:
        return small_all_reduce(split.tensor, size, link)

    def sent(size: float) -> float:
        return 2 * size / link

    def dispatch(inside: float, between: float) -> float:
        return START.value + (inside + between) / (INSIDE_SHARE.value * link)

    joins = Joins(reduce, sent, lambda size: size / link, dispatch)
    formats = number_format(weights), number_format(cache)
    return StepTime(shape, device, split, *formats, chosen.overheads, joins), chosen


def predicted(point: Point) -> float:
    """Output tokens a second of the deployment [1/s]."""
    shape = model(point.model)
    assert isinstance(shape, TransformerShape)
    weights, stored = number_format(point.weights), number_format("fp8")
    # mixtures of experts are run with groups of attention that share whole experts, the page says
    tensor, data = (1, point.tensor) if shape.experts else (point.tensor, 1)
    split = Split(tensor, data, point.stages, data)
    steps, chosen = _steps(point.system, point.model, point.weights, "fp8", split)
    held = weights_size(shape, weights, tensor, data, point.stages, shared=split.dense)
    how = chosen.scheduling
    room = kv_room(steps.device.memory, how.memory_share, held, split.devices, bool(shape.experts))
    capacity = memory_capacity(room, kv_size(shape, tensor, stored.size.value).token / data / point.stages)
    count = min(point.count, ENOUGH)
    requests = Requests([point.prompt] * count, [point.output] * count, [0.0] * count)
    each = point.stages * data
    how = replace(how, budget=max(how.budget, point.prompt) * each, slots=how.slots * data)
    return count * point.output / run_requests(steps, requests, how, capacity, chosen.overheads.path).end


def band(point: Point) -> float:
    """80 % band of step times there: logarithm of the factor either way [1]."""
    return _band(point.system, point.model, point.weights)


def _band(system: str, name: str, weights: str) -> float:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    chosen = release("tensorrt-llm", "1.0.0").release
    device = with_kernels(SYSTEMS[system][0], chosen.engine)
    return math.hypot(release_spread(chosen, shape, weights, device), four_bit(device, number_format(weights)))


@dataclass(frozen=True)
class Wide:
    """DeepSeek on eight devices that attend to requests of their own and share whole experts, as a guide publishes it.

    Parameters
    ----------
    clients, slots, budget
        In all, and of the scheduler of each device.
    count
        Requests sent.
    measured
        Output tokens a second [1/s].
    """

    system: str
    weights: str
    cache: str
    clients: int
    slots: int
    budget: int
    count: int
    measured: float


#: TensorRT-LLM, best practice for DeepSeek-R1: 1,024 tokens in, 2,048 out, attention by requests, experts over eight;
#: of the runs on B200 the waves that its 114,688 and 49,152 requests repeat
GUIDE: Final = (
    Wide("H200", "fp8", "bf16", 1024, 128, 1151, 5120, 11489.27),
    Wide("B200", "nvfp4-experts", "bf16", 3072, 384, 1536, 12288, 36384.08),
    Wide("B200", "nvfp4-experts", "fp8", 7168, 896, 2048, 21504, 43146.20),
)
_GUIDE_LENGTHS: Final = (1024, 2048)


def wide(one: Wide) -> float:
    """Output tokens a second of a run of the guide [1/s]."""
    steps, chosen = _steps(one.system, "deepseek-v3", one.weights, one.cache, Split(1, 8, 1, 8))
    prompt, output = _GUIDE_LENGTHS
    how = replace(chosen.scheduling, slots=one.slots, budget=one.budget).of(8)
    requests = Requests([prompt] * one.count, [output] * one.count, clients=one.clients)
    room = one.clients * (prompt + output + chosen.scheduling.block)
    return one.count * output / run_requests(steps, requests, how, room, chosen.overheads.path).end


def guide_band(one: Wide) -> float:
    """80 % band of a run of the guide, with what groups of attention add: logarithm of the factor either way [1]."""
    return math.hypot(_band(one.system, "deepseek-v3", one.weights), WIDER.value)


@cache
def errors() -> Sequence[tuple[Point, float]]:
    """Logarithm of predicted over measured."""
    return [(point, math.log(predicted(point) / point.measured)) for point in points()]


def by_group() -> Mapping[tuple[str, ...], tuple[int, float, float, float]]:
    """Loads, median error and bias, and the share inside the band, by system, model and layout."""
    groups: dict[tuple[str, ...], list[tuple[float, bool]]] = {}
    for point, error in errors():
        groups.setdefault(point.group, []).append((error, abs(error) <= band(point)))
    return {
        name: (len(v), median(abs(e) for e, _ in v), median(e for e, _ in v), mean(i for _, i in v))
        for name, v in groups.items()
    }


def main() -> None:
    """Print the table."""
    for name, (n, error, bias, inside) in by_group().items():
        sys.stdout.write(f"{' '.join(name)} {n}: {error:.3f}/{bias:+.3f}, inside {inside:.2f}\n")
    for one in GUIDE:
        sys.stdout.write(f"{one.system} {one.clients} clients: {wide(one):.0f}, measured {one.measured:.0f}\n")


if __name__ == "__main__":
    main()
