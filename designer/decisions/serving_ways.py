"""Ways to serve a load: replicas that do all, and pods of engines for prompts and for answers, each in closed form.

A way is one unit, and any number of it: a replica, or a pod of so many engines for prompts and so many for answers on
the first accelerators of the group. Closed forms take the decoding and the reading of prompts as queues.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

from designer.decisions.search import fewest
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.families.serving.answers import most_of, serve
from designer.families.serving.bottlenecks import bottlenecks
from designer.families.serving.closed_form import Mean, closed_form, decoding, first_token, keeps, reading
from designer.families.serving.deployment import Deployment, Limits, Serving
from designer.families.serving.engines import releases
from designer.families.serving.formulas._number_format import CACHE_FORMATS, number_format
from designer.families.serving.limits import Outcome, outcome, outcome_of
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement, changed
from designer.families.serving.split import serve_split
from designer.families.serving.spreads import step_spread
from designer.units import format_quantity

#: what may be chosen, with what of each is tried; engines are the releases that were measured
_BUDGETS_LIMIT: Final = (2048, 4096, 8192, 16384)
_SLOTS_LIMIT: Final = (64, 128, 256, 512, 1024)
_WEIGHTS: Final = ("bf16", "fp8", "mxfp4", "nvfp4", "int4")
CHOICES: Final = ("engine", "weights", "cache", "budget", "slots")
#: engines for prompts and for answers of a pod, in least terms, and their widths
RATIOS_LIMIT: Final = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (4, 1), (2, 3), (3, 2))
POD_WIDTHS_LIMIT: Final = (1, 2, 4, 8)
#: more replicas than this are never the answer
REPLICAS_LIMIT: Final = 4096
#: nor more pods
PODS_LIMIT: Final = 512


@dataclass(frozen=True, slots=True)
class Tried:
    """A number of units that was run: what it says of limits, and the most that one can take, with its band [1/s]."""

    outcome: Outcome
    most: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Replicas:
    """Replicas of one width that read prompts and answer."""

    placement: Placement
    choice: str = ""
    unit = "replica"
    units_limit = REPLICAS_LIMIT

    @property
    def tensor(self) -> int:
        """Width of a replica."""
        return self.placement.split.tensor

    def accelerators(self, units: int) -> int:
        """Accelerators of so many replicas: some share one."""
        return math.ceil(units / self.placement.each) * self.placement.split.devices

    def times(self, load: Mean, units: int) -> tuple[float, float]:
        """Time to the first token and per token by the closed form [s]."""
        return closed_form(self.placement, load.rate / units, load.prompt, load.output)

    def first(self, asked: Serving, load: Mean, cancelled: Callable[[], bool] | None) -> int:
        """The fewest replicas that can keep up.

        Raises
        ------
        AnalysisError
            If these are more than are looked for, or no request fits.
        """
        most, rate = self._most(asked, cancelled)[0], load.rate
        units = max(1, math.ceil(rate / most))
        if units > REPLICAS_LIMIT:
            each = format_quantity(most, "frequency")
            raise AnalysisError(
                f"a replica takes {each} at most: it needs {units:,}, above {REPLICAS_LIMIT:,} none are looked for"
            )
        return units

    def run(self, asked: Serving, units: int, cancelled: Callable[[], bool] | None) -> Tried:
        """So many replicas that share the load."""
        return Tried(outcome_of(self.placement, asked, units, cancelled), self._most(asked, cancelled))

    def _most(self, asked: Serving, cancelled: Callable[[], bool] | None) -> tuple[float, float, float]:
        requests = sent_to_one(asked.load, 1, self.placement.place, self.placement.capacity).requests
        return most_of(self.placement, requests, step_spread(self.placement), cancelled)

    def takes(self, rate: float, most: tuple[float, float, float]) -> str:
        """The load of a replica, in words."""
        each, able, fast, slow = (format_quantity(x, "frequency").removesuffix("/s") for x in (rate, *most))
        return f"each replica gets {each} of {able} requests/s ({slow}–{fast})"

    def binding(self, asked: Serving, units: int) -> tuple[Bottleneck, ...]:
        """What binds prompts and decoding, by as many of the replicas as are drawn."""
        placement = self.placement
        here = min(units, len(placement.replicas))
        placement = replace(placement, replicas=placement.replicas[:here])
        load = asked.load if asked.load.kind == "trace" else replace(asked.load, rate=asked.load.rate * here / units)
        return bottlenecks(serve(placement, replace(asked, load=load), banded=False))[0]


@dataclass(frozen=True, eq=False)
class Pods:
    """Pods of engines for prompts and engines for answers.

    Parameters
    ----------
    engines, answering
        Engines for prompts, and for answers.
    prompts, answers
        An engine of each.
    parts, prompt_parts
        Paths of the accelerators of the group, and of those that read prompts where they have a group of their own.
    """

    engines: int
    prompts: Placement
    answering: int
    answers: Placement
    parts: Sequence[str] = ()
    name: str = ""
    prompt_parts: Sequence[str] = ()
    unit = "pod"
    units_limit = PODS_LIMIT

    @property
    def placement(self) -> Placement:
        """An engine for answers, for what its accelerators cost."""
        return self.answers

    @property
    def tensor(self) -> int:
        """Width of an engine for answers."""
        return self.answers.split.tensor

    @cached_property
    def devices(self) -> int:
        """Accelerators of a pod."""
        return self.engines * self.prompts.split.tensor + self.answering * self.tensor

    @property
    def choice(self) -> str:
        """For people."""
        words = (
            f"{self.engines} of {self.prompts.split.tensor} for prompts, {self.answering} of {self.tensor} for answers"
        )
        return f"{self.name} {words}".lstrip()

    def accelerators(self, units: int) -> int:
        """Accelerators of so many pods."""
        return units * self.devices

    def times(self, load: Mean, units: int) -> tuple[float, float]:
        """Time to the first token and per token by the closed form [s]."""
        each = load.rate / units
        whole = reading(self.prompts, load.prompt)
        tpot = decoding(self.answers, each / self.answering, load.prompt, load.output)
        return first_token(self.prompts, whole, each * whole / self.engines), tpot

    def first(self, asked: Serving, load: Mean, cancelled: Callable[[], bool] | None) -> int:
        """The fewest pods that keep the limits by the closed form."""
        del cancelled
        return fewest_by_form(self, load, asked.limits) or PODS_LIMIT

    def run(self, asked: Serving, units: int, cancelled: Callable[[], bool] | None) -> Tried:
        """A pod with its share of the load."""
        reads = self.engines * self.prompts.split.tensor
        after = 0 if self.prompt_parts else reads
        deployment = replace(
            asked.deployment,
            group=",".join(self.parts[after : after + self.devices - reads]),
            tensor=self.tensor,
            replicas=self.answering,
            prompts=",".join((self.prompt_parts or self.parts)[:reads]),
            prompt_tensor=self.prompts.split.tensor,
        )
        share = replace(asked, deployment=deployment, load=replace(asked.load, rate=asked.load.rate / units))
        served = serve_split(self.prompts.network, share, self.prompts.place, cancelled)
        if served.saturated:
            return Tried(Outcome(False, math.nan, math.nan, math.nan, 0.0), served.most)
        return Tried(outcome(served.runs[0], served.sent.first, asked.limits), served.most)

    def takes(self, rate: float, most: tuple[float, float, float]) -> str:
        """The load of a pod, in words."""
        return f"{format_quantity(rate, 'frequency')} each pod of {format_quantity(most[0], 'frequency')} it can take"

    def binding(self, asked: Serving, units: int) -> tuple[Bottleneck, ...]:
        """Not looked for."""
        del asked, units
        return ()


Way = Replicas | Pods


def variants(asked: Deployment, search: Sequence[str]) -> Iterator[tuple[Deployment, str]]:
    """Every combination of what is to be chosen, with what was chosen in words.

    Raises
    ------
    AnalysisError
        If something cannot be chosen.
    """
    wanted = CHOICES if "all" in search else tuple(search)
    unknown = [name for name in wanted if name not in CHOICES]
    if unknown:
        raise AnalysisError(
            f"{unknown[0]!r} is not chosen by a search", place="--search", remedy=f"use {', '.join(CHOICES)} or all"
        )
    lists: dict[str, list[dict[str, object]]] = {
        "engine": [{"engine": r.engine, "release": r.release} for r in releases().values() if r.known],
        "weights": [{"weights": w} for w in _WEIGHTS],
        "cache": [{"cache": c} for c in CACHE_FORMATS if c in ("bf16", "fp8")],
        "budget": [{"budget": b} for b in _BUDGETS_LIMIT],
        "slots": [{"slots": n} for n in _SLOTS_LIMIT],
    }
    for parts in product(*(lists[name] for name in CHOICES if name in wanted)):
        given = {k: v for part in parts for k, v in part.items()}
        yield replace(asked, **given), " ".join(str(v) for v in given.values())  # pyright: ignore[reportArgumentType]


def replicas_of(placement: Placement, search: Sequence[str], name: str = "") -> Iterator[Replicas]:
    """Replicas of one width with everything that may be chosen and can run."""
    chooses = "weights" in search or "all" in search
    for deployment, choice in variants(placement.deployment, search):
        # a format of experts leaves a model without them in another one that is tried as well
        twice = chooses and number_format(deployment.weights).dense and not placement.shape.experts
        one = None if twice else changed(placement, deployment)
        if one is not None:
            yield Replicas(one, f"{name} {choice}".strip())


def pods_of(
    engines: dict[int, Placement],
    parts: Sequence[str],
    name: str = "",
    reading: dict[int, Placement] | None = None,
    prompt_parts: Sequence[str] = (),
) -> Iterator[Pods]:
    """Pods on at most so many accelerators, of engines of the widths there are.

    Parameters
    ----------
    reading, prompt_parts
        Engines for prompts, and their accelerators, where these are others than those of the answers.
    """
    for (prompts, answers), (width, first), then in product(
        RATIOS_LIMIT, (reading or engines).items(), engines.values()
    ):
        pod = Pods(prompts, first, answers, then, parts, name, prompt_parts)
        reads = prompts * width
        alone = reads <= len(prompt_parts) and pod.devices - reads <= len(parts)
        if alone if prompt_parts else pod.devices <= len(parts):
            yield pod


def fewest_by_form(way: Way, load: Mean, limits: Limits) -> int | None:
    """The fewest units that keep the limits by the closed form; None where none do."""
    return fewest(lambda units: keeps(way.times(load, units), limits, load.output), way.units_limit)
