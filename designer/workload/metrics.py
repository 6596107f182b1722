"""What the answers of workloads are called, in which unit they come and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple


class Better(Enum):
    """Which direction of a metric is the better one; neither where the answer describes an operating point."""

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"


MORE, LESS, NEITHER = Better.MORE, Better.LESS, Better.NEITHER


class Metric(NamedTuple):
    """One kind of answer: its SI unit as printed, its better direction, and its meaning."""

    unit: str
    better: Better
    help: str


_KNOWN: Final[dict[str, Metric]] = {
    # traffic
    "rate": Metric("B/s", MORE, "all flows together, or the most at one time"),
    "data_rate_per_gpu": Metric("B/s", MORE, "what the slowest accelerator receives"),
    "transfer_time": Metric("s", LESS, "until the last flow of a given size is over"),
    "communication_time": Metric("s", LESS, "one collective; in training, all that does not hide behind computing"),
    "bus_bandwidth": Metric("B/s", MORE, "as nccl-tests prints it (busbw)"),
    "algorithm_bandwidth": Metric("B/s", MORE, "size over time, as nccl-tests prints it (algbw)"),
    # training
    "step_time": Metric("s", LESS, "one optimizer step"),
    "compute_time": Metric("s", LESS, "computing in a step, recomputation and optimizer with it"),
    "samples_per_second": Metric("1/s", MORE, "images or sequences of all accelerators together"),
    "tokens_per_second": Metric("1/s", MORE, "of all accelerators together"),
    "mfu": Metric("1", MORE, "arithmetic the model needs over the peak of its precision"),
    "gpu_utilization": Metric("1", MORE, "computing share of a step"),
    "memory_per_gpu": Metric("B", LESS, "most that an accelerator holds"),
    "speedup": Metric("1", MORE, "against the smallest group that can hold the layout"),
    "scaling_efficiency": Metric("1", MORE, "speedup over the growth in accelerators"),
    "epoch_time": Metric("s", LESS, "one pass over the dataset"),
    "time_to_train": Metric("s", LESS, "with validation and checkpoints"),
    "round_time": Metric("s", LESS, "one round of federated learning, the slowest site waited for"),
    "trial_time": Metric("s", LESS, "one trial of a sweep"),
    "retraining_share": Metric("1", LESS, "share of the time these accelerators retrain"),
    "share_beside_retraining": Metric("1", LESS, "share of the time in which a retraining runs as well"),
    "slow_down_while_retraining": Metric("1", LESS, "times as long it takes while a retraining runs as well"),
    "candidates": Metric("1", NEITHER, "layouts looked at"),
    "fitting": Metric("1", MORE, "layouts that fit in memory"),
    "workflow_time": Metric("s", LESS, "from when new data are there until the model trained on them is deployed"),
    "analysis_time": Metric("s", LESS, "analysing new data"),
    "validation_time": Metric("s", LESS, "validating new data"),
    "preparation_time": Metric("s", LESS, "preparing new data"),
    "training_time": Metric("s", LESS, "training in a workflow"),
    "evaluation_time": Metric("s", LESS, "evaluating what was trained"),
    "deployment_time": Metric("s", LESS, "bringing weights to where they serve"),
    # inside virtual machines
    "compute_share": Metric("1", MORE, "of an accelerator's arithmetic, that a slice or a turn has"),
    "memory_share": Metric("1", MORE, "of an accelerator's memory, that its profile has"),
    "bandwidth_share": Metric("1", MORE, "of an accelerator's memory bandwidth, that a slice or a turn has"),
    "nic_share": Metric("1", MORE, "of a NIC's port, that the functions of its machines have while all are busy"),
    "virtualization_factor": Metric("1", MORE, "share of bare-metal speed under the hypervisor, shares aside"),
    # serving
    "ttft": Metric("s", LESS, "until the first token of a request, in the mean"),
    "ttft_p50": Metric("s", LESS, "half of the requests have their first token by then"),
    "ttft_p95": Metric("s", LESS, "95 % of the requests have their first token by then"),
    "ttft_p95_while_moving": Metric("s", LESS, "95 % of requests sent while machines move have a token by then"),
    "itl_p95_while_moving": Metric("s", LESS, "95 % of the times between tokens while their machine moves"),
    "ttft_p99": Metric("s", LESS, "99 % of the requests have their first token by then"),
    "tpot": Metric("s", LESS, "per token after the first, in the mean of requests"),
    "itl_p50": Metric("s", LESS, "half of the tokens come at most so long after the one before"),
    "itl_p95": Metric("s", LESS, "95 % of the tokens come at most so long after the one before"),
    "itl_p99": Metric("s", LESS, "99 % of the tokens come at most so long after the one before"),
    "latency_p50": Metric("s", LESS, "half of the answers are complete by then"),
    "latency_p90": Metric("s", LESS, "90 % of the answers are complete by then"),
    "latency_p95": Metric("s", LESS, "95 % of the answers are complete by then"),
    "latency_p99": Metric("s", LESS, "99 % of the answers are complete by then"),
    "requests_per_second": Metric("1/s", MORE, "answered, all replicas together"),
    "most_requests_per_second": Metric("1/s", MORE, "that the replicas can answer; above it queues grow without limit"),
    "knee_requests_per_second": Metric("1/s", MORE, "where more load costs more time than it brings answers"),
    "most_samples_per_second": Metric("1/s", MORE, "that the instances can answer at all"),
    "mean_batch": Metric("1", NEITHER, "samples the server gathers into a batch, in the mean"),
    "streams": Metric("1", MORE, "of video, whose frames all get through"),
    "goodput": Metric("1/s", MORE, "requests answered within all limits"),
    "replicas": Metric("1", NEITHER, "engines that each hold the whole model"),
    "requests_running": Metric("1", NEITHER, "in a replica, in the mean"),
    "requests_waiting": Metric("1", LESS, "in a replica, in the mean"),
    "kv_use": Metric("1", LESS, "most of the room for keys and values that was used"),
    "kv_capacity": Metric("1", MORE, "tokens whose keys and values fit in a replica"),
    "prefix_hits": Metric("1", MORE, "share of prompt tokens found in the prefix cache"),
    "power": Metric("W", LESS, "of all accelerators that serve"),
    "energy_per_token": Metric("J", LESS, "of the accelerators, per token put out"),
    "energy_per_million_requests": Metric("J", LESS, "of the accelerators, per million requests answered"),
    "fetch_time": Metric("s", LESS, "of keys and values from beyond the GPU, mean request"),
    "network_time": Metric("s", LESS, "round trip between the farthest client and the model, in latencies and TTFT"),
    "hand_over_time": Metric("s", LESS, "of keys and values to the engine that answers, mean request"),
    "replicas_most": Metric("1", NEITHER, "replicas at once, at the most, where they follow the load"),
    "replicas_mean": Metric("1", LESS, "replicas in the mean, where they follow the load"),
    "accelerator_hours": Metric("1", LESS, "hours of accelerators in a day, where replicas follow the load"),
    "cost_per_day": Metric("1", LESS, "accelerators and their energy, in the currency of their prices"),
    "requests_per_money": Metric("1", MORE, "answered within limits for one unit of the currency"),
    "cold_start_time": Metric("s", LESS, "from an empty accelerator to the first request"),
    "rolling_update_time": Metric("s", LESS, "until all replicas are replaced, some after the others"),
    "requests_while_updating": Metric("1/s", MORE, "that can be answered at all while replicas are replaced"),
    # input
    "input_time": Metric("s", LESS, "until the samples of a step are ready, slowest rank"),
    "input_stall": Metric("s", LESS, "accelerators waiting for samples in a step"),
    "training_rate_per_gpu": Metric("B/s", NEITHER, "what training uses up when it never waits"),
    "input_cores": Metric("1", LESS, "CPU cores busy receiving and handing batches on"),
    "accelerators": Metric("1", LESS, "taken by what is served; of storage the most that it keeps busy"),
    "accelerators_per_server": Metric("1", MORE, "of those, on each host"),
    "delivered_rate": Metric("B/s", MORE, "what storage delivers to a given number of accelerators"),
    # checkpoints
    "checkpoint_time": Metric("s", LESS, "writing one"),
    "checkpoint_stall": Metric("s", LESS, "training standing still for one"),
    "checkpoint_size": Metric("B", LESS, "one, of all ranks"),
    "restore_time": Metric("s", LESS, "reading one back"),
    "best_interval": Metric("s", NEITHER, "between checkpoints, by Young's rule"),
    "ettr": Metric("1", MORE, "effective training time ratio: share of the time that brings the run forward"),
    "ettr_simulated": Metric("1", MORE, "the same of runs with failures drawn at random, and what single runs see"),
    "exact_interval": Metric("s", NEITHER, "between checkpoints, with the highest effective training time ratio"),
    "spares": Metric("1", LESS, "servers with which more are out than there are spares 1 % of the time only"),
    "mean_time_between_failures": Metric("s", MORE, "of the whole job: more accelerators fail more often"),
    "lost_share": Metric("1", LESS, "time lost to checkpoints and failures at that interval"),
    # virtual machines
    "migration_time": Metric("s", LESS, "until the last machine is over"),
    "evacuation_time": Metric("s", LESS, "until the last machine has left"),
    "least_time_possible": Metric("s", LESS, "no order of these moves to the hosts chosen takes less"),
    "switchover_time": Metric("s", LESS, "longest pause of a machine"),
    "stun_time": Metric("s", LESS, "longest stun of virtual GPUs"),
    "transferred": Metric("B", LESS, "over the network, all machines"),
    "machines_staying": Metric("1", LESS, "asked to move, and cannot"),
    "more_machines": Metric("1", MORE, "that still fit"),
    "wait_dedicated": Metric("s", LESS, "mean wait of a job for accelerators of its own team"),
    "wait_shared": Metric("s", LESS, "mean wait of a job for accelerators of the pool"),
    "smallest_pool": Metric("1", LESS, "accelerators of the smallest pool in which jobs wait no longer"),
    "accelerators_saved": Metric("1", MORE, "by sharing"),
}
#: every metric by name; kinds of workloads add their own once they are looked for
METRICS: Final[Mapping[str, Metric]] = MappingProxyType(_KNOWN)


def add_metrics(more: Mapping[str, Metric]) -> None:
    """Make the own metrics of a kind of workload known.

    Raises
    ------
    AssertionError
        If one has the name of a metric that means something else.
    """
    for name, metric in more.items():
        assert _KNOWN.setdefault(name, metric) == metric, f"there is a metric {name} already"


#: where a kind of workload means the opposite: storage that feeds more accelerators is the better storage, while a
#: served model that takes more of them costs more
_OF_KIND: Final[Mapping[tuple[str, str], Better]] = MappingProxyType(
    {("storage_sizing", "accelerators"): MORE, ("training", "accelerators"): MORE}
)
#: relative changes below this are rounding of the solver
_SAME: Final = 5e-4


def better(name: str, kind: str = "") -> Better:
    """The better direction of a metric; `kind` is the kind of workload or of result that reports it, where known.

    Names outside the table, such as those of later versions, have no direction.
    """
    known = METRICS.get(name)
    return _OF_KIND.get((kind, name), known.better if known is not None else NEITHER)


def more_is_better(name: str, kind: str = "") -> bool:
    """True if a larger value of a metric is the better one."""
    return better(name, kind) is MORE


def times_better(name: str, before: float, after: float, kind: str = "") -> float:
    """How many times better a metric became: above 1 for an improvement, whichever its direction.

    1 for metrics without a direction and where either value is not above zero.
    """
    direction = better(name, kind)
    if direction is NEITHER or before <= 0 or after <= 0:
        return 1.0
    return after / before if direction is MORE else before / after


def is_same(before: float, after: float) -> bool:
    """True if two values of a metric differ by no more than rounding."""
    return before == after or abs(after - before) <= _SAME * abs(before)


def tone_of(name: str, before: float, after: float, kind: str = "") -> str:
    """``good`` or ``bad`` for a change of a metric; empty for no change and for metrics without a direction."""
    direction = better(name, kind)
    if direction is NEITHER or is_same(before, after):
        return ""
    return "good" if (after > before) == (direction is MORE) else "bad"
