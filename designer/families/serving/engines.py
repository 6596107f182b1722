"""The shipped releases of serving engines: one file each in ``assets/serving/engines``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from types import MappingProxyType
from typing import Any, Final, cast

from designer.errors import AnalysisError, CatalogError
from designer.families.serving.formulas._release import Overheads, Release, Scheduling
from designer.resources import assets
from designer.sources import Constant, Status
from designer.units import Seconds, parse
from designer.workload.models import models
from designer.workload.text_files import check_entry, load_entry

_TEXT: Final = re.compile(
    r"steps ([\d.]+) ± ([\d.]+) ?%, prompts ([\d.]+) ± ([\d.]+) ?%"
    r"(?:, measured with (\S+)(?: in (\S+))?(?: on (\S+))?)?"
)
_LARGEST: Final = 100.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Factors on what a release takes.

    Parameters
    ----------
    steps
        Of all a device and its engine do in a step; what crosses links is not in it [1].
    prompts
        More for work on prompts and the way of a request [1].
    step_spread, first_spread
        80 % bands of time per token and first token: natural logarithm of the factor either way [1].
    model, weights, architecture
        What was measured; empty where not known.
    """

    steps: float
    prompts: float
    step_spread: float
    first_spread: float
    model: str = ""
    weights: str = ""
    architecture: str = ""

    def text(self) -> str:
        """As a setting says it: ``steps 1.083 ± 12 %, prompts 0.912 ± 20 %, measured with llama-3-8b``."""
        steps, first = (100 * math.expm1(spread) for spread in (self.step_spread, self.first_spread))
        found = f"steps {self.steps:.4g} ± {steps:.1f} %, prompts {self.prompts:.4g} ± {first:.1f} %"
        if self.model and " " not in self.model:
            found += f", measured with {self.model}"
            found += f" in {self.weights}" if self.weights else ""
            found += f" on {self.architecture}" if self.architecture else ""
        return found


def read_calibration(text: str, place: str = "calibration") -> Calibration | None:
    """What a setting says; None for an empty one.

    Raises
    ------
    AnalysisError
        If it cannot be read.
    """
    if not text.strip():
        return None
    found = _TEXT.fullmatch(text.strip())
    remedy = "write it as `designer calibrate` does: steps 1.08 ± 12 %, prompts 0.91 ± 20 %"
    if found is None:
        raise AnalysisError(f"{text!r} is no calibration", place=place, remedy=remedy)
    try:
        steps, step_spread, prompts, first_spread = (float(found[n]) for n in range(1, 5))
    except ValueError:
        raise AnalysisError(f"{text!r} is no calibration", place=place, remedy=remedy) from None
    if not (1 / _LARGEST <= steps <= _LARGEST and 1 / _LARGEST <= prompts <= _LARGEST):
        raise AnalysisError(f"a factor outside 0.01 to {_LARGEST:g}", place=place, remedy=remedy)
    spreads = math.log1p(step_spread / 100), math.log1p(first_spread / 100)
    return Calibration(steps, prompts, *spreads, found[5] or "", found[6] or "", found[7] or "")


_HEADER: Final = {
    "id",
    "engine",
    "release",
    "title",
    "source",
    "fitted_on",
    "known",
    "step_spread",
    "first_spread",
    "overheads",
    "scheduling",
    "note",
    "models",
    "architecture",
    "overlapped",
    "overlapped_since",
}
#: what a file may leave out
_OPTIONAL: Final = {"note", "models", "architecture", "overlapped", "overlapped_since"}
ENGINES: Final = ("vllm", "sglang", "tensorrt-llm")


def load_release(path: Path) -> Release:
    """Read one release.

    Raises
    ------
    CatalogError
        Naming the file and the field that is wrong.
    """
    return load_entry(path, "engine", _release)


