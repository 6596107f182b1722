"""Words of the field for metrics, parts and links, the same at every door."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.naming import one_of, without_number
from designer.memo import memo

if TYPE_CHECKING:
    from designer.design.document import Block, Design, Part, WorkloadSpec

TITLES: Final = MappingProxyType(
    {
        "rate": "All together",
        "data_rate_per_gpu": "Slowest GPU",
        "transfer_time": "Transfer time",
        "communication_time": "Time",
        "bus_bandwidth": "Bus bandwidth",
        "algorithm_bandwidth": "Algorithm bandwidth",
        "step_time": "Step time",
        "compute_time": "Computing",
        "input_time": "Loading a step",
        "input_stall": "Waiting for data",
        "samples_per_second": "Throughput",
        "tokens_per_second": "Token throughput",
        "epoch_time": "Epoch",
        "time_to_train": "Time to train",
        "speedup": "Speed-up",
        "scaling_efficiency": "Scaling efficiency",
        "gpu_utilization": "GPU utilization",
        "memory_per_gpu": "Memory per GPU",
        "mfu": "MFU",
        "training_rate_per_gpu": "Data used per GPU",
        "input_cores": "CPU cores loading",
        "ttft": "First token, mean",
        "ttft_p50": "First token, p50",
        "ttft_p95": "First token, p95",
        "ttft_p99": "First token, p99",
        "tpot": "Between tokens",
        "itl_p50": "Between tokens, p50",
        "itl_p95": "Between tokens, p95",
        "itl_p99": "Between tokens, p99",
        "latency_p50": "Whole answer, p50",
        "latency_p90": "Whole answer, p90",
        "latency_p95": "Whole answer, p95",
        "latency_p99": "Whole answer, p99",
        "requests_per_second": "Requests answered",
        "most_requests_per_second": "Most requests",
        "most_samples_per_second": "Most samples",
        "knee_requests_per_second": "Best load",
        "goodput": "Within limits",
        "kv_use": "KV cache in use",
        "kv_capacity": "KV cache, tokens",
        "prefix_hits": "Prefix hits",
        "hand_over_time": "KV hand-over",
        "fetch_time": "KV fetch",
        "power": "Power",
        "energy_per_token": "Energy per token",
        "energy_per_million_requests": "Energy, million requests",
        "accelerator_hours": "GPU hours a day",
        "cost_per_day": "Cost of a day",
        "requests_per_money": "Requests for one of the currency",
        "cold_start_time": "Cold start",
        "accelerators": "GPUs",
        "migration_time": "Migration time",
        "least_time_possible": "Shortest possible",
        "switchover_time": "Longest pause",
        "stun_time": "Longest vGPU stun",
        "transferred": "Data moved",
        "evacuation_time": "Evacuation time",
        "machines_staying": "Machines that stay",
        "more_machines": "More machines",
        "checkpoint_time": "Checkpoint",
        "checkpoint_stall": "Pause for it",
        "restore_time": "Restore",
        "ettr": "Effective time",
        "lost_share": "Time lost",
        "mean_time_between_failures": "Time between failures",
        "fitting": "Layouts that fit",
        "candidates": "Layouts tried",
        "product_time": "Time of the product",
        "hashed_share": "Speed when hashed",
        "slowest_flow_share": "Slowest flow",
        "incast_degree": "Senders of one receiver",
        "incast_share": "What they get of its link",
        "hours_computing": "Hours of workloads",
        "hours_held": "Hours of machines",
        "hours_unused": "Hours unused",
        "switch_time": "Longest change",
        "product_rate": "Rate of each",
    }
)
#: abbreviations in names of metrics, as the field writes them
_SPELLED: Final = MappingProxyType(
    {"gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "kv": "KV", "nic": "NIC", "vm": "VM", "ttft": "TTFT", "tpot": "TPOT"}
)
#: metrics that are shares of a whole
SHARES: Final = frozenset(
    (
        "scaling_efficiency",
        "gpu_utilization",
        "mfu",
        "kv_use",
        "prefix_hits",
        "lost_share",
        "ettr",
        "ettr_simulated",
        "retraining_share",
        "share_beside_retraining",
        "compute_share",
        "memory_share",
        "bandwidth_share",
        "nic_share",
        "virtualization_factor",
        "hashed_share",
        "worst_draw",
        "slowest_flow_share",
        "incast_share",
        "hours_computing",
        "hours_held",
        "hours_unused",
    )
)
#: metrics that count, and are whole numbers
COUNTS: Final = frozenset(
    (
        "replicas",
        "accelerators",
        "accelerators_per_server",
        "machines_staying",
        "more_machines",
        "candidates",
        "fitting",
        "spares",
        "streams",
        "smallest_pool",
        "accelerators_saved",
        "input_cores",
    )
)
#: what metrics per second count
_COUNTED: Final = MappingProxyType(
    {
        "tokens_per_second": "tokens",
        "requests_per_second": "requests",
        "most_requests_per_second": "requests",
        "knee_requests_per_second": "requests",
        "requests_while_updating": "requests",
        "goodput": "requests",
        "samples_per_second": "samples",
        "most_samples_per_second": "samples",
        "loops_per_second": "turns",
    }
)
_OF_IMAGES: Final = re.compile(r"resnet|vgg|googlenet|inception|vit|yolo")
#: codes of a layout as the engine writes them
_LAYOUT: Final = re.compile(r"\bTP\d+ PP\d+(?: [A-Za-z]+\d*| shard-\w+)*?(?= needs|[,;.)]|$)")
_WAYS: Final = MappingProxyType(
    {
        "TP": "{}-way tensor parallel",
        "PP": "{} pipeline stages",
        "DP": "{}-way data parallel",
        "EP": "{}-way expert parallel",
        "CP": "{}-way context parallel",
        "VP": "{} virtual stages",
    }
)
_CODES: Final = MappingProxyType(
    {
        "SP": "sequence parallel",
        "shard-optimizer": "optimizer sharded (ZeRO-1)",
        "shard-gradients": "gradients sharded (ZeRO-2)",
        "shard-parameters": "fully sharded (FSDP)",
        "recompute": "recomputing",
    }
)


def _profile(found: re.Match[str]) -> str:
    return f"{found[1].upper()}-{found[2].upper()}"


def _kind(found: re.Match[str]) -> str:
    return f"({link_words(found[1])})"


_Words = str | Callable[[re.Match[str]], str]
#: phrases of the engine, and the words of pages
_PHRASES: Final[tuple[tuple[re.Pattern[str], _Words], ...]] = tuple(
    (re.compile(pattern), words)
    for pattern, words in cast(
        "tuple[tuple[str, _Words], ...]",
        (
            (r"\bgrid_(\w+)-(\d+\w)", _profile),
            (r"NVIDIA ([\w ]+?)(?: \d+ GB)? \(arithmetic\)", r"arithmetic of the \1"),
            (r"NVIDIA ([\w ]+?)(?: \d+ GB)? \(memory bandwidth\)", r"memory of the \1"),
            (
                r"\((pcie|nvlink|upi|x_bus|xgmi|ethernet|infiniband|memory_bus|c2c)( ×\d+)?\)",
                _kind,
            ),
        ),
    )
)
#: link kinds whose name is also that of what they connect
_PLAIN: Final = MappingProxyType({"memory_bus": "Memory bus", "c2c": "NVLink-C2C"})
_STEP: Final = re.compile(r"([^\[\]/]+)\[(?:\d+|\*)\]")
#: names that are no words: paths, addresses, ids
_CODED: Final = re.compile(r"[\d_:/\[\]]")
#: first words of names that are no names themselves
_ORDINARY: Final = frozenset(
    (
        "Bus",
        "Client",
        "Compute",
        "Core",
        "Data",
        "Drive",
        "Drives",
        "Host",
        "Kernel",
        "Latency",
        "Leaf",
        "Loading",
        "Local",
        "Management",
        "Media",
        "Memory",
        "Model",
        "Network",
        "Prefill",
        "Processor",
        "Random",
        "Readers",
        "Room",
        "Server",
        "Servers",
        "Set-up",
        "Spine",
        "Storage",
        "Switch",
        "Switches",
        "The",
        "Top",
        "Uplink",
    )
)
#: where a clause ends
_CLAUSE: Final = re.compile(r"(?<=[;:.]) (?=\S)")
#: most words of a sentence
_LONGEST: Final = 30
_VENDOR: Final = re.compile(r"^(NVIDIA|AMD|Intel|Tesla)\s+")
_MEMORY: Final = re.compile(r"\s+\d+ ?GB\b")
_ASIDE: Final = re.compile(r"\s*\([^()]*\)")


def metric_title(name: str, kind: str = "") -> str:
    """Name of a metric; `kind` is the kind of the result that reports it."""
    if name == "communication_time" and kind == "training":
        return "Network, not hidden"
    if name == "rate" and kind == "migration":
        return "Highest rate"
    if name == "tokens_per_second" and kind == "inference":
        return "Tokens put out"
    words = name.replace("_", " ").capitalize().split()
    return TITLES.get(name) or " ".join(_SPELLED.get(word.casefold(), word) for word in words)


def counted_by(name: str, spec: WorkloadSpec | None = None) -> str:
    """What a metric per second counts: ``requests``, ``tokens``, for models of images ``images``; empty for none."""
    what = _COUNTED.get(name, "")
    model = spec.settings.get("model") if spec is not None else None
    return "images" if what == "samples" and isinstance(model, str) and _OF_IMAGES.search(model) else what


def plain(text: str) -> str:
    """A message of the engine in the words of pages; what scripts read keeps the engine's."""
    for pattern, words in _PHRASES:
        text = pattern.sub(words, text)
    return layouts(text)


