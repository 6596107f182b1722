"""An own image network as a list of layers: counted into the totals that times of image networks follow from."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from designer.errors import ExchangeError
from designer.units import Flop, Ratio
from designer.workload.shape import LARGEST, ConvolutionalShape

_KINDS: Final = ("convolution", "dense", "pool")
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "convolution": frozenset({"convolution", "kernel", "stride", "groups", "side", "times"}),
    "dense": frozenset({"dense", "times"}),
    "pool": frozenset({"pool"}),
}
#: convolutions that algorithms with fewer operations exist for have this kernel and stride 1
_SPATIAL_KERNEL: Final = 3
#: layers and repetitions of one that are read
_LAYERS_LIMIT: Final = 10_000
_SAMPLE: Final = re.compile(r"[1-9]\d{0,4}x([1-9]\d{0,4})x([1-9]\d{0,4})")
_EXAMPLE: Final = '{"convolution": [64, 128], "kernel": 3, "stride": 2}, {"pool": 2} or {"dense": [2048, 1000]}'


@dataclass(slots=True)
class _Counter:
    """What the layers so far add up to; `height` and `width` are those of what the next one takes in."""

    height: int
    width: int
    layers: int = 0
    parameters: int = 0
    products: int = 0
    spatial: int = 0
    activations: int = 0
    at: str = field(default="layers")

    def add(self, layer: Mapping[str, object]) -> None:
        """Count one layer."""
        kind = next((one for one in _KINDS if one in layer), None)
        if kind is None:
            raise self.wrong("a layer of no known kind", f"write {_EXAMPLE}")
        if unknown := sorted(layer.keys() - _KEYS[kind]):
            raise self.wrong(f"{unknown[0][:40]!r} is nothing of a {kind} layer", f"use {', '.join(_KEYS[kind])}")
        if kind == "pool":
            self._shrink(self._number(layer, "pool", 1))
            return
        times = self._number(layer, "times", 1)
        if kind == "dense":
            inner, columns = self._pair(layer, "dense")
            self._count(times, inner * columns, columns, places=1)
            return
        inner, columns = self._pair(layer, "convolution")
        kernel, stride, groups = (self._number(layer, name, 1) for name in ("kernel", "stride", "groups"))
        if inner % groups or columns % groups:
            raise self.wrong(f"{inner} and {columns} channels do not divide by {groups} groups", "correct groups")
        if "side" in layer:
            self.height = self.width = self._number(layer, "side", 1)
        self._shrink(stride)
        places = self.height * self.width
        own = kernel * kernel * inner // groups * columns
        self._count(times, own, columns, places)
        if kernel == _SPATIAL_KERNEL and stride == 1:
            self.spatial += times * own * places

    def _count(self, times: int, own: int, columns: int, places: int) -> None:
        self.layers += times
        self.parameters += times * (own + columns)
        self.products += times * own * places
        self.activations += times * columns * places

    def _shrink(self, stride: int) -> None:
        self.height, self.width = math.ceil(self.height / stride), math.ceil(self.width / stride)

    def _number(self, layer: Mapping[str, object], name: str, default: int) -> int:
        value = layer.get(name, default)
        most = _LAYERS_LIMIT if name == "times" else LARGEST
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise self.wrong(f"{name} is {str(value)[:40]}", f"give a whole number from 1 to {most:,}")
        return value

    def _pair(self, layer: Mapping[str, object], name: str) -> tuple[int, int]:
        pair = layer[name]
        if not isinstance(pair, list) or len(cast("list[object]", pair)) != 2:
            raise self.wrong(f"{name} is {str(pair)[:40]}", "give what comes in and what goes out: [64, 128]")
        both = [self._number({name: one}, name, 1) for one in cast("list[object]", pair)]
        return both[0], both[1]

    def wrong(self, text: str, remedy: str) -> ExchangeError:
        """An error at the layer that is counted."""
        return ExchangeError(text, place=self.at, remedy=remedy)


def network_of_layers(data: Mapping[str, object], name: str = "") -> ConvolutionalShape:
    """The image network of a JSON object: ``name``, ``sample`` such as ``3x224x224``, and ``layers``.

    A convolution puts out side ÷ stride places; ``side`` states the side of what it takes in where that is not what the
    layer before it puts out, as in a branch; ``times`` repeats a layer. Arithmetic is places x kernel² x in ÷ groups x
    out multiply-adds; parameters have a bias for each channel that goes out.

    Raises
    ------
    ExchangeError
        If a layer is of no known kind, or one of its numbers is impossible; names the layer.
    """
    sample = str(data.get("sample", ""))
    sides = sample.split("x")
    if len(sides) != 3 or not all(one.isdigit() and len(one) < 6 and int(one) for one in sides):
        raise ExchangeError(
            f"sample is {sample[:40]!r}", place="sample", remedy="give channels, height and width: 3x224x224"
        )
    counted = _Counter(int(sides[1]), int(sides[2]))
    layers = cast("Sequence[object]", data["layers"])
    if not 1 <= len(layers) <= _LAYERS_LIMIT:
        raise counted.wrong(f"{len(layers)} layers", f"give 1 to {_LAYERS_LIMIT:,}")
    for place, layer in enumerate(layers):
        counted.at = f"layers[{place}]"
        if not isinstance(layer, dict):
            raise counted.wrong("a layer that is no object", f"write {_EXAMPLE}")
        counted.add(cast("Mapping[str, object]", layer))
    if not counted.layers:
        raise counted.wrong("nothing but pools", f"write {_EXAMPLE}")
    return ConvolutionalShape(
        name or str(data.get("name", "own network"))[:80],
        counted.layers,
        counted.parameters,
        Flop(2.0 * counted.products),
        counted.activations,
        sample,
        Ratio(counted.spatial / counted.products),
    )
