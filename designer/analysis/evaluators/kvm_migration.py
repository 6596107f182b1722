"""KVM migration: pre-copy of running guests over the drawn network, with its ways out."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._moves import answer, hosts_of, machines
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.moves import Conditions
from designer.analysis.vms.placement import place_vms
from designer.analysis.vms.trips import KvmSettings
from designer.formulas.migration.kvm_bandwidth import Compression, Monitor, Transport
from designer.workload.operations import KvmMigration


def evaluate(network: Network, operation: KvmMigration, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some guests moved at once."""
    placement = place_vms(network)
    leaving = machines(placement, network, operation.vms, question.place)
    allowed = hosts_of(network, placement.hosts, operation.target, f"{question.place}.to")
    settings = KvmSettings(
        channels=operation.channels,
        monitor=Monitor(operation.monitor),
        transport=Transport(operation.transport),
        compression=Compression(operation.compression),
        auto_converge=operation.auto_converge,
        post_copy=operation.post_copy,
        downtime_limit=operation.downtime_limit,
        max_bandwidth=operation.max_bandwidth or None,
        device_state=operation.device_state,
        multifd_devices=operation.multifd_devices,
    )
    conditions = Conditions(release=KVM, dirty_rate=operation.dirty_rate, at_once=operation.at_once, kvm=settings)
    return answer(network, question, leaving, allowed, conditions, operation.background, "migration_time")


EVALUATOR = Evaluator(evaluate)
