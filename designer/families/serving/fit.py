"""What a replica holds on each device, the widths with which it fits, and the tokens that it has room for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.errors import AnalysisError
from designer.families.serving.deployment import Deployment
from designer.families.serving.drafting import Beside
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import FORMATS, NumberFormat
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.step_time import Split
from designer.families.serving.images import tower_size
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio, format_quantity
from designer.workload.shape import TransformerShape

#: ranks whose groups are tried where the smallest that fits is asked for
_TENSOR_LIMIT: Final = 8
#: formats stated where a model does not fit, the widest first: those that models are published in
_NARROWER: Final = ("fp8", "int4")
#: of the memory for keys and values that states of requests take at most; the slots of a release are fewer then
_STATE_SHARE: Final = Constant(0.5, 0.3, 0.6, "assumed-serving", Status.ASSUMED, "1", "mamba_full_memory_ratio 0.9")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A model in its formats on a device under a scheduler, with what runs on it as well."""

    shape: TransformerShape
    device: Device
    how: Scheduling
    weights: NumberFormat
    cache: NumberFormat
    beside: Beside

    def held(self, split: Split) -> Bytes:
        """Weights on the fullest device, copies of experts and what drafts with them [B]."""
        drafter, copies = self.beside.drafter, split.copies(self.shape.experts, self.beside.setup.redundant)
        own = weights_size(self.shape, self.weights, split.tensor, split.data, split.pipeline, copies, split.dense)
        own += tower_size(self.shape, split.tensor)
        return Bytes(own + (drafter.held(split.tensor, split.data) if drafter is not None else 0.0))

    def capacities(self, split: Split) -> tuple[int, int, int]:
        """Tokens that fit in a replica, in whole blocks, and the ends of that."""
        value, low, high = (
            self._tokens(split, end) // self.how.block * self.how.block for end in ("value", "high", "low")
        )
        return value, low, high

    def with_states(self, split: Split) -> Fit:
        """The same with no more slots than states of requests fit in their share of the memory."""
        state = kv_size(self.shape, split.tensor, Bytes(self.cache.size.value)).state / split.pipeline
        if not state:
            return self
        fits = int(_STATE_SHARE.value * max(0.0, self._room(split)) / state) * split.data
        return replace(self, how=replace(self.how, slots=max(split.data, min(self.how.slots, fits))))

    def _room(self, split: Split, end: str = "value") -> Bytes:
        """Memory that the weights leave [B]."""
        share = Ratio(self.how.memory_share)
        return kv_room(self.device.memory, share, self.held(split), split.devices, bool(self.shape.experts), end)

    def _tokens(self, split: Split, end: str = "value") -> int:
        """Tokens whose keys and values fit in a replica."""
        room = self._room(split, end)
        each = kv_size(self.shape, split.tensor, Bytes(self.cache.size.value))
        token = each.token or each.windowed_layer * each.windowed
        drafted = self.beside.token(split, self.cache)
        states = each.state / split.pipeline * self.how.slots / split.data
        room = Bytes(room - min(states, _STATE_SHARE.value * max(0.0, room)))
        return memory_capacity(room, Bytes(token / split.pipeline + drafted)) * split.data

    def split_for(self, network: Network, asked: Deployment, parts: npt.NDArray[np.int64], place: str) -> Split:
        """The widths asked for, with the smallest tensor width that fits where none is stated.

        Raises
        ------
        AnalysisError
            If the widths do not divide the model or the group, or it does not fit.
        """
        data, pipeline = max(1, asked.data), max(1, asked.pipeline)
        expert = max(1, asked.expert) if self.shape.experts else 1
        choices = self._tensor_widths(network, asked, parts, expert, place)
        # what fits by one account of what else is held, and not by the other, is no choice where there is a wider one
        sure = [end for end in ("high", "value") if end == "value" or not asked.tensor]
        for tensor, end in [(tensor, end) for end in sure for tensor in choices]:
            if self.shape.heads % tensor:
                raise AnalysisError(
                    f"{self.shape.heads} attention heads do not share out over {tensor} devices",
                    place=f"{place}.tensor",
                    remedy="choose a divisor of the number of heads",
                )
            if pipeline > self.shape.layers:
                raise AnalysisError(
                    f"{self.shape.layers} layers make no {pipeline} stages",
                    place=f"{place}.pipeline",
                    remedy="use fewer stages",
                )
            split = Split(tensor, data, pipeline, expert)
            if split.devices <= len(parts) and self._tokens(split, end) > 0:
                return split
        raise self._refusal(asked, Split(choices[-1], data, pipeline, expert), len(parts), place)

    def _tensor_widths(
        self, network: Network, asked: Deployment, parts: npt.NDArray[np.int64], expert: int, place: str
    ) -> list[int]:
        """Tensor widths to try, the smallest first."""
        data, pipeline = max(1, asked.data), max(1, asked.pipeline)
        if asked.tensor:
            choices = [asked.tensor]
        else:
            local = int(np.unique(network.island[parts], return_counts=True)[1].max())
            most = min(_TENSOR_LIMIT * max(1, local // _TENSOR_LIMIT), local, len(parts) // data // pipeline)
            widths = [2**k for k in range(max(1, most).bit_length())]
            choices = [width for width in widths if width <= most and self.shape.heads % width == 0]
        held = self.shape.experts + self.beside.setup.redundant
        if self.shape.experts and expert > held:
            raise AnalysisError(
                f"{held} experts do not share out over {expert} devices",
                place=f"{place}.expert",
                remedy=f"use a width of {self.shape.experts} at most, or add redundant experts",
            )
        wide = [tensor for tensor in choices if tensor * data % expert == 0]
        if choices and not wide:
            raise AnalysisError(
                f"an expert width of {expert} does not divide the {choices[-1] * data} devices that share a layer",
                place=f"{place}.expert",
                remedy="use a divisor of tensor x data, or 1 to cut every expert",
            )
        if not wide:
            raise AnalysisError(
                f"{data} x {pipeline} (data, pipeline) need more than the {len(parts)} accelerators of the group",
                place=place,
                remedy="use smaller widths or a larger group",
            )
        return wide

    def _refusal(self, asked: Deployment, split: Split, parts: int, place: str) -> AnalysisError:
        """Why no width fits."""
        if split.devices > parts:
            return AnalysisError(
                f"a replica needs {split.devices} accelerators, {asked.group!r} has {parts}",
                place=place,
                remedy="use smaller widths or a larger group",
            )
        on = f"each of {split.devices} devices" if split.devices > 1 else "one device"
        return AnalysisError(
            f"{self.shape.name} does not fit: {format_quantity(self.held(split), 'size')} of {asked.weights} weights "
            f"on {on} leave no room for keys and values in {format_quantity(self.device.memory, 'size')} at a "
            f"memory share of {self.how.memory_share:g}",
            place=place,
            remedy=f"use more devices for a replica, {self._narrower(split) or 'narrower weights'}, "
            "or parts with more memory",
        )

    def _narrower(self, split: Split) -> str:
        """The widest format narrower than that asked with which it fits and a device can count, in words; or none."""
        for form in (FORMATS[name] for name in _NARROWER if FORMATS[name].size.value < self.weights.size.value):
            try:
                self.device.runs_as(form)
            except AnalysisError:
                continue
            if replace(self, weights=form)._tokens(split) > 0:
                return f"{form.name} weights, with which it fits there (weights={form.name})"
        return ""
