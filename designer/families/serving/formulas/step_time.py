"""One step of a serving engine: the kernels of all layers, what joins the devices, and what the engine adds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import MEASURED, NARROW_UNIT_RATE, UNIT_RATE, perfect
from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.families.serving.formulas._release import Overheads
from designer.families.serving.formulas._terms import NUMBERS, Slower, Terms
from designer.families.serving.formulas.experts import (
    LOW_LATENCY_LIMIT,
    UNITS,
    Copies,
    ExpertSetup,
    busiest_rank,
    dispatched,
    expert_copies,
    experts_touched,
    gathered,
    gathered_sizes,
    gathers,
)
from designer.families.serving.formulas.gemm_law import gemm_parts
from designer.families.serving.formulas.kernel_table import AttentionFit, Experts, ExpertShape, Products
from designer.families.serving.formulas.layers import (
    DECODE_FLOOR,
    PREFILL_FLOOR,
    attention_decode,
    attention_prefill,
    elementwise,
    state_decode,
    state_prefill,
    state_work,
)
from designer.families.serving.formulas.memory import KvSize, kv_size
from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.units import Bytes, Flop, Ratio, Seconds

#: steps of more tokens than this are worked out on a grid, so that few are worked out at all
_EXACT_LIMIT: Final = 512
_GRID_LIMIT: Final = 16
#: values between the products are of 16 bit
_HALF_SIZE: Final = Bytes(number_format("bf16").size.value)

#: time of joining partial results of so many bytes between the devices of a group [B] → [s], or terms of it
Joining = Callable[[Bytes], Any]
#: time of one kernel that sends so many bytes inside its server, and over the network [B], [B] → [s], or terms of it
Sending = Callable[[Bytes, Bytes], Any]


def no_joining(size: Bytes) -> Seconds:
    """One device has nothing to join [s]."""
    del size
    return Seconds(0.0)


def no_sending(inside: Bytes, between: Bytes) -> Seconds:
    """Devices that hold all experts send no tokens [s]."""
    del inside, between
    return Seconds(0.0)


#: experts as chance has them, without copies, one batch a step
EVEN: Final = ExpertSetup()


@dataclass(frozen=True, slots=True)
class Split:
    """How a replica spreads over devices.

    Parameters
    ----------
    tensor
        Devices that share attention heads.
    data
        Such groups that share the feed-forward layers and experts, each with its own requests.
    pipeline
        Stages of layers.
    expert
        Devices each expert layer is shared over by whole experts; 1: every expert is cut.
    """

    tensor: int = 1
    data: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def devices(self) -> int:
        """Of one replica."""
        return self.tensor * self.data * self.pipeline

    @property
    def sends_tokens(self) -> bool:
        """True if groups of attention share whole experts: tokens go to them, and dense layers stay in their group."""
        return self.data > 1 and self.expert > 1

    @property
    def dense(self) -> int:
        """Devices that share the layers without experts, and the experts that all tokens use."""
        return self.tensor if self.sends_tokens else self.tensor * self.data

    def copies(self, experts: int, redundant: int = 0) -> float:
        """Experts the fullest device has room for, over its even share of those there are [1]."""
        return math.ceil((experts + redundant) / self.expert) * self.expert / experts if experts else 1.0


@dataclass(frozen=True, slots=True)
class Joins:
    """What joins devices: all-reduce of attention and feed-forward, exchange between groups, hop between stages.

    Parameters
    ----------
    dispatch
        One kernel that sends tokens between groups that share whole experts, by what a device sends.
    servers
        Servers that the devices of a replica are spread over.
    """

    reduce: Joining = no_joining
    exchange: Joining = no_joining
    hop: Joining = no_joining
    dispatch: Sending = no_sending
    servers: int = 1


class StepTime:
    """Times of steps of one model on one kind of device; every question is kept.

    Parameters
    ----------
    cache
        Format of keys and values.
    adapters
        Rank of low-rank adapters next to every product; 0 for none.
    terms
        What times are added up from: seconds, or terms that keep resources apart. Joins are then of the same.
    """

    def __init__(
        self,
        shape: TransformerNumbers,
        device: Device,
        split: Split,
        weights: NumberFormat,
        cache: NumberFormat,
        overheads: Overheads,
        joins: Joins,
        adapters: int = 0,
        terms: Terms = NUMBERS,
        setup: ExpertSetup = EVEN,
    ) -> None:
        self.setup = setup
        self.terms = terms = terms if overheads.slower == 1.0 else Slower(terms, overheads.slower)
        self._longest, self._shortest = terms.longest, terms.least
        self.shape, self.device, self.split, self.weights = shape, device, split, weights
        self.overheads, self.joins, self.adapters = overheads, joins, adapters
        self._stored = cache
        self.kv: KvSize = kv_size(shape, split.tensor, Bytes(cache.size.value))
        kernels = device.kernels
        self._half = (kernels.compute, kernels.memory, kernels.floor)
        self._narrow = (kernels.narrow_compute, kernels.narrow_memory, kernels.narrow_floor)
        # scales fixed beforehand cost no pass over the values; no product gets nearer its peak than in 16 bit
        share = Ratio(max(kernels.narrow_compute, min(kernels.compute, overheads.narrow * kernels.narrow_compute)))
        self._eight = (share, kernels.narrow_memory, kernels.narrow_floor)
        self._grouped = (kernels.grouped_compute, kernels.grouped_memory, kernels.grouped_floor)
        if weights.size.value < 1 and device.runs_as(weights) != "fp4":
            # 4 bit on a device without: experts are unpacked while they are multiplied
            share = Ratio(min(kernels.compute, overheads.unpacked * kernels.expert_compute))
            self._grouped = (share, kernels.expert_memory, kernels.expert_floor)
        self._base = number_format(weights.dense) if weights.dense else weights
        self._known: dict[int, Any] = {}
        self._forget()
        self._heads: dict[int, Any] = {}
        self._decode: dict[int, Any] = {}
        self._extra: dict[int, tuple[Any, Any]] = {}
        #: of steps with prompts, by their tokens: layers, and the least they take
        self._mixed: dict[int, tuple[Any, Any, Any]] = {}
        self._sends = bool(shape.experts) and split.sends_tokens
        self._choose_tables()
        self._groups = split.data
        self._spread = split.data * split.pipeline
        self._attend()
        self._prefill_factor = overheads.prefill_factor
        self._least = terms.arithmetic(self._least_token())
        read, read_expert = self._least_read()
        self._read, self._read_expert = terms.memory(read), terms.memory(read_expert) if read_expert else 0.0
        one = elementwise(1.0, shape.hidden, _HALF_SIZE, device.bandwidth, kernels.elementwise)
        self._between = terms.memory(shape.layers * one / self._spread)

    def _forget(self) -> None:
        #: tokens sent to experts and back, by tokens of a step and whether it holds prompts
        self._sent: dict[tuple[int, bool], Any] = {}
        #: routed experts of all layers, by tokens
        self._routed_by: dict[int, Any] = {}

    def _attend(self) -> None:
        """What attention and states take: for each request, token, pair of tokens, and fixed."""
        shape, device, split, terms, overheads = self.shape, self.device, self.split, self.terms, self.overheads
        heads = shape.heads / split.tensor
        decode = self._fit(prompts=False)
        prefill = self._fit(prompts=True)
        #: decode attention, per cached token and step, all layers that keep everything [s]
        read = self.kv.full * self.kv.read if shape.selected_tokens else self.kv.token
        self.per_context = read / (decode.share * device.bandwidth)
        head_size = (shape.head_dim + shape.value_head_dim) / 2
        if shape.kv_rank and shape.selected_tokens:
            # selected tokens are looked at in their compressed form
            head_size = (2 * shape.kv_rank + shape.rope_dim) / 2
        one = attention_prefill(1.0, heads, head_size, device.half, Ratio(prefill.share))
        #: layers that look at some tokens alone: windows, and selected ones
        self._limited = ((self.kv.windowed, self.kv.windowed_layer, self.kv.window),)
        #: prefill attention, per pair of tokens, all layers that keep everything [s]
        self.per_pair = one * self.kv.full * (1 if shape.causal else 2)
        if shape.selected_tokens:
            self._limited += ((self.kv.full, self.kv.layer - self.kv.read, shape.selected_tokens),)
            self.per_pair = self._index_pair() * self.kv.full
        self._limited = tuple((n, size, window) for n, size, window in self._limited if n)
        self._pairs_limited = [
            (terms.arithmetic(one * n / split.data / split.pipeline), float(window)) for n, _, window in self._limited
        ]
        self._decode_share = Ratio(decode.share)
        attend, states = shape.attention_layers, shape.state_layers
        self._attention_floor = terms.launches(attend * decode.floor + states * DECODE_FLOOR.value)
        self._context = terms.memory(self.per_context / self._spread)
        self._pairs = terms.arithmetic(self.per_pair / self._spread)
        own = shape.layers * overheads.layer + overheads.step
        self._fixed = self._attention_floor + terms.engine(own)
        floors = attend * prefill.floor + states * PREFILL_FLOOR.value
        prompts = overheads.prefill_step
        if shape.experts:
            prompts += overheads.expert_prompts * math.log2(split.devices)
        self._fixed_prompts = terms.launches(floors) + terms.engine(own + prompts)
        self._seen = terms.arithmetic(overheads.seeing) if overheads.seeing else None
        self._request = terms.engine(overheads.request) + terms.memory(attend * decode.each / split.pipeline)
        self._token = terms.memory(attend * prefill.each / self._spread)
        if states:
            self._request += terms.memory(state_decode(self.kv.state, device.bandwidth) / split.pipeline)
            one = state_prefill(Flop(state_work(shape) / split.tensor), device.half)
            self._token += terms.arithmetic(states * one / self._spread)

    def _choose_tables(self) -> None:
        """Measured times of the formats of this model on the device, and the device they were measured on."""
        table = self.device.table
        self._products: dict[str, Products] = {}
        self._experts: Experts | None = None
        self._fitted = self.device.architecture in MEASURED
        self._measured, self._same = self.device, True
        if table is None:
            return
        sheet = table.sheet
        self._measured = replace(self.device, flops=sheet.flops, bandwidth=sheet.bandwidth, units=sheet.units)
        self._same = (
            self.device.bandwidth == sheet.bandwidth
            and self.device.units == sheet.units
            and all(self.device.flops.get(name) == rate for name, rate in sheet.flops.items())
        )
        for how in {
            self._base.name: self._base,
            self.weights.name: self.weights,
            "bf16": number_format("bf16"),
        }.values():
            found = next((name for name in self._table_names(how) if name in table.products), None)
            if found is not None and self._runs_at_same_rate(how):
                self._products[how.name] = table.products[found]
        found = next((name for name in self._table_names(self.weights) if name in table.experts), None)
        if found is not None and self.shape.experts:
            self._experts = table.experts[found]

    def _runs_at_same_rate(self, how: NumberFormat) -> bool:
        """Whether the measured device runs a format at the same rate as this one, so that laws carry over."""
        return self._measured.flops.get(self.device.runs_as(how), 0.0) > 0

    def _table_names(self, how: NumberFormat) -> tuple[str, ...]:
        """Names a format may have in a table, the best first."""
        name = how.kernels
        if name in ("bf16", "fp16"):
            return ("bf16",)
        if name == "fp8":
            # models with latent attention are published with a scale for each block of 128 x 128 weights
            if self.shape.kv_rank:
                return ("fp8-block", "fp8")
            # scales fixed beforehand cost no pass over the values
            return ("fp8-static", "fp8") if self.overheads.narrow > 1 else ("fp8", "fp8-block")
        if name == "mxfp4":
            # unpacked while they are multiplied: whole runs, which fitted the law, are a fifth faster than tables
            return ("mxfp4", "mxfp4-bf16") if self.device.runs_as(how) == "fp4" else ()
        return (name,) if name != "nvfp4" or self.device.runs_as(how) == "fp4" else ()

    def _fit(self, prompts: bool) -> AttentionFit:
        """Attention of one layer, as measured where it was, else as the shares of the generation say."""
        kernels, shape = self.device.kernels, self.shape
        law = AttentionFit(kernels.decode_floor, 0.0, kernels.prefill if prompts else kernels.decode)
        if self.device.table is None:
            return law
        cells = self.device.table.prefill if prompts else self.device.table.decode
        heads = shape.heads / self.split.tensor
        if shape.kv_rank:
            size = shape.head_dim + shape.value_head_dim if prompts else shape.kv_rank + shape.rope_dim
            found = cells.at(heads, 0, size, Bytes(self._stored.size.value))
        else:
            shared = max(1.0, shape.kv_heads / self.split.tensor)
            found = cells.at(heads, shared, (shape.head_dim + shape.value_head_dim) / 2, Bytes(self._stored.size.value))
        if found is None:
            return law
        if math.isnan(found.floor):
            return AttentionFit(law.floor, law.each, min(1.0, found.share))
        return replace(found, share=min(1.0, found.share))

    def _least_token(self) -> float:
        """Products of one token of a prompt at the share of the peak that the largest reach [s]."""
        shape = self.shape
        dense = shape.attention_layers * shape.attention_parameters + shape.dense_layers * shape.dense_parameters
        dense += shape.state_layers * shape.state_parameters
        routed = shape.experts_per_token * shape.expert_parameters + shape.moe_common_parameters
        active = dense + (shape.moe_layers * routed if shape.moe_layers else 0)
        if shape.kv_rank:
            # latent attention folds some of its products into others
            active -= shape.attention_layers * shape.attention_parameters
        device = self.device
        peak = max(device.flops[device.runs_as(how)] for how in (self._base, self.weights))
        share = 1.0 if device.table is not None else device.kernels.compute
        return 2 * active / self.split.devices / (share * peak)

    def _least_read(self) -> tuple[float, float]:
        """Reading the weights that every token needs, and those of one expert in all layers, as kernels do [s]."""
        shape, split = self.shape, self.split
        spread = split.tensor * split.data
        dense = shape.attention_layers * shape.attention_parameters / split.tensor
        dense += shape.state_layers * shape.state_parameters / split.tensor
        dense += shape.dense_layers * shape.dense_parameters / split.dense
        dense += shape.moe_layers * shape.moe_common_parameters / split.dense if shape.moe_layers else 0.0
        narrow = self._base.narrow and self.device.runs_as(self._base) in ("fp8", "int8", "fp4")
        rate = self.device.bandwidth * split.pipeline
        read = (
            0.0
            if shape.kv_rank
            else dense * self._base.size.value / ((self._narrow if narrow else self._half)[1] * rate)
        )
        held = shape.moe_layers * shape.expert_parameters / spread * self.weights.size.value if shape.experts else 0.0
        return read, held / (self._grouped[1] * rate)

    def ideal(self) -> StepTime:
        """The same where kernels reach all of the data sheet and engine and links take no time: nothing is faster."""
        device = replace(self.device, kernels=perfect(self.device.kernels), table=None)
        nothing = Overheads(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
        return StepTime(
            self.shape,
            device,
            self.split,
            self.weights,
            self._stored,
            nothing,
            Joins(),
            self.adapters,
            setup=self.setup,
        )

    def _gemm(self, rows: float, columns: float, inner: float, how: NumberFormat) -> Any:
        if rows <= 0:
            return 0.0
        law = self._gemm_law(self.device, rows, columns, inner, how, self.terms)
        found = self._products.get(how.name)
        if found is None:
            return law
        time, at = found.at(rows, columns, inner)
        mine = self._gemm_law(self.device, rows, columns, inner, how, NUMBERS)
        if not (self._same and at == (rows, columns, inner)):
            time *= mine / self._gemm_law(self._measured, *at, how, NUMBERS)
        if self._fitted:
            # runs of whole models come no nearer to the peak than the law, which was fitted on them
            share = (self._eight if how.narrow else self._half)[0]
            time = max(time, 2 * rows * columns * inner / (share * self.device.flops[self.device.runs_as(how)]))
        return time * law / mine

    def _gemm_law(
        self, device: Device, rows: float, columns: float, inner: float, how: NumberFormat, terms: Terms
    ) -> Any:
        runs = device.runs_as(how)
        narrow = how.narrow and runs in ("fp8", "int8", "fp4")
        kernels = device.kernels
        law = (self._narrow if runs == "fp4" else self._eight) if narrow else self._half
        compute, memory = gemm_parts(
            rows,
            columns,
            inner,
            Bytes(how.size.value),
            Bytes(how.size.value) if narrow else _HALF_SIZE,
            device.flops[runs],
            device.bandwidth,
            device.units,
            law,
            self._half_length(device, runs, narrow),
        )
        return terms.kernel(law[2], compute, memory, kernels.sharpness)

    @staticmethod
    def _half_length(device: Device, runs: str, narrow: bool) -> float:
        """Inner length at which half the share of the peak is lost: never shorter than where it was measured [1]."""
        measured = (NARROW_UNIT_RATE if narrow else UNIT_RATE).value
        return device.kernels.inner * max(1.0, device.flops[runs] / device.units / measured)

    def _attention_products(self, rows: float) -> Any:
        shape, base = self.shape, self._base
        heads = shape.heads / self.split.tensor
        half = number_format("bf16")
        out = self._output_products(rows, heads * shape.value_head_dim)
        if not shape.kv_rank:
            keys = max(1.0, shape.kv_heads / self.split.tensor) * (shape.head_dim + shape.value_head_dim)
            if shape.q_rank:
                out += self._gemm(rows, heads * shape.head_dim, shape.q_rank, base)
            query = shape.q_rank or heads * shape.head_dim
            return self._gemm(rows, query + keys, shape.hidden, base) + out
        plain = shape.head_dim - shape.rope_dim
        down = shape.kv_rank + shape.rope_dim + (shape.q_rank or heads * shape.head_dim)
        time = self._gemm(rows, down, shape.hidden, base) + out
        if shape.q_rank:
            time += self._gemm(rows, heads * shape.head_dim, shape.q_rank, base)
        time += self._gemm(rows, heads * shape.kv_rank, plain, half)
        return time + self._gemm(rows, heads * shape.value_head_dim, shape.kv_rank, half)

    def _output_products(self, rows: float, width: float) -> Any:
        """The product behind attention, the gate of what goes into it, and those that select tokens [s]."""
        shape, base = self.shape, self._base
        if shape.out_rank:
            groups = max(1.0, shape.out_groups / self.split.tensor)
            out = groups * self._gemm(rows, shape.out_rank, width / groups, base)
            out += self._gemm(rows, shape.hidden, groups * shape.out_rank, base)
        else:
            out = self._gemm(rows, shape.hidden, width, base)
        if shape.attention_gate:
            out += self._gemm(rows, width, shape.hidden, base)
        if shape.selected_tokens:
            # every device selects for itself
            out += self._gemm(rows, shape.index_heads * shape.index_dim, shape.q_rank or shape.hidden, base)
            out += self._gemm(rows, shape.index_dim + shape.index_heads, shape.hidden, base)
        return out

    def _index_pair(self) -> float:
        """What selecting takes for a pair of tokens, in one layer, in 8 bit where the device has it [s]."""
        device = self.device
        peak = device.flops[device.runs_as(number_format("fp8"))]
        return 2 * self.shape.index_heads * self.shape.index_dim / (device.kernels.narrow_compute * peak)

    def _mixers(self, rows: float, size: Bytes) -> Any:
        """Products of all layers that attend or keep a state, and joining what comes out of them [s]."""
        shape, tensor = self.shape, self.split.tensor
        join = self.joins.reduce(size)
        one = self._attention_products(rows)
        windowed = shape.windowed_layers if shape.windowed_parameters else 0
        time = (shape.attention_layers - windowed) * (one + join)
        if windowed:
            time += windowed * (one * (shape.windowed_parameters / shape.attention_parameters) + join)
        if shape.state_layers:
            one = self._gemm(rows, shape.state_inputs / tensor, shape.hidden, self._base)
            one += self._gemm(rows, shape.hidden, shape.state_outputs / tensor, self._base)
            time += shape.state_layers * (one + join)
        return time

    def _feed_forward(self, rows: float, width: float) -> Any:
        shape, base = self.shape, self._base
        first = (2 if shape.gated else 1) * width
        return self._gemm(rows, first, shape.hidden, base) + self._gemm(rows, shape.hidden, width, base)

    def _own_experts(self) -> ExpertShape:
        """Routed experts of a layer as they are shared."""
        shape, split = self.shape, self.split
        cut = max(1, split.tensor * split.data // split.expert)
        return ExpertShape(
            shape.expert_width, shape.expert_ffn, shape.experts_per_token, shape.experts, cut, split.expert
        )

    def _expert_layer(self, tokens: float) -> Any:
        """Routed and shared experts of one layer, for the tokens of all groups together [s]."""
        shape = self.shape
        time = self._routed_experts(self._own_experts(), tokens)
        time += self._gemm(tokens / self.split.data, shape.experts, shape.hidden, number_format("bf16"))
        if shape.expert_hidden:
            # to the width of the experts and back, whole on every device
            rows = tokens / self.split.data
            time += self._gemm(rows, shape.expert_hidden, shape.hidden, self._base)
            time += self._gemm(rows, shape.hidden, shape.expert_hidden, self._base)
        if shape.shared_ffn:
            time += self._feed_forward(tokens / self.split.data, shape.shared_ffn / self.split.tensor)
        # what surrounds the experts (routing, permutation, the sum with shared experts) is in no table
        return time + self.terms.engine(self.overheads.expert_layer)

    def _routed_experts(self, wanted: ExpertShape, tokens: float) -> Any:
        """Routed experts of one layer [s]: as measured at shapes near it, carried over by the law."""
        found, law = self._experts, self._routed_law(self.device, wanted, tokens, self.terms, self.setup)
        if found is None:
            return law
        mine = self._routed_law(self.device, wanted, tokens, NUMBERS, self.setup)
        log = 0.0
        for near, weight in found.nearest(wanted):
            time, at = found.time(near, tokens)
            if not (self._same and near == wanted and at == tokens and self.setup == EVEN):
                time *= mine / self._routed_law(self._measured, near, at, NUMBERS)
            log += weight * math.log(time)
        # as products do, these reach no more in runs of whole models than the law has them reach
        compute, memory = self._routed_parts(self.device, wanted, tokens, self.setup)
        return max(math.exp(log), compute, memory * self._grouped[1]) * law / mine

    def _routed_law(
        self, device: Device, layer: ExpertShape, tokens: float, terms: Terms, setup: ExpertSetup = EVEN
    ) -> Any:
        """Grouped products of the busiest device, which has more tokens and touches more of its experts [s]."""
        parts = self._routed_parts(device, layer, tokens, setup)
        return terms.kernel(self._grouped[2], *parts, device.kernels.sharpness)

    def _routed_parts(
        self, device: Device, layer: ExpertShape, tokens: float, setup: ExpertSetup
    ) -> tuple[float, float]:
        """Arithmetic and memory traffic of them [s]."""
        share, read, _ = self._grouped
        matrices = 1 + 2 if self.shape.gated else 2
        spread = layer.cut * layer.spread
        busiest = busiest_rank(layer.experts, layer.chosen, tokens, layer.spread, setup)
        copies = math.ceil((layer.experts + setup.redundant) / layer.spread) * layer.spread / layer.experts
        touched = copies * experts_touched(layer.experts, layer.chosen, tokens * busiest / copies)
        runs = device.runs_as(self.weights)
        one = matrices * layer.hidden * layer.inner / spread
        routed = tokens * layer.chosen * busiest
        compute = 2 * routed * one / (share * device.flops[runs]) * self._drain_factor(device, layer, runs)
        moved = touched * one * self.weights.size.value
        moved += routed * (2 * layer.hidden / spread + matrices * layer.inner / spread) * _HALF_SIZE
        return compute, moved / (read * device.bandwidth)

    def _drain_factor(self, device: Device, layer: ExpertShape, runs: str) -> float:
        """What grouped products take longer where multiprocessors are quicker than those that were measured [1]."""
        longer = self._half_length(device, runs, runs in ("fp8", "int8", "fp4")) - device.kernels.inner
        before = 2 if self.shape.gated else 1
        return 1 + longer * (before / layer.hidden + layer.cut / layer.inner) / (before + 1)

    def _exchange(self, tokens: int, prompts: bool) -> Any:
        """Tokens of a step to the devices of their experts and back, all layers, as the busiest sends them [s]."""
        shape, split = self.shape, self.split
        known = self._sent.get((tokens, prompts))
        if known is None:
            rows = tokens / split.data / split.pipeline / (2 if self.setup.overlap else 1)
            sent, copies, sizes = self._copies(rows, tokens, prompts)
            known = 0.0
            for size in sizes:
                known += self.joins.dispatch(Bytes(sent * copies.inside * size), Bytes(sent * copies.between * size))
            known = self._sent[tokens, prompts] = known * shape.moe_layers * (2 if self.setup.overlap else 1)
        return known

    def _copies(self, rows: float, tokens: int, prompts: bool) -> tuple[float, Copies, tuple[Bytes, Bytes]]:
        """Tokens that the busiest device sends of its `rows`, copies of each, and bytes there and back [B]."""
        shape, split, servers = self.shape, self.split, self.joins.servers
        each = max(1, split.tensor * split.data // servers)
        if gathers(split.expert, shape.experts_per_token):
            return rows / split.tensor, gathered(each, servers), gathered_sizes(shape.expert_width, self.weights)
        chosen = shape.experts, shape.experts_per_token
        copies = expert_copies(
            *chosen,
            split.expert,
            servers,
            each,
            shape.token_groups,
            low_latency=not prompts and rows <= LOW_LATENCY_LIMIT.value,
        )
        # an expert that is cut is on several devices, each of which needs the token
        cut = split.tensor * split.data / split.expert
        busiest = busiest_rank(*chosen, tokens / split.pipeline, split.expert, self.setup)
        narrow = self._base.narrow or self.weights.size.value <= 1
        return rows / split.tensor * cut * busiest, copies, dispatched(shape.expert_width, narrow)

    def _with_exchange(self, time: Any, tokens: int, prompts: bool) -> Any:
        """A step that computes for so long, with its tokens sent to experts: after one another, or overlapped [s]."""
        if not self._sends:
            return time
        sent = self._exchange(tokens, prompts)
        if not self.setup.overlap:
            return time + sent
        # kernels of prompts take multiprocessors from what is computed meanwhile, those of decoding leave it to the NIC
        taken = UNITS.value / self.device.units if prompts else 0.0
        return self._longest(time + sent * taken, sent) if taken else self._longest(time, sent)

    def _layers(self, tokens: float) -> Any:
        if self.setup.overlap and self._sends:
            return 2 * self._batch(tokens / 2)
        return self._batch(tokens)

    def _batch(self, tokens: float) -> Any:
        """All layers for a batch of tokens, but for sending them to experts [s]."""
        shape, split = self.shape, self.split
        # stages work on different batches at once, groups of attention on different requests
        rows = tokens / split.data / split.pipeline
        together = tokens / split.pipeline
        size = Bytes(rows * shape.hidden * _HALF_SIZE)
        share = self.device.kernels.elementwise
        between = self.terms.memory(elementwise(rows, shape.hidden, _HALF_SIZE, self.device.bandwidth, share))
        joined: Any = self.joins.reduce(size)
        if split.data > 1 and not self._sends:
            joined = self.joins.exchange(Bytes(together * shape.hidden * _HALF_SIZE))
        dense = shape.dense_layers
        time = self._mixers(rows, size) + shape.layers * between
        if dense:
            one = rows if self._sends else together
            time += dense * (joined + self._feed_forward(one, shape.ffn / split.dense))
        if shape.moe_layers:
            # what comes back from the experts is whole
            time += shape.moe_layers * (self._expert_layer(together) + (0.0 if self._sends else joined))
        if self.adapters:
            pair = self._gemm(rows, self.adapters, shape.hidden, number_format("bf16"))
            time += shape.layers * 2 * 2 * pair
        return time + (split.pipeline - 1) * self.joins.hop(size)

    def tokens(self, tokens: int, sampled: int) -> Seconds:
        """Products, elementwise work and joins of a step of `tokens`, `sampled` of which give a new one [s]."""
        return Seconds(self._with_exchange(self._tokens(tokens, sampled), tokens, sampled < tokens))

    def _tokens(self, tokens: int, sampled: int) -> Any:
        return self._between_known(tokens) + self._head(sampled)

    def _head(self, sampled: int) -> Any:
        """The product that gives so many tokens [s]."""
        head = self._heads.get(sampled)
        if head is None:
            rows = sampled / self.split.data / self.split.pipeline
            columns = self.shape.vocabulary / self.split.tensor
            head = self._heads[sampled] = self._gemm(rows, columns, self.shape.hidden, number_format("bf16"))
        return head

    def _between_known(self, tokens: int) -> Any:
        """All layers for so many tokens; tiles are many times wider than the grid, between its points lie lines [s]."""
        if tokens <= _EXACT_LIMIT:
            return self._layers_at(tokens)
        past = tokens % _GRID_LIMIT
        low = tokens - past
        return self.terms.between(self._layers_at(low), self._layers_at(low + _GRID_LIMIT), past / _GRID_LIMIT)

    def _mixed_of(self, together: int) -> tuple[Any, Any, Any]:
        """Of a step of so many tokens that holds prompts: its layers, and what it takes at least [s].

        A factor below 1 was fitted on short prompts: long ones come no nearer to the peak than the largest products,
        nor are weights read, or values passed on between products, faster by it.
        """
        peak, bound = together * self._least, None
        if self._prefill_factor < 1:
            read = self._read
            if self._read_expert:
                read += self._read_expert * experts_touched(self.shape.experts, self.shape.experts_per_token, together)
            bound = self._longest(read, peak) + together * self._between
        known = self._mixed[together] = self._between_known(together), peak, bound
        return known

    def _layers_at(self, tokens: int) -> Any:
        known = self._known.get(tokens)
        if known is None:
            known = self._known[tokens] = self._layers(tokens)
        return known

    def _windows(self, requests: float) -> Any:
        """Reading the windows and the selected tokens of running requests [s]."""
        read = sum(n * size * window for n, size, window in self._limited) * requests / self.split.data
        if not read:
            return 0.0
        return self.terms.memory(attention_decode(Bytes(read), self.device.bandwidth, self._decode_share, Seconds(0.0)))

    def decode(self, requests: int) -> Seconds:
        """A step in which all requests decode, but for what grows with their context [s]."""
        known = self._decode.get(requests)
        if known is None:
            known = self._tokens(requests, requests) + self._fixed + self._windows(requests)
            known = self._with_exchange(known + self._requests(requests), requests, prompts=False)
            self._decode[requests] = known
        return Seconds(known)

    def _requests(self, requests: int) -> Any:
        """What the engine adds for requests: groups of attention have a scheduler each, which work at once [s]."""
        return self._request * -(-requests // self._groups)

    def uneven(self, full: int, tokens: int) -> Seconds:
        """What experts take less for `tokens` than for as many in every group as in the fullest one [s].

        A step lasts as long as its fullest group of attention, while experts have the tokens of all.
        """
        if not self.shape.experts or tokens >= full:
            return Seconds(0.0)
        return Seconds(self._all_routed_experts(full) - self._all_routed_experts(tokens))

    def _all_routed_experts(self, tokens: int) -> Any:
        """Routed experts of all layers for so many tokens, at most a step on the grid more [s]."""
        if tokens > _EXACT_LIMIT:
            tokens = -(-tokens // _GRID_LIMIT) * _GRID_LIMIT
        known = self._routed_by.get(tokens)
        if known is None:
            known = self._routed_by[tokens] = self.shape.moe_layers * self._routed_experts(
                self._own_experts(), tokens / self.split.pipeline
            )
        return known

    def context(self) -> Seconds:
        """What a cached token adds to a step [s]: the slope of `decode`."""
        return Seconds(self._context)

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> Seconds:
        """A step that holds prompts [s].

        Parameters
        ----------
        tokens, area
            Of prompts, and pairs of tokens their attention looks at.
        finishing
            Prompts that end with it, so give their first token.
        requests, context
            That decode next to it, and their cached tokens together.
        """
        base, windows = (self._extra.get(requests) or self._extra_of(requests)) if requests else (0.0, 0.0)
        together, sampled = tokens + requests, requests + finishing
        head = self._heads.get(sampled)
        if head is None:
            head = self._head(sampled)
        layers, peak, bound = self._mixed.get(together) or self._mixed_of(together)
        products, longest = layers + head, self._longest
        prompts = longest((products - base) * self._prefill_factor, peak - base)
        if bound is not None:
            prompts = longest(prompts, self._shortest(products, bound) - base)
        prompts += self._pairs * area + self._token * tokens
        for each, window in self._pairs_limited:
            prompts += each * min(area, tokens * window)
        time = base + prompts + self._fixed_prompts + self._request * -(-sampled // self._groups)
        if self._seen is not None:
            time += self._seen * finishing
        if requests:
            time += self._context * context + self._attention_floor + windows
        return Seconds(self._with_exchange(time, together, prompts=True))

    def _extra_of(self, requests: int) -> tuple[Any, Any]:
        """Of requests that decode: their products and joins, and reading their windows [s]."""
        known = self._extra.get(requests)
        if known is None:
            known = self._extra[requests] = self._tokens(requests, requests), self._windows(requests)
        return known


FORMULA: Final = Formula(
    "step-time",
    "Step of a serving engine",
    StepTime,
    ("fit-serving", "aic-kernels"),
    "decoder transformers on GPUs; see tests/validation/serving for the error by engine, model and device",
)
