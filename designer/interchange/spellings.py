"""Names as publications write them, read as the names of this program: fields of cases, metrics, settings, choices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from designer.errors import FormatError
from designer.formulas.software import recognised
from designer.workload.kind import Setting, WorkloadKind, near

#: fields of a case
_FIELDS: Final = {
    "template": "design",
    "measured": "value",
    "published": "value",
    "measurement": "value",
    "notes": "note",
    "reference": "source",
    "variant": "changes",
}
#: what publications call a metric; the first name that the kind of workload reports is meant
_METRICS: Final[Mapping[str, tuple[str, ...]]] = {
    "busbw": ("bus_bandwidth",),
    "bus_bw": ("bus_bandwidth",),
    "algbw": ("algorithm_bandwidth",),
    "alg_bw": ("algorithm_bandwidth",),
    "algorithm_bw": ("algorithm_bandwidth",),
    "algbandwidth": ("algorithm_bandwidth",),
    "bandwidth": ("rate", "bus_bandwidth"),
    "throughput": ("rate", "samples_per_second", "bus_bandwidth"),
    "bandwidth_total": ("rate",),
    "read_throughput": ("rate",),
    "migration_bandwidth": ("rate",),
    "images_per_second": ("samples_per_second",),
    "images_per_s": ("samples_per_second",),
    "samples_per_s": ("samples_per_second",),
    "sequences_per_second": ("samples_per_second",),
    "img_s": ("samples_per_second",),
    "images_s": ("samples_per_second",),
    "samples_s": ("samples_per_second",),
    "tokens_s": ("tokens_per_second",),
    "tokens_per_s": ("tokens_per_second",),
    "token_throughput": ("tokens_per_second",),
    "iteration_time": ("step_time",),
    "time_per_step": ("step_time",),
    "time_per_iteration": ("step_time",),
    "step_latency": ("step_time",),
    "time": ("communication_time", "transfer_time", "migration_time", "evacuation_time", "step_time"),
    "latency": ("communication_time", "transfer_time"),
    "training_time": ("time_to_train",),
    "total_migration_time": ("migration_time",),
    "total_time": ("migration_time", "evacuation_time", "time_to_train"),
    "duration": ("migration_time", "evacuation_time", "transfer_time", "time_to_train"),
    "downtime": ("switchover_time",),
    "switch_over_time": ("switchover_time",),
    "stun": ("stun_time",),
    "max_accelerators": ("accelerators",),
    "accelerator_count": ("accelerators",),
    "accelerator_utilization": ("gpu_utilization",),
    "au": ("gpu_utilization",),
    "model_flops_utilization": ("mfu",),
    "memory": ("memory_per_gpu",),
    "peak_memory": ("memory_per_gpu",),
    "efficiency": ("scaling_efficiency",),
    "checkpoint_write_time": ("checkpoint_time",),
    "checkpoint_bandwidth": ("rate",),
}
#: what publications call a setting; it counts where the kind has the setting meant, and none of that name itself
_SETTINGS: Final[Mapping[str, str]] = {
    "tp": "tensor",
    "tensor_parallel": "tensor",
    "tensor_parallel_size": "tensor",
    "pp": "pipeline",
    "pipeline_parallel": "pipeline",
    "pipeline_parallel_size": "pipeline",
    "dp": "data",
    "data_parallel": "data",
    "cp": "context",
    "context_parallel": "context",
    "ep": "expert",
    "expert_parallel": "expert",
    "gbs": "global_batch",
    "global_batch_size": "global_batch",
    "mbs": "micro_batch",
    "microbatch": "micro_batch",
    "micro_batch_size": "micro_batch",
    "batch_per_gpu": "micro_batch",
    "local_batch": "micro_batch",
    "batch_size": "batch",
    "seq_len": "sequence",
    "sequence_length": "sequence",
    "seqlen": "sequence",
    "message": "size",
    "message_size": "size",
    "bytes": "size",
    "operation": "collective",
    "op": "collective",
    "algo": "algorithm",
    "gpus": "group",
    "accelerators": "group",
    "ranks": "group",
    "dtype": "precision",
    "number_format": "precision",
    "framework": "software",
    "recomputation": "recompute",
    "activation_checkpointing": "recompute",
    "interleaved_stages": "interleave",
    "zero": "sharding",
    "source": "from",
    "target": "to",
    "destination": "to",
    "pairs": "pairing",
    "bidirectional": "both_ways",
    "vm": "vms",
    "multifd_channels": "channels",
    "connections": "channels",
    "accelerator": "emulated",
    "model": "benchmark",
}
#: what publications call a choice
_CHOICES: Final[Mapping[str, str]] = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send-recv",
    "p2p": "send-recv",
    "nvls": "in-switch",
    "doublebinarytree": "tree",
    "float16": "fp16",
    "half": "fp16",
    "amp": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float8": "fp8",
    "zero1": "optimizer",
    "zero2": "gradients",
    "zero3": "parameters",
    "fsdp": "parameters",
    "1": "optimizer",
    "2": "gradients",
    "3": "parameters",
    "3dunet": "unet3d",
}
_PER_ACCELERATOR: Final = re.compile(r"(?P<base>.+?)_(?:per_)?(?:gpu|accelerator|device)\Z")


class Named(NamedTuple):
    """A metric as meant: a name of ``designer.workload.metrics``, and whether it is told per accelerator."""

    name: str
    per_accelerator: bool = False


def normal(name: object) -> str:
    """A name in lower case with ``_`` between its words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name).strip())
    return re.sub(r"[\s\-_/.]+", "_", text.lower()).strip("_")