def layouts(text: str) -> str:
    """A text with codes of layouts in words: ``TP8 PP1 mb1`` is ``8-way tensor parallel, micro-batch 1``."""
    return _LAYOUT.sub(_layout_words, text)


def _layout_words(found: re.Match[str]) -> str:
    words: list[str] = []
    for code in found[0].split():
        tail = re.search(r"\d+$", code)
        name, number = (code[: tail.start()], int(tail[0])) if tail is not None else (code, 0)
        if name in _WAYS and number > 1:
            words.append(_WAYS[name].format(f"{number:,}"))
        elif name == "mb":
            words.append(f"micro-batch {number:,}")
        elif name in _CODES:
            words.append(_CODES[name])
    return ", ".join(words) or "one GPU"


def part_kind_words(kind: str) -> str:
    """A kind of part: ``PCIe switch``."""
    known = part_kinds().get(kind)
    return known.title if known is not None else kind.replace("_", " ")


def link_words(kind: str) -> str:
    """A kind of link: ``PCIe``."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    known = link_kinds().get(kind)
    return known.title if known is not None else kind.replace("_", " ")


def continued(text: str) -> str:
    """A phrase inside a sentence: small first letter where its first word is an ordinary one."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first in _ORDINARY else text


def opened(text: str) -> str:
    """A phrase at the start of a sentence: large first letter, except for ids and names such as ``vMotion``."""
    first = text.split(" ", 1)[0]
    return text if _CODED.search(first) or first != first.lower() else text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """A message as a sentence of at most 30 words: whole clauses, a large first letter, an end."""
    kept = ""
    for clause in _CLAUSE.split(text.strip()):
        if kept and len(f"{kept} {clause}".split()) > _LONGEST:
            break
        kept = f"{kept} {clause}" if kept else clause
    kept = opened(kept.rstrip(" ;:,"))
    words = kept.split()
    if len(words) > _LONGEST:
        kept = " ".join(words[: _LONGEST - 1]) + " …"
    return kept if kept.endswith((".", "?", "!", "…")) else f"{kept}."


