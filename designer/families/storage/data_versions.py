"""Data versions: what stores hold, what is written in a day, and how long a new version takes over the drawn links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from designer.engine import measured
from designer.engine.accelerators import number
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.families.storage.kinds.data_versions import program, written
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import format_quantity, parse_duration

#: arithmetic on settings
_SOURCES: Final = ("D",)
_DAY: Final = float(parse_duration("24 h"))


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """The metrics of a new version, and what all that are kept take.

    Raises
    ------
    AnalysisError
        If a store cannot be reached.
    """
    s, place = settings, question.place
    found, loads = measured.answer(network, program(s), question)
    stores = resolve(network, s["store"], f"{place}.store")
    copies = resolve(network, s["copies_to"], f"{place}.copies_to") if s["copies_to"].strip() else stores[:0]
    # the first version is whole, whatever is kept of the others
    held = s["size"] + (s["versions"] - 1) * written(s)
    metrics = {
        "data_stored": Estimate.exact(held, "B", _SOURCES, f"{s['versions']:,} versions"),
        "data_per_day": Estimate.exact(written(s) * (len(stores) + len(copies)) * _DAY / s["every"], "B", _SOURCES),
        "versions_per_day": Estimate.exact(_DAY / s["every"], "1", (), "at the cadence"),
    }
    if len(copies):
        metrics["data_copied"] = Estimate.exact(held * len(copies), "B", _SOURCES, f"in {len(copies):,} stores")
    findings = list(found.findings)
    capacity = {p: size for p in (*stores.tolist(), *copies.tolist()) if (size := number(network, p, "capacity"))}
    if capacity:
        least = min(capacity, key=lambda part: capacity[part])
        metrics["store_used"] = Estimate.exact(held / capacity[least], "1", (), network.net.path(least))
        if held > capacity[least]:
            path = network.net.path(least)
            text = f"{path} has {format_quantity(capacity[least], 'size')}, "
            text += f"{s['versions']:,} versions take {format_quantity(held, 'size')}"
            remedy = "keep fewer versions, keep what changed, or give it more capacity"
            findings.append(Finding("STORE-FULL", Severity.ERROR, text, (path,), remedy))
    takes = found.metrics["version_time"]
    if takes.value > s["every"]:
        text = f"a version takes {format_quantity(takes.value, 'duration')}, "
        text += f"a new one comes every {format_quantity(s['every'], 'duration')}"
        findings.append(Finding("STORE-LATE", Severity.ERROR, text, (), "faster links or stores, or fewer versions"))
    return replace(found, metrics={**found.metrics, **metrics}, findings=tuple(findings)), loads
