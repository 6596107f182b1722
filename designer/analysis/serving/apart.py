"""Prompts and answers on devices of their own: how many engines of which width for each, screened and then run.

A pod is so many engines for prompts and so many for answers, on the first accelerators of the group; as many pods as
the load needs stand beside each other. The closed form takes each side as a queue of its own; only the pods that come
out smallest are run, with keys and values handed over the drawn links.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from designer.analysis.network import Network
from designer.analysis.selection import resolve
from designer.analysis.serving.placement import Placement, place_deployment
from designer.analysis.serving.readings import read, within
from designer.analysis.serving.split import serve_split
from designer.errors import AnalysisError, Cancelled
from designer.formulas.serving.attention_prefill import prefill_area
from designer.units import format_quantity
from designer.workload.serving import Limits, Serving

#: engines for prompts and for answers of a pod, in least terms
RATIOS_LIMIT: Final = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (4, 1), (2, 3), (3, 2))
_WIDTHS_LIMIT: Final = (1, 2, 4, 8)
#: use of a stage beyond which its queue does not settle
_FULL_TOLERANCE: Final = 0.9
_BELOW_TOLERANCE: Final = 1 - 1e-9
_SETTLING_ROUNDS: Final = 12
_RUN_LIMIT: Final = 6
_PODS_LIMIT: Final = 512


@dataclass(frozen=True, slots=True)
class Pod:
    """One shape of a pod.

    Parameters
    ----------
    prompts, answers
        Engines for each.
    prompt_width, width
        Accelerators of an engine for each.
    """

    prompts: int
    prompt_width: int
    answers: int
    width: int

    @property
    def devices(self) -> int:
        """Accelerators of a pod."""
        return self.prompts * self.prompt_width + self.answers * self.width

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.prompts} of {self.prompt_width} for prompts, {self.answers} of {self.width} for answers"


@dataclass(frozen=True, slots=True)
class Apart:
    """A pod and how many of it: those that keep the limits, or why none do; `pods` is 0 then."""

    pod: Pod
    pods: int
    ttft: float
    tpot: float
    latency: float
    kept: float
    why: str


def shapes(devices: int) -> Iterator[Pod]:
    """Pods of at most so many accelerators."""
    for (prompts, answers), first, then in product(RATIOS_LIMIT, _WIDTHS_LIMIT, _WIDTHS_LIMIT):
        pod = Pod(prompts, first, answers, then)
        if pod.devices <= devices:
            yield pod


def sized_apart(
    network: Network,
    asked: Serving,
    load: tuple[float, float, float],
    place: str,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[int, list[Apart]]:
    """How many shapes were looked at, and those that the closed form finds smallest, run.

    Parameters
    ----------
    load
        Requests a second [1/s], mean prompt and output [tokens].

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    parts = [network.net.path(int(n)) for n in resolve(network, asked.deployment.group, f"{place}.group")]
    placed: dict[int, Placement | None] = {}
    screened: list[tuple[float, Pod, int]] = []
    looked = 0
    for pod in shapes(len(parts)):
        looked += 1
        if cancelled is not None and cancelled():
            raise Cancelled("stopped")
        for width in (pod.prompt_width, pod.width):
            if width not in placed:
                placed[width] = _placed(network, asked, width, place)
        first, then = placed[pod.prompt_width], placed[pod.width]
        if first is None or then is None:
            continue
        rate = pod_rate(first, then, pod, load, asked.limits)
        if rate > 0:
            pods = math.ceil(load[0] / rate)
            screened.append((pods * pod.devices, pod, pods))
    screened.sort(key=lambda row: (row[0], row[2], row[1].devices))
    return looked, [_run(network, asked, parts, pod, pods, place, cancelled) for _, pod, pods in screened[:_RUN_LIMIT]]


def _placed(network: Network, asked: Serving, width: int, place: str) -> Placement | None:
    try:
        return place_deployment(network, replace(asked.deployment, tensor=width, replicas=0, prompts=""), place)
    except AnalysisError:
        return None


