"""Steps of an engine that drafts tokens ahead, and the model that drafts them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError, CatalogError, raised_as
from designer.families.serving.deployment import Deployment
from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.families.serving.formulas.experts import ExpertSetup
from designer.families.serving.formulas.joining import joins_over
from designer.families.serving.formulas.memory import kv_size, weights_size
from designer.families.serving.formulas.speculation import accepted, chained, drafted_step
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.training.preparation import named_model
from designer.findings import Finding, Severity
from designer.formulas.collectives import CollectiveSituation
from designer.resources import assets
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio, Seconds, format_quantity
from designer.workload.huggingface import count_in_words
from designer.workload.shape import TransformerShape


class Drafted:
    """Step times with drafts: a step gives several tokens, so per token it is that much shorter.

    Parameters
    ----------
    drafts
        Tokens drafted ahead.
    curve
        Tokens a step gives by drafts, measured.
    own
        Step times of the model that drafts; None for a layer after those of the model.
    """

    def __init__(self, steps: StepTime, drafts: int, curve: tuple[float, ...], own: StepTime | None = None) -> None:
        self._steps, self.drafts, self._own = steps, drafts, own
        self.gained = accepted(curve, drafts)
        self._known: dict[int, float] = {}

    def decode(self, requests: int) -> float:
        """Time of a decoding step over the tokens a request gets of it [s]."""
        found = self._known.get(requests)
        if found is None:
            steps, all_tokens = self._steps, requests * (self.drafts + 1)
            plain = steps.decode(requests)
            # verifying is a decoding step of more rows; each request still reads its cache once
            rows = steps.tokens(all_tokens, all_tokens) - steps.tokens(requests, requests)
            if self._own is not None:
                found = (plain + rows + self.drafts * self._own.decode(requests)) / self.gained
            else:
                found = drafted_step(Seconds(plain + rows), plain, steps.shape.layers, self.drafts, Ratio(self.gained))
            self._known[requests] = found
        return found

    def context(self) -> float:
        """Time for each token of context, over the tokens a request gets of a step [s]."""
        once = self._steps.context()
        own = once / max(1, self._steps.shape.attention_layers) if self._own is None else self._own.context()
        return (once + self.drafts * own) / self.gained

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with prompts [s], which what drafts reads too; requests next to them get one token."""
        time = self._steps.step(tokens, area, finishing, requests, context)
        if self._own is not None:
            return time + self._own.step(tokens, area, finishing, requests, context)
        return time * (1 + 1 / self._steps.shape.layers)

    def uneven(self, full: int, tokens: int) -> float:
        """What experts take less than if all groups were as full as the fullest, over the tokens of a step [s]."""
        return self._steps.uneven(full, tokens) / self.gained


def gain(steps: StepTime, drafted: Drafted, requests: int, context: float) -> float:
    """How many times as fast requests get their tokens with drafts, at a mean context of so many tokens each [1]."""
    cached = requests * context
    plain = steps.decode(requests) + steps.context() * cached
    return plain / (drafted.decode(requests) + drafted.context() * cached)


def pays_until(steps: StepTime, drafted: Drafted, context: float, most: int) -> int:
    """The most requests at once at which drafts make tokens faster; 0 where they never do, `most` where always."""
    low, high = 0, 1
    while high <= most and gain(steps, drafted, high, context) > 1:
        low, high = high, 2 * high
    if low == 0 or low >= most:
        return low
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gain(steps, drafted, middle, context) > 1 else (low, middle)
    return low


# Measured acceptance of drafted tokens, by draft and model.


