"""Evacuation: all machines off some hosts; who can go, where to, how long, and who stays."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._moves import answer, hosts_of, read_shares
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.moves import Conditions
from designer.analysis.vms.placement import place_vms
from designer.errors import AnalysisError
from designer.workload.operations import Evacuation

#: hosts named in an error
SHOWN_LIMIT = 5


def evaluate(network: Network, operation: Evacuation, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some hosts emptied."""
    placement = place_vms(network)
    if not operation.hosts.strip():
        known = ", ".join(host.path for host in placement.hosts.hosts[:SHOWN_LIMIT]) or "none"
        raise AnalysisError("no host is named", place=f"{question.place}.hosts", remedy=f"hosts: {known}")
    emptied = {h.path for h in hosts_of(network, placement.hosts, operation.hosts, f"{question.place}.hosts")}
    leaving = [placed for placed in placement.placed.values() if placed.host.path in emptied]
    if not leaving:
        raise AnalysisError(
            f"no machine runs on {operation.hosts}",
            place=f"{question.place}.hosts",
            remedy="choose a host with machines",
        )
    targets = hosts_of(network, placement.hosts, operation.target, f"{question.place}.to")
    allowed = [host for host in targets if host.path not in emptied]
    conditions = Conditions(
        release=operation.release,
        encrypted=operation.encrypted,
        vmknics_per_nic=operation.vmknics_per_nic,
        mtu=operation.mtu,
        round_trip=operation.round_trip,
        at_once=operation.at_once,
        disks=operation.disks,
        shares=read_shares(operation.shares, operation.shares_beside, question.place),
        cold=operation.cold,
    )
    return answer(network, question, leaving, allowed, conditions, operation.background, "evacuation_time")


EVALUATOR = Evaluator(evaluate)
