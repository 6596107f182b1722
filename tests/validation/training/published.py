"""Published training runs turned into inputs of the step estimate, and the estimates scored."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from designer.formulas.layout import Layout, Recompute, Sharding
from designer.formulas.pipeline.training_step import StepEstimate, estimate_step
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.workload.models import model
from tests.validation.training.machines import network_of, part_of

IMAGES = 1281167
#: mean tokens of 512 in the Wikipedia sequences of BERT: padding exceeds half (Krell et al. 2021)
BERT_TOKENS = 256

Point = Mapping[str, Any]

#: benchmark rules: samples evaluated per sample trained
EVALUATED = {"ResNet": 50_000 / (4 * IMAGES), "BERT": 10_000 / 200_000, "GPT-3": 5_760 / 24_576, "LoRA": 173 / 384}
#: forward only against forward and backward
FORWARD = 1 / 3


def with_evaluation(name: str) -> float:
    """Time with evaluation over time without."""
    for key, share in EVALUATED.items():
        if key in name:
            return 1 + share * (FORWARD if key != "LoRA" else 0.5)
    return 1.0


@dataclass(frozen=True)
class Scored:
    id: str
    group: str
    measured: float
    predicted: float
    low: float
    high: float
    one_sided: bool = False

    @property
    def error(self) -> float:
        if self.one_sided and self.predicted >= self.measured:
            return 0.0
        return abs(math.log(self.predicted / self.measured))

    @property
    def inside(self) -> bool:
        return self.low <= self.measured <= self.high


def _degree(text: str, key: str, default: int = 1) -> int:
    found = re.search(rf"\b{key}(\d+)\b", text)
    return int(found[1]) if found else default


def megatron_step(setup: Point) -> StepEstimate:
    text = setup.get("parallelism", "")
    name = {
        "GPT 22B": "gpt-22b", "GPT 175B": "gpt-175b", "GPT-3 175B": "gpt-175b", "GPT 530B": "gpt-530b",
        "GPT 1T": "gpt-1t", "LLAMA3-8B": "llama-3-8b", "LLAMA3-70B": "llama-3-70b", "LLAMA3-405B": "llama-3-405b",
        "GPT-3 175B from checkpoint (2.69 log ppl), seq 2048": "gpt-175b",
        "Llama2-70B LoRA fine-tune, seq 8192": "llama-2-70b",
    }[setup["model"]]  # fmt: skip
    gpus = setup["gpus"]
    tp, pp, cp = _degree(text, "TP"), _degree(text, "PP"), _degree(text, "CP")
    recompute_text = setup.get("recompute", "")
    modern = "H100" in setup.get("gpu_model", "")
    # Megatron-LM of 2021 recomputed everything where it does not say otherwise
    full = recompute_text.startswith("full") or (not modern and not recompute_text)
    interleave = _degree(text, "VP", _degree(text.replace("interleave ", "interleave"), "interleave"))
    if interleave == 1 and name in ("gpt-175b", "gpt-530b") and pp > 1:
        interleave = 3 if pp in (8, 35) else 2
        if modern:
            interleave = 12 if pp == 8 else 8
        if pp == 16:
            interleave = 3
    lora = "LoRA" in setup["model"]
    sequence = setup.get("seq") or (8192 if "8192" in setup["model"] else 2048)
    dp = max(1, gpus // (tp * pp * cp))
    micro = setup.get("micro_batch") or _degree(text, "MBS")
    if name == "gpt-22b":
        micro = 4
    layout = Layout(
        tensor=tp, pipeline=pp, data=dp, context=cp, interleave=interleave, micro_batch=micro,
        sequence_parallel=not full and tp > 1,
        sharding=Sharding.OPTIMIZER if modern else Sharding.NONE,
        recompute=Recompute.FULL if full else Recompute.SELECTIVE if not modern else Recompute.NONE,
    )  # fmt: skip
    part = part_of(setup.get("gpu_model", "A100-80"))
    number_format = "fp8" if modern else "fp16"
    batch = max(setup["global_batch"], dp)
    return estimate_step(
        model(name), precision(number_format), layout, batch, part, network_of(part, 8).costs(layout),
        software("transformer-engine" if modern else "megatron-2022"),
        sequence=sequence, frozen=lora, must_fit=False,
    )  # fmt: skip


def mosaic_step(setup: Point) -> StepEstimate:
    part = part_of(setup["gpu_model"])
    name = "mpt-" + setup["model"].split()[1].lower()
    gpus = setup["gpus"]
    layout = Layout(
        data=gpus, micro_batch=setup["micro_batch"], sharding=Sharding.PARAMETERS,
        recompute=Recompute.FULL if str(setup["activation_checkpointing"]) == "True" else Recompute.NONE,
    )  # fmt: skip
    fmt = "fp8" if "fp8" in setup["precision"] else "bf16"
    return estimate_step(
        model(name), precision(fmt), layout, setup["global_batch"], part, network_of(part, 8).costs(layout),
        software("fsdp"), sequence=setup["seq"], must_fit=False,
    )  # fmt: skip


def number_format_of(text: str, part_name: str) -> str:
    upper = text.upper()
    if "TF32" in upper:
        return "tf32"
    if "FP32" in upper:
        return "fp32"
    return "fp16"


def cnn_step(setup: Point, model_id: str, local: float, program: str, fmt: str, per_server: int) -> StepEstimate:
    part = part_of(setup.get("gpu_model") or setup["system"])
    gpus = setup["gpus"]
    layout = Layout(data=gpus)
    return estimate_step(
        model(model_id), precision(fmt), layout, round(local * gpus), part, network_of(part, per_server).costs(layout),
        software(program), must_fit=False,
    )  # fmt: skip


def bert_step(
    setup: Point, tokens: int, micro: int, accumulate: int, program: str, fmt: str, per_server: int
) -> StepEstimate:
    part = part_of(setup.get("gpu_model") or setup["system"])
    gpus = setup["gpus"]
    layout = Layout(data=gpus, micro_batch=micro)
    return estimate_step(
        model("bert-large"), precision(fmt), layout, gpus * micro * accumulate, part,
        network_of(part, per_server).costs(layout), software(program), sequence=tokens, must_fit=False,
    )  # fmt: skip


def _number(value: object, default: int, fmt: str = "") -> int:
    if isinstance(value, int | float):
        return int(value)
    found = re.findall(r"(?<!FP)\b\d+", str(value))
    if not found:
        return default
    return int(found[-1]) if fmt == "fp32" and len(found) > 1 else int(found[0])


def predict(point: Point) -> Scored | None:
    """The estimate of one published run, None for what has nothing to estimate."""
    setup, metric, group = point["setup"], point["metric"], point["group"]
    name = setup.get("model", "")
    if metric == "time_to_train" and not any(key.endswith("to_converge_mean") for key in setup):
        return None
    step: StepEstimate | None = None
    per_step: float = 0.0
    if group == "megatron-lm" or "GPT-3" in name or "LoRA" in name:
        step = megatron_step(setup)
        if "LoRA" in name:
            per_step = step.global_batch
        else:
            per_step = step.tokens_per_second * step.step_time
    elif group.startswith("mosaic"):
        step = mosaic_step(setup)
        per_step = step.tokens_per_second * step.step_time
    elif group == "deeplearningexamples":
        fmt = number_format_of(setup["precision"], "")
        if "SQuAD" in name:
            step = bert_step(setup, 384, setup["batch_per_gpu"], 1, "tuned", fmt, 8)
        elif "BERT" in name:
            micro = setup.get("micro_batch") or setup["global_per_gpu_batch"] // setup["grad_accum"]
            tokens = BERT_TOKENS + 32 if setup["seq"] == 512 else setup["seq"]
            step = bert_step(setup, tokens, micro, setup["grad_accum"], "tuned", fmt, 8)
        else:
            local = _number(setup["batch_per_gpu"], 256, fmt)
            program = "fused" if "MXNet" in setup["framework"] else "tuned"
            step = cnn_step(setup, "resnet-50", local, program, fmt, 16)
        per_step = step.global_batch
    elif group == "lambda":
        fmt = "fp16" if "FP16" in setup["precision"] else "tf32"
        local = setup["global_batch"] // setup["gpus"]
        if "bert" in name:
            step = bert_step(setup, 384, local, 1, "eager", fmt, 8)
        else:
            step = cnn_step(setup, "resnet-50", local, "eager", fmt, 8)
        per_step = step.global_batch
    elif group == "tensorflow-benchmarks-2017":
        model_id = "inception-v3" if "Inception" in name else "resnet-50"
        step = cnn_step(setup, model_id, setup["batch_per_gpu"], "tuned", "fp32", 8)
        per_step = step.global_batch
    elif group.startswith("mlperf-training"):
        hopper = "H100" in setup["gpu_model"]
        if "ResNet" in name:
            step = cnn_step(
                setup, "resnet-50", setup["global_batch"] / setup["gpus"], "fused", "fp16", setup["gpus_per_node"]
            )
            needed = setup.get("epochs_to_converge_mean", 41) * IMAGES
        else:
            local = max(1, setup["global_batch"] // setup["gpus"])
            # what one pass holds; more is accumulated
            most = 96 if hopper else 56
            accumulate = max(1, math.ceil(local / most))
            while local % accumulate:
                accumulate += 1
            step = bert_step(
                setup, BERT_TOKENS, local // accumulate, accumulate, "fused", "fp8" if hopper else "fp16",
                setup["gpus_per_node"],
            )  # fmt: skip
            needed = setup.get("samples_to_converge_mean", 3.0e6)
        per_step = step.global_batch
        if metric == "time_to_train":
            minutes = needed / per_step / 60 * with_evaluation(name)
            return _scored(point, [minutes * step.step_time, minutes * step.low, minutes * step.high])
    if step is None:
        return None
    if metric == "mfu":
        scale = 100 * step.mfu * step.step_time
        return _scored(point, [scale / t for t in (step.step_time, step.low, step.high)])
    if metric == "iteration_time":
        return _scored(point, [step.step_time, step.low, step.high])
    if metric == "time_to_train":
        needed = setup.get("tokens_to_converge_mean") or setup["samples_to_converge_mean"]
        minutes = needed / per_step / 60 * with_evaluation(name)
        return _scored(point, [minutes * step.step_time, minutes * step.low, minutes * step.high])
    if "GPT-3" in name and group.startswith("mlperf"):
        # published as tokens over the whole time, evaluation included
        per_step /= with_evaluation(name)
    if metric == "tokens_per_s_per_gpu":
        per_step /= setup["gpus"]
    return _scored(point, [per_step / t for t in (step.step_time, step.low, step.high)])


def _scored(point: Point, values: list[float]) -> Scored:
    return Scored(point["id"], point["group"], point["value"], values[0], min(values), max(values))


def score(points: Iterable[Scored]) -> dict[str, tuple[int, float, float, float]]:
    """By group: points, median error, share inside the band, mean relative half-width of the band."""
    groups: dict[str, list[Scored]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(point)
    table = {}
    for group, rows in groups.items():
        errors = sorted(row.error for row in rows)
        middle = len(errors) // 2
        median = errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2
        width = sum((row.high - row.low) / (2 * row.predicted) for row in rows) / len(rows)
        table[group] = (len(rows), median, sum(row.inside for row in rows) / len(rows), width)
    return table
