"""DeepSeek on H200 at equal accelerators and clients: whether splitting prompts from answers pays is named as measured.

None of these runs was fitted. The measurements are read from beside the checkout.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pytest

import designer
from designer.catalog.loader import load_catalog
from designer.engine.network import Network, build_network
from designer.families.serving.alone import answered
from tests.asked import serving_asked
from tests.validation.serving.runs import folder

pytestmark = pytest.mark.skipif(folder() is None, reason="no measurements beside the checkout")

H200 = "gpu/nvidia/h200-sxm"
EIGHT = 8
OUTPUT = 1024
NARROW = {"tensor": 1, "data": 8, "expert": 8}
SHARED = {"tensor": 8, "expert": 8}
CUT = {"tensor": 8}
#: steps of these runs are those of their launch scripts, which keep to the longest prompt
STEP = 8192


@dataclass(frozen=True)
class Pair:
    """Clients of one engine that does both, and of a split deployment with `answering` engines for answers."""

    engine: str
    prompt: int
    clients: int
    layout: Mapping[str, int]
    split_clients: int
    answering: int
    answers: Mapping[str, int]

    @property
    def prompts(self) -> Mapping[str, int]:
        """Widths of the one engine for prompts."""
        return {"prompt_tensor": 8, "prompt_expert": 8 if self.engine == "tensorrt-llm" else 1}


PAIRS = (
    Pair("tensorrt-llm", 8192, 64, NARROW, 128, 1, NARROW),
    Pair("sglang", 8192, 32, CUT, 64, 1, NARROW),
    Pair("tensorrt-llm", 1024, 64, SHARED, 576, 9, SHARED),
    Pair("tensorrt-llm", 1024, 32, SHARED, 288, 9, SHARED),
    Pair("tensorrt-llm", 1024, 16, SHARED, 144, 9, SHARED),
    Pair("tensorrt-llm", 1024, 8, SHARED, 72, 9, SHARED),
    Pair("tensorrt-llm", 1024, 4, SHARED, 36, 9, SHARED),
    Pair("tensorrt-llm", 8192, 4, SHARED, 28, 7, SHARED),
)


@cache
def _rows() -> tuple[Mapping[str, str], ...]:
    place = folder()
    assert place is not None
    with (place / "silicon-open.csv").open(encoding="utf-8", newline="") as file:
        return tuple(x for x in csv.DictReader(file) if x["system"] == "h200_sxm" and "DeepSeek" in x["model_path"])


def _measured(pair: Pair, *, split: bool) -> float:
    """Output tokens a second of an accelerator [1/s]; of two dumps of one load that which does not draft."""
    backend = {"tensorrt-llm": "trtllm", "sglang": "sglang"}[pair.engine]
    clients = pair.split_clients if split else pair.clients
    load = {"backend": backend, "isl": f"{pair.prompt}", "osl": f"{OUTPUT}", "concurrency": f"{clients}"}
    found = [x for x in _rows() if all(x[k] == v for k, v in load.items()) and split == (x["mode"] == "disagg")]
    if split:
        found = [x for x in found if x["decode_num_workers"] == f"{pair.answering}" and x["prefill_num_workers"] == "1"]
    else:
        drafting = [
            x for x in found if "model=DeepSeek-R1" in x["silicon_data_source"] and x["backend_version"][:3] == "1.1"
        ]
        found = [x for x in found if x not in drafting]
    times = [float(x["silicon_ttft_ms"]) + (OUTPUT - 1) * float(x["silicon_tpot_ms"]) for x in found]
    assert times
    return clients * OUTPUT / (min(times) / 1e3) / (EIGHT * (1 + pair.answering if split else 1))


def _drafts(row: Mapping[str, str]) -> bool:
    """True for the dump whose runs draft one token, see the page next to this."""
    return "model=DeepSeek-R1" in row["silicon_data_source"] and row["backend_version"].startswith("1.1")


@cache
def _drawn(answering: int) -> Network:
    """One server for prompts, and so many for answers, on InfiniBand."""
    design = designer.open_design("serving-split-2-racks")
    groups = dict(design.groups)
    for name, count in (("answers", answering), ("prompts", 1)):
        content = groups[name].content
        parts = {k: p.model_copy(update={"type": H200}) if p.kind == "gpu" else p for k, p in content.parts.items()}
        content = content.model_copy(update={"parts": parts})
        groups[name] = groups[name].model_copy(update={"replicas": count, "content": content})
    types = {**design.part_types, H200: load_catalog().get(H200)}
    return build_network(design.model_copy(update={"groups": groups, "part_types": types}))


def _predicted(pair: Pair, *, split: bool) -> float:
    common = {"model": "deepseek-v3", "weights": "fp8", "engine": pair.engine, "prompt": pair.prompt, "output": OUTPUT}
    common |= {"load": "clients", "waves": 4, "warm_up": 1, "budget": STEP}
    if split:
        network, devices = _drawn(pair.answering), EIGHT * (1 + pair.answering)
        own = {"group": "answers[*]/gpu*", "prompt_group": "prompts[*]/gpu*", "clients": pair.split_clients}
        own |= {**pair.answers, **pair.prompts}
    else:
        network, devices = build_network(designer.open_design("hgx-h200-8")), EIGHT
        own = {"group": "gpus", "clients": pair.clients, **pair.layout}
    asked = serving_asked({**common, **own}, "s")
    found = answered(network, asked, "s", explained=False, banded=False)
    return found.metrics["tokens_per_second"].value / devices


def test_whether_a_split_pays_is_named_four_times_of_five() -> None:
    """Six of eight do not gain: one engine of ten for prompts is idle at these loads; one of two gains 18 %."""
    measured = [math.log(_measured(p, split=False) / _measured(p, split=True)) for p in PAIRS]
    predicted = [math.log(_predicted(p, split=False) / _predicted(p, split=True)) for p in PAIRS]
    assert min(measured) < -0.1
    assert max(measured) > 0.1
    right = [a * b > 0 for a, b in zip(measured, predicted, strict=True)]
    assert sum(right) >= 0.8 * len(right), list(zip(measured, predicted, strict=True))