@cache
def drafts() -> Mapping[str, tuple[float, ...]]:
    """Tokens per verifying step with one, two, … drafted, by id."""
    data = tomllib.loads((assets() / "serving" / "drafts.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: tuple(row["curve"]) for name, row in data.items()})


def draft(name: str) -> tuple[float, ...]:
    """The curve of a draft.

    Raises
    ------
    CatalogError
        If there is none of that id.
    """
    found = drafts().get(name)
    if found is None:
        raise CatalogError(f"there is no measured draft {name!r}", remedy=f"choose one of {', '.join(drafts())}")
    return found


#: tokens that a trained head puts out, of its own head: EAGLE-3 keeps those that are frequent
HEAD_VOCABULARY: Final = Constant(32_000.0, 31_960.0, 200_000.0, "eagle3", Status.SECONDARY, "1", "draft_vocab_size")
#: hidden states of the model that a trained head reads at once, and those that a layer of the model itself reads
HEAD_STATES: Final = Constant(3.0, 1.0, 3.0, "eagle3", Status.SECONDARY, "1", "low, middle and high layer")
OWN_STATES: Final = Constant(2.0, 2.0, 2.0, "deepseek-v3-2024", Status.PRIMARY, "1", "state and embedding, eq. 21")


@dataclass(frozen=True, slots=True)
class Drafter:
    """What drafts tokens.

    Parameters
    ----------
    title
        In words.
    layers
        What lies in memory in addition to the model; of embeddings and heads that it shares, a token in its vocabulary.
    projection
        Parameters that every device holds whole: the product that joins states to the input.
    weights
        Format of its weights.
    alone
        True for a model of its own, whose steps take their own time; False for a layer after those of the model.
    """

    title: str
    layers: TransformerShape
    projection: int
    weights: NumberFormat
    alone: bool = False

    @property
    def parameters(self) -> int:
        """Parameters that it has in addition to those of the model [1]."""
        return self.layers.parameters + self.projection

    def held(self, tensor: int, data: int) -> Bytes:
        """Its weights on each device [B]; a pipeline has it whole in its last stage."""
        layers = self.layers
        own = weights_size(layers, self.weights, self.tensor(tensor), data if layers.experts else 1)
        return Bytes(own + self.projection * number_format("bf16").size.value)

    def token(self, tensor: int, element: Bytes) -> Bytes:
        """Its keys and values of a token on each device [B]."""
        return kv_size(self.layers, self.tensor(tensor), element).token

    def tensor(self, tensor: int) -> int:
        """Devices that share it: those of the model, or as many of them as its heads share out over."""
        while self.layers.heads % tensor:
            tensor -= 1
        return tensor


def drafter(shape: TransformerShape, weights: NumberFormat, named: str, place: str) -> Drafter:
    """What drafts for a model: the model named, else layers of its own, else a head of one layer as EAGLE-3 has.

    Parameters
    ----------
    named
        Id of a model, path of a config.json or its text; empty for what comes with the model.

    Raises
    ------
    AnalysisError
        If there is no such model, it gives no tokens, or has another vocabulary.
    """
    if named.strip():
        return _model(shape, named, place)
    one = replace(
        shape,
        layers=1,
        moe_layers=0,
        experts=0,
        experts_per_token=0,
        windowed_layers=0,
        windowed_parameters=0,
        state_layers=0,
        idle_layers=0,
        bare_layers=0,
        drafting_layers=0,
        extra_parameters=0,
        vocabulary=1,
        positions=0,
        segments=0,
        tied=True,
    )
    hidden, count = shape.hidden, shape.drafting_layers
    if count:
        experts = {"experts": shape.experts, "experts_per_token": shape.experts_per_token, "moe_layers": count}
        own = replace(one, layers=count, **(experts if shape.experts else {}))
        title = f"{count} layers of its own" if count > 1 else "a layer of its own"
        return Drafter(title, own, round(count * OWN_STATES.value) * hidden * hidden, weights)
    width = shape.experts_per_token * shape.expert_ffn + shape.shared_ffn
    one = replace(one, ffn=shape.ffn or width, vocabulary=round(HEAD_VOCABULARY.value))
    # its attention reads the embedding next to the state, so queries, keys and values are twice as tall
    taller = 0 if shape.kv_rank else hidden * (shape.heads + shape.kv_heads) * shape.head_dim
    taller += 0 if shape.kv_rank else hidden * shape.kv_heads * shape.value_head_dim
    joined = round(HEAD_STATES.value) * hidden * hidden
    return Drafter("a trained head of one layer", one, joined + taller, number_format("bf16"))


def _model(shape: TransformerShape, named: str, place: str) -> Drafter:
    found = named_model(named, place)
    draft = found.shape
    if not isinstance(draft, TransformerShape) or not draft.causal:
        raise AnalysisError(f"{draft.name} gives no tokens", place=place, remedy="name a small model that decodes")
    if draft.vocabulary != shape.vocabulary:
        raise AnalysisError(
            f"{draft.name} has {draft.vocabulary:,} tokens and {shape.name} has {shape.vocabulary:,}: what it drafts "
            "cannot be verified",
            place=place,
            remedy="name a model of the same family",
        )
    return Drafter(draft.name, draft, 0, number_format(found.published.name or "bf16"), alone=True)


@dataclass(frozen=True, slots=True)
class Beside:
    """What lies on devices next to the layers of a model: copies of experts, and what drafts."""

    setup: ExpertSetup
    drafter: Drafter | None = None

    def token(self, split: Split, cache: NumberFormat) -> float:
        """Keys and values of a token that what drafts keeps on each device [B]."""
        return self.drafter.token(split.tensor, Bytes(cache.size.value)) if self.drafter is not None else 0.0


def drafter_of(asked: Deployment, shape: TransformerShape, weights: NumberFormat, place: str) -> Drafter | None:
    """What drafts in a deployment; None where nothing does."""
    return drafter(shape, weights, asked.draft_model, f"{place}.draft_model") if asked.drafts else None


def draft_steps(
    one: Drafter | None,
    steps: StepTime,
    joined: Sequence[CollectiveSituation],
    cache: NumberFormat,
    asked: Deployment,
) -> StepTime | None:
    """Step times of a model that drafts, on the devices of a replica that share heads."""
    if one is None or not one.alone:
        return None
    split = Split(one.tensor(steps.split.tensor), 1, 1, 1)
    joins = joins_over((joined[0], joined[0]), split, asked.graph) if split.tensor > 1 else Joins()
    return StepTime(one.layers, steps.device, split, one.weights, cache, steps.overheads, joins)


def curve_of(asked: Deployment, place: str) -> tuple[float, ...]:
    """Acceptance of the draft that is asked for; none where nothing is drafted.

    Raises
    ------
    AnalysisError
        If neither an acceptance nor a measured draft is given, both are, or there is no such draft.
    """
    if not asked.drafts:
        return ()
    if asked.acceptance:
        if asked.draft.strip():
            raise AnalysisError(
                "both a measured draft and an acceptance are given",
                place=f"{place}.acceptance",
                remedy="leave one of draft and acceptance out",
            )
        return chained(Ratio(asked.acceptance), asked.drafts)
    if not asked.draft.strip():
        raise AnalysisError(
            "how many drafted tokens are right is not said",
            place=f"{place}.draft",
            remedy="give an acceptance, for example 0.7, or name a measured draft",
        )
    with raised_as(AnalysisError, f"{place}.draft", of=CatalogError):
        return draft(asked.draft)


def stated(one: Drafter, asked: str, held: float, token: float) -> Finding:
    """What drafts, and the memory that it takes on each device: weights, and keys and values of a token [B]."""
    said = "" if one.alone or "trained" not in one.title else " (assumed: none is named, and the model has none)"
    text = (
        f"{one.title} drafts{said}: {count_in_words(one.parameters)} parameters, {format_quantity(held, 'size')} on "
        f"each device and {format_quantity(token, 'size')} for each token kept"
    )
    how = "name a draft_model to have another draft" if not asked.strip() else "leave draft_model empty for its own"
    return Finding("SERVE-DRAFTER", Severity.INFO, text, (), how)