def field(name: str) -> str:
    """A field of a case."""
    plain = normal(name)
    return _FIELDS.get(plain, plain)


def metric(kind: WorkloadKind, name: object) -> Named:
    """The metric of a kind of workload that a name means.

    Raises
    ------
    FormatError
        If the kind reports nothing that may be meant.
    """
    plain = normal(name)
    found = _reported(kind, plain)
    if found is not None:
        return Named(found)
    each = _PER_ACCELERATOR.match(plain)
    if each is not None:
        found = _reported(kind, each["base"])
        if found in ("samples_per_second", "tokens_per_second"):
            return Named(found, True)
    meant = near(plain, kind.metrics) or kind.metrics
    raise FormatError(f"{kind.name} does not report {name!r}", place="metric", remedy=f"use {', '.join(meant)}")


def _reported(kind: WorkloadKind, plain: str) -> str | None:
    """The metric of the kind behind a name."""
    return next((m for m in (plain, *_METRICS.get(plain, ())) if m in kind.metrics), None)


def settings(kind: WorkloadKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a kind under their own names, choices and counts in their own form; other values stay as they are.

    Raises
    ------
    FormatError
        If the kind has no such setting, or two names mean one.
    """
    known = {setting.name: setting for setting in kind.settings}
    made: dict[str, Any] = {}
    for name, value in given.items():
        plain = normal(name)
        other = _SETTINGS.get(plain, plain)
        meant = plain if plain in known else other
        if meant not in known:
            close = near(plain, known)
            remedy = f"did you mean {', '.join(close)}?" if close else f"designer workloads {kind.name} lists them"
            raise FormatError(f"{kind.name} has no setting {name!r}", place="workload.settings", remedy=remedy)
        if meant in made:
            raise FormatError(f"{meant!r} is told twice", place="workload.settings", remedy="keep one of them")
        made[meant] = _value(known[meant], value)
    return made


def _value(setting: Setting, value: Any) -> Any:
    if setting.dimension == "count":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and re.fullmatch(r"\s*\d[\d_, ]*", value):
            return int(re.sub(r"\D", "", value))
    if setting.dimension == "flag" and str(value).lower() in ("yes", "on", "true", "no", "off", "false"):
        return str(value).lower() in ("yes", "on", "true")
    if setting.dimension == "choice" and value not in setting.choices:
        return _choice(setting, value)
    return value


def _choice(setting: Setting, value: Any) -> Any:
    plain = re.sub(r"[\s\-_/.]", "", str(value).lower())
    for choice in setting.choices:
        if plain in (re.sub(r"[\s\-_/.]", "", choice.lower()), "") or _CHOICES.get(plain) == choice:
            return choice if plain else value
    if setting.name == "software" and (program := recognised(str(value))) is not None:
        return program.name
    return value