def find_part(block: Block, path: str) -> tuple[Part | None, str]:
    """The part at a path and the label of the group that consists of it; None and empty where there is none."""
    part, group_label = None, ""
    for step in path.split("/"):
        member = _STEP.fullmatch(step)
        group = block.groups.get(member[1]) if member is not None else None
        if group is not None:
            block, part, group_label = group.content, None, group.label
        elif step in block.parts:
            part = block.parts[step]
            group_label = group_label if len(block.parts) == 1 and not block.groups else ""
        else:
            return None, ""
    return part, group_label if part is not None else ""


@memo(most=4, each=4096)
def part_words(block: Block, path: str) -> str:
    """What kind of part is at a path: ``GPU``, ``PCIe switch``, ``Leaf switch``, ``vMotion NIC``."""
    part, group = find_part(block, path)
    if part is None:
        return "part"
    plain = part_kind_words(part.kind)
    name = one_of(group).split(",")[0] if group else without_number(part.label)
    if _CODED.search(name) or len(name) > 40 or plain.startswith(name) or name == part.kind:
        return plain
    return name


def device_words(design: Design, path: str, label: str) -> str:
    """A model without vendor and memory size: ``H100 SXM5``."""
    part, _ = find_part(design, path)
    known = design.type_of(part) if part is not None else None
    name = known.title if known is not None else label
    for pattern in (_VENDOR, _VENDOR, _MEMORY, _ASIDE):
        name = pattern.sub("", name)
    return name.strip() or label


def is_gpu(block: Block, path: str) -> bool:
    """True if a GPU is at a path."""
    part, _ = find_part(block, path)
    return part is not None and part.kind == "gpu"
