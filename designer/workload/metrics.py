"""What the answers of workloads are called, in which unit they come and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class Metric(NamedTuple):
    """One kind of answer: its SI unit as printed, and what it tells."""

    unit: str
    help: str


METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {
        # traffic
        "rate": Metric("B/s", "all flows together, or the most at one time"),
        "data_rate_per_gpu": Metric("B/s", "what the slowest accelerator receives"),
        "transfer_time": Metric("s", "until the last flow of a given size is over"),
        "communication_time": Metric("s", "one collective; in training, all that does not hide behind computing"),
        "bus_bandwidth": Metric("B/s", "as nccl-tests prints it (busbw)"),
        "algorithm_bandwidth": Metric("B/s", "size over time, as nccl-tests prints it (algbw)"),
        # training
        "step_time": Metric("s", "one optimizer step"),
        "compute_time": Metric("s", "computing in a step, recomputation and optimizer with it"),
        "samples_per_second": Metric("1/s", "images or sequences of all accelerators together"),
        "tokens_per_second": Metric("1/s", "of all accelerators together"),
        "mfu": Metric("1", "arithmetic the model needs over the peak of its precision"),
        "gpu_utilization": Metric("1", "computing share of a step"),
        "memory_per_gpu": Metric("B", "most that an accelerator holds"),
        "speedup": Metric("1", "against the smallest group that can hold the layout"),
        "scaling_efficiency": Metric("1", "speedup over the growth in accelerators"),
        "epoch_time": Metric("s", "one pass over the dataset"),
        "time_to_train": Metric("s", "with validation and checkpoints"),
        "round_time": Metric("s", "one round of federated learning, the slowest site waited for"),
        "trial_time": Metric("s", "one trial of a sweep"),
        "retraining_share": Metric("1", "share of the time these accelerators retrain"),
        "share_beside_retraining": Metric("1", "share of the time in which a retraining runs beside it"),
        "slow_down_while_retraining": Metric("1", "times as long it takes while a retraining runs beside it"),
        "candidates": Metric("1", "layouts looked at"),
        "fitting": Metric("1", "layouts that fit in memory"),
        "workflow_time": Metric("s", "from when new data are there until the model trained on them is deployed"),
        "analysis_time": Metric("s", "analysing new data"),
        "validation_time": Metric("s", "validating new data"),
        "preparation_time": Metric("s", "preparing new data"),
        "training_time": Metric("s", "training in a workflow"),
        "evaluation_time": Metric("s", "evaluating what was trained"),
        "deployment_time": Metric("s", "bringing weights to where they serve"),
        # inside virtual machines
        "compute_share": Metric("1", "of an accelerator's arithmetic, that a slice or a turn has"),
        "memory_share": Metric("1", "of an accelerator's memory, that its profile has"),
        "bandwidth_share": Metric("1", "of an accelerator's memory bandwidth, that a slice or a turn has"),
        "nic_share": Metric("1", "of a NIC's port, that the functions of its machines have while all are busy"),
        "virtualization_factor": Metric("1", "what the hypervisor leaves of the speed of bare metal, shares aside"),
        # serving
        "ttft": Metric("s", "until the first token of a request, in the mean"),
        "ttft_p50": Metric("s", "half of the requests have their first token by then"),
        "ttft_p95": Metric("s", "95 % of the requests have their first token by then"),
        "ttft_p95_while_moving": Metric("s", "95 % of requests sent while machines move have a token by then"),
        "itl_p95_while_moving": Metric("s", "95 % of the times between tokens while their machine moves"),
        "ttft_p99": Metric("s", "99 % of the requests have their first token by then"),
        "tpot": Metric("s", "per token after the first, in the mean of requests"),
        "itl_p50": Metric("s", "half of the tokens come at most so long after the one before"),
        "itl_p95": Metric("s", "95 % of the tokens come at most so long after the one before"),
        "itl_p99": Metric("s", "99 % of the tokens come at most so long after the one before"),
        "latency_p50": Metric("s", "half of the answers are complete by then"),
        "latency_p90": Metric("s", "90 % of the answers are complete by then"),
        "latency_p95": Metric("s", "95 % of the answers are complete by then"),
        "latency_p99": Metric("s", "99 % of the answers are complete by then"),
        "requests_per_second": Metric("1/s", "answered, all replicas together"),
        "most_requests_per_second": Metric("1/s", "that the replicas can answer at all; above it queues grow for ever"),
        "knee_requests_per_second": Metric("1/s", "where more load begins to cost more time than it brings answers"),
        "most_samples_per_second": Metric("1/s", "that the instances can answer at all"),
        "mean_batch": Metric("1", "samples the server gathers into a batch, in the mean"),
        "streams": Metric("1", "of video, whose frames all get through"),
        "goodput": Metric("1/s", "requests answered within all limits"),
        "replicas": Metric("1", "engines that each hold the whole model"),
        "requests_running": Metric("1", "in a replica, in the mean"),
        "requests_waiting": Metric("1", "in a replica, in the mean"),
        "kv_use": Metric("1", "most of the room for keys and values that was used"),
        "kv_capacity": Metric("1", "tokens whose keys and values fit in a replica"),
        "prefix_hits": Metric("1", "share of prompt tokens found in the prefix cache"),
        "power": Metric("W", "of all accelerators that serve"),
        "energy_per_token": Metric("J", "of the accelerators, per token put out"),
        "energy_per_million_requests": Metric("J", "of the accelerators, per million requests answered"),
        "fetch_time": Metric("s", "of keys and values from beyond the GPU, mean request"),
        "hand_over_time": Metric("s", "of keys and values to the engine that answers, mean request"),
        "cold_start_time": Metric("s", "from an empty accelerator to the first request"),
        "rolling_update_time": Metric("s", "until all replicas are replaced, some after the others"),
        "requests_while_updating": Metric("1/s", "that can be answered at all while replicas are replaced"),
        # input
        "input_time": Metric("s", "until the samples of a step are ready, slowest rank"),
        "input_stall": Metric("s", "accelerators waiting for samples in a step"),
        "training_rate_per_gpu": Metric("B/s", "what training uses up when it never waits"),
        "input_cores": Metric("1", "CPU cores busy receiving at full rate"),
        "accelerators": Metric("1", "taken by what is served; of storage the most that it keeps busy"),
        "accelerators_per_server": Metric("1", "of those, on each host"),
        # checkpoints
        "checkpoint_time": Metric("s", "writing one"),
        "checkpoint_stall": Metric("s", "training standing still for one"),
        "checkpoint_size": Metric("B", "one, of all ranks"),
        "restore_time": Metric("s", "reading one back"),
        "best_interval": Metric("s", "between checkpoints, by Young's rule"),
        "ettr": Metric("1", "effective training time ratio: share of the time that brings the run forward"),
        "ettr_simulated": Metric("1", "the same of runs with failures drawn at random, and what single runs see"),
        "exact_interval": Metric("s", "between checkpoints, with the highest effective training time ratio"),
        "spares": Metric("1", "servers with which more are out than there are spares 1 % of the time only"),
        "lost_share": Metric("1", "time lost to checkpoints and failures at that interval"),
        # virtual machines
        "migration_time": Metric("s", "until the last machine is over"),
        "evacuation_time": Metric("s", "until the last machine has left"),
        "least_time_possible": Metric("s", "no order of these moves to the hosts chosen takes less"),
        "switchover_time": Metric("s", "longest pause of a machine"),
        "stun_time": Metric("s", "longest stun of virtual GPUs"),
        "transferred": Metric("B", "over the network, all machines"),
        "machines_staying": Metric("1", "asked to move, and cannot"),
        "more_machines": Metric("1", "that still fit"),
        "wait_dedicated": Metric("s", "mean wait of a job for accelerators of its own team"),
        "wait_shared": Metric("s", "mean wait of a job for accelerators of the pool"),
        "smallest_pool": Metric("1", "accelerators of the smallest pool in which jobs wait no longer"),
        "accelerators_saved": Metric("1", "by sharing"),
    }
)
