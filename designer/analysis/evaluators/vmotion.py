"""vMotion: time, switch-over, stun and bytes of moving machines, alone or beside other traffic."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._moves import answer, hosts_of, machines, read_shares
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.moves import Conditions
from designer.analysis.vms.placement import place_vms
from designer.workload.operations import Vmotion


def evaluate(network: Network, operation: Vmotion, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some machines moved at once."""
    placement = place_vms(network)
    leaving = machines(placement, network, operation.vms, question.place)
    allowed = hosts_of(network, placement.hosts, operation.target, f"{question.place}.to")
    conditions = Conditions(
        release=operation.release,
        encrypted=operation.encrypted,
        vmknics_per_nic=operation.vmknics_per_nic,
        mtu=operation.mtu,
        round_trip=operation.round_trip,
        dirty_rate=operation.dirty_rate,
        at_once=operation.at_once,
        disks=operation.disks,
        shares=read_shares(operation.shares, operation.shares_beside, question.place),
    )
    return answer(network, question, leaving, allowed, conditions, operation.background, "migration_time")


EVALUATOR = Evaluator(evaluate)