def _release(data: Mapping[str, Any], path: Path) -> Release:
    check_entry(data, path, "engine", _HEADER, _HEADER - _OPTIONAL)
    given = cast("Mapping[str, Any]", data["overheads"])
    plain = {"prefill_factor", "narrow", "unpacked", "slower"}
    values = {k: float(v) if k in plain else parse(v, "duration") for k, v in given.items()}
    missing = (
        {f.name for f in fields(Overheads)}
        - set(values)
        - {"expert_layer", "expert_prompts", "narrow", "unpacked", "slower", "seeing"}
    )
    if missing:
        raise CatalogError(f"missing {sorted(missing)}", place="overheads", remedy="give them")
    if data["engine"] not in ENGINES:
        raise CatalogError(f"{data['engine']!r} is no engine", place="engine", remedy=f"use {', '.join(ENGINES)}")
    return Release(
        data["id"],
        data["engine"],
        data["release"],
        data["title"],
        Overheads(**values),
        Scheduling(**cast("Mapping[str, Any]", data["scheduling"])),
        data["known"],
        float(data["step_spread"]),
        float(data["first_spread"]),
        data["fitted_on"],
        data["source"],
        tuple((name, weights) for name, _, weights in (one.partition(" ") for one in data.get("models", ()))),
        data.get("architecture", ""),
        data.get("overlapped", False),
        data.get("overlapped_since", ""),
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The release that answers for a name, and whether it is the one that was asked for."""

    release: Release
    exact: bool

    def seeing(self, time: Seconds) -> Chosen:
        """The same where reading the images of a prompt takes so long [s]."""
        if not time:
            return self
        release = self.release
        return replace(self, release=replace(release, overheads=replace(release.overheads, seeing=time)))


@cache
def releases() -> Mapping[str, Release]:
    """All shipped releases by id, sorted."""
    found = [load_release(path) for path in sorted((assets() / "serving" / "engines").glob("*.toml"))]
    return MappingProxyType({one.id: one for one in found})


def release(engine: str, version: str = "") -> Chosen:
    """The release of an engine; the set shared by all its releases, with its wide band, for one that is not known.

    Raises
    ------
    CatalogError
        If there is no such engine.
    """
    mine = {one.release: one for one in releases().values() if one.engine == engine}
    if not mine:
        raise CatalogError(f"there is no serving engine {engine!r}", remedy=f"use {', '.join(ENGINES)}")
    wanted = version.strip().lower().removeprefix("v")
    # 1.0 is 1.0.0
    exact = mine.get(wanted) or (mine.get(f"{wanted}.0") if re.fullmatch(r"\d+\.\d+", wanted) else None)
    if exact is not None:
        return Chosen(exact, bool(wanted))
    shared = mine[""]
    for numbers in (3, 2):
        stem = _stem(wanted, numbers)
        near = next((one for name, one in mine.items() if name and stem and _stem(name, numbers) == stem), None)
        if near is not None and numbers == len(_NUMBERS):
            return Chosen(near, True)
        if near is not None:
            # another patch of the same release: near it, and as sure as one that is not known
            wide = {"step_spread": shared.step_spread, "first_spread": shared.first_spread}
            return Chosen(replace(near, known=False, **wide), False)
    return Chosen(of_its_time(replace(shared, release=wanted), mine.values()), False)


def of_its_time(unknown: Release, known: Iterable[Release]) -> Release:
    """What is taken for a release that is not known, with the time of a request of those that schedule as it does.

    A scheduler that works while the accelerators do adds less to a step for each request that runs.
    """
    since, own = _numbered(unknown.overlapped_since), _numbered(unknown.release)
    each = [one.overheads.request for one in known if one.known and one.overlapped == (own >= since)]
    if not since or not own or not each:
        return unknown
    overheads = replace(unknown.overheads, request=geometric_mean(each))
    return replace(unknown, overheads=overheads)


def _numbered(name: str) -> tuple[int, ...]:
    """A release such as 0.14.1 as numbers; none where its name has no point."""
    found = re.match(r"\d+(\.\d+)+", name)
    return tuple(int(piece) for piece in found[0].split(".")) if found else ()


#: share of what one model shows of a release, in logarithms, that holds for another model on it: of ten open pairs with
#: the release left out the time per token is then met within 7 % and the first token within 13 % (9 and 24 by all of
#: it), because most of a factor is of the model
CARRIED: Final = Constant(0.5, 0.0, 0.7, "fit-serving", Status.DERIVED, "1", "of steps")
CARRIED_FIRST: Final = Constant(0.3, 0.0, 0.5, "fit-serving", Status.DERIVED, "1", "of prompts")


def calibrated(chosen: Chosen, calibration: Calibration | None, served: str = "") -> Chosen:
    """A release as a benchmark of the deployment showed it; as it is without one.

    Parameters
    ----------
    served
        Model that is asked for: what a benchmark of another one showed holds in part; empty for the one measured.
    """
    if calibration is None:
        return chosen
    one, shipped = calibration, chosen.release
    if served and one.model and served != one.model:
        steps, prompts = one.steps**CARRIED.value, one.prompts**CARRIED_FIRST.value
        one = replace(one, steps=steps, prompts=prompts)
    overheads = replace(
        shipped.overheads,
        slower=one.steps,
        prefill_factor=shipped.overheads.prefill_factor * one.prompts,
        prefill_step=shipped.overheads.prefill_step * one.prompts,
        path=shipped.overheads.path * one.steps * one.prompts,
    )
    measured = ((one.model, one.weights),) if one.model in models() else ()
    release = replace(
        shipped,
        overheads=overheads,
        known=True,
        step_spread=one.step_spread,
        first_spread=max(one.first_spread, one.step_spread),
        fitted_on="a benchmark of this deployment",
        models=measured,
        architecture=one.architecture,
    )
    return Chosen(release, True)


#: vLLM takes smaller steps and fewer requests on devices with less memory than this, and on A100 however much it has
_LARGE_MEMORY: Final = Constant(70 * 2.0**30, 70 * 2.0**30, 70 * 2.0**30, "vllm-defaults", Status.PRIMARY, "B")
_SMALL_BUDGET: Final = Constant(2048, 2048, 2048, "vllm-defaults", Status.PRIMARY, "1", "tokens of a step")
_SMALL_SLOTS: Final = Constant(256, 256, 256, "vllm-defaults", Status.PRIMARY, "1", "requests at once")
_SMALL_ARCHITECTURE: Final = "Ampere GA100"


def scheduling_on(chosen: Release, memory: float, architecture: str) -> Scheduling:
    """How a release fills its steps on a device of so much memory [B] where nobody says otherwise."""
    how = chosen.scheduling
    if chosen.engine != ENGINES[0] or (memory >= _LARGE_MEMORY.value and architecture != _SMALL_ARCHITECTURE):
        return how
    small = int(_SMALL_BUDGET.value), int(_SMALL_SLOTS.value)
    return replace(how, budget=min(how.budget, small[0]), slots=min(how.slots, small[1]))


#: what counts in a release's name: major, minor and patch
_NUMBERS: Final = ("major", "minor", "patch")


def _stem(name: str, numbers: int) -> str:
    """The first numbers of a release's name; empty if it has fewer."""
    found = re.match(r"\d+" + r"\.\d+" * (numbers - 1), name)
    return found[0] if found else ""