def pod_rate(
    prompts: Placement, answers: Placement, pod: Pod, load: tuple[float, float, float], limits: Limits
) -> float:
    """The most requests a second a pod keeps the limits at by the closed form [1/s]; 0 where it keeps them at none."""
    # beyond this its engines for prompts cannot follow, whatever the limits
    high = min(load[0], pod.prompts * _FULL_TOLERANCE / reading_time(prompts, load[1]))
    if _keeps(prompts, answers, pod, high * _BELOW_TOLERANCE, load, limits):
        return high * _BELOW_TOLERANCE
    low = 0.0
    for _ in range(_SETTLING_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if _keeps(prompts, answers, pod, middle, load, limits) else (low, middle)
    return low


def reading_time(prompts: Placement, prompt: float) -> float:
    """Time an engine reads a prompt for when it does nothing else [s]."""
    pieces = math.ceil(prompt / prompts.scheduling.budget)
    tokens = max(1, round(min(prompt, prompts.scheduling.budget)))
    return prompts.steps.step(tokens, prefill_area(tokens, 0.0), 1, 0, 0.0) * pieces


def _keeps(
    prompts: Placement, answers: Placement, pod: Pod, rate: float, load: tuple[float, float, float], limits: Limits
) -> bool:
    _, prompt, output = load
    reading = reading_time(prompts, prompt)
    busy = rate * reading / pod.prompts
    tpot = decode_time(answers, rate / pod.answers, prompt, output)
    if busy >= _FULL_TOLERANCE or not math.isfinite(tpot):
        return False
    ttft = prompts.release.overheads.path + reading * (1 + busy / (2 * (1 - busy)))
    whole = ttft + tpot * output
    held = ((limits.ttft, ttft), (limits.tpot, tpot), (limits.latency, whole))
    return not any(limit and value > limit for limit, value in held)


def decode_time(answers: Placement, rate: float, prompt: float, output: float) -> float:
    """Time per token of an engine that only answers, at a rate of requests [s]; infinite where it cannot keep up."""
    running, tpot, each = 1.0, 0.0, prompt + output / 2
    for _ in range(_SETTLING_ROUNDS):
        count = max(1, round(running))
        tpot = answers.steps.decode(count) + answers.steps.context() * count * each
        running = rate * output * tpot
        if running > answers.scheduling.slots or running * each > answers.capacity:
            return math.inf
    return tpot


def _run(
    network: Network,
    asked: Serving,
    parts: Sequence[str],
    pod: Pod,
    pods: int,
    place: str,
    cancelled: Callable[[], bool] | None,
) -> Apart:
    """A pod with its share of the load, more pods until the limits hold."""
    reading = pod.prompts * pod.prompt_width
    deployment = replace(
        asked.deployment,
        group=",".join(parts[reading : pod.devices]),
        tensor=pod.width,
        replicas=pod.answers,
        prompts=",".join(parts[:reading]),
        prompt_tensor=pod.prompt_width,
    )
    last = Apart(pod, 0, math.nan, math.nan, math.nan, 0.0, "no number of pods keeps the limits")
    while pods <= _PODS_LIMIT:
        share = replace(asked, deployment=deployment, load=replace(asked.load, rate=asked.load.rate / pods))
        try:
            served = serve_split(network, share, place, cancelled)
        except AnalysisError as error:
            return replace(last, why=error.text)
        if not served.saturated and served.runs:
            run, first = served.runs[0], served.sent.first
            values = read(run, first).values
            at = f"p{asked.limits.share:.0%}".removesuffix("%")
            kept = within(run, first, asked.limits)
            now = (values[f"ttft_{at}"], values.get("tpot", 0.0), values[f"latency_{at}"])
            if kept >= asked.limits.share:
                able = format_quantity(served.most[0], "frequency")
                each = format_quantity(asked.load.rate / pods, "frequency")
                return Apart(pod, pods, *now, kept, f"{each} each pod of {able} it can take")
            if kept <= last.kept:
                return replace(
                    last, why=f"only {kept:.0%} of the requests keep the limits, however many pods there are"
                )
            last = Apart(pod, 0, *now, kept, last.why)
        pods += max(1, pods // _SETTLING_ROUNDS)
    return last
