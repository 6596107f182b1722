"""Rates of migrations without a drawn network: each host splits its bandwidth evenly over its migrations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from designer.formulas.migration.evacuation_schedule import EvacuationVm, RateRule


def equal_split(bandwidth_out: Mapping[str, float], bandwidth_in: Mapping[str, float]) -> RateRule:
    """A rate rule [B/s] that never gives more than a fair network would."""

    def rule(moving: Sequence[EvacuationVm]) -> Sequence[float]:
        leaving = Counter(vm.source for vm in moving)
        arriving = Counter(vm.destination for vm in moving)
        out_share = {host: bandwidth_out[host] / count for host, count in leaving.items()}
        in_share = {host: bandwidth_in[host] / count for host, count in arriving.items()}
        return [min(vm.rate_cap, out_share[vm.source], in_share[vm.destination]) for vm in moving]

    return rule
