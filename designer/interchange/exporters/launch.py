"""Launch lines for the layouts of a design's workloads: torchrun with Megatron-LM for training, vLLM, SGLang or
TensorRT-LLM for serving.

The widths are those the analysis works with, found where the workload leaves them open. Paths of data, weights and
scripts, the name of the first host and everything else a design does not know are in capitals behind a dollar sign.
A draft to read before it runs: texts of the design are in comments and in quotes only.
Sources: NVIDIA/Megatron-LM, megatron/training/arguments.py; PyTorch documentation, torchrun; vLLM documentation,
vllm serve; SGLang documentation, server arguments; NVIDIA/TensorRT-LLM, trtllm-serve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from designer import atomic
from designer.design.document import Design, WorkloadSpec
from designer.engine.network import Network, build_network
from designer.errors import DesignerError, ExchangeError
from designer.families.serving.answers import operating
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.split import place_split
from designer.families.serving.tasks import Serve
from designer.families.serving.widths import placed
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.tasks import TrainStep
from designer.formulas.layout import Recompute, Sharding, ends_hold_layers
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import one_line
from designer.workload.kind import program_of
from designer.workload.shape import TransformerShape

_PORT: Final = 29500
_FP8: Final = ("fp8", "mxfp8")


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write one block for each workload that trains or serves.

    Raises
    ------
    ExchangeError
        If none of them does, or none fits the design.
    """
    del options
    network = build_network(design)
    blocks: list[str] = []
    left: list[str] = []
    for spec in design.workloads.values():
        try:
            lines = list(_lines(network, spec))
        except DesignerError as error:
            left.append(f"{spec.id}: {error.text}")
            continue
        if lines:
            head = f"# {one_line(spec.title or spec.id)} ({one_line(spec.id)})"
            blocks.append("\n".join([head, *lines]))
    if not blocks:
        why = f"; {left[0]}" if left else ""
        raise ExchangeError(f"no workload of the design trains or serves a model{why}", remedy="add one that fits")
    title = one_line(design.title or design.name)
    head = f"#!/bin/sh\n# draft: launch lines for {title}\n# read them before you run one\n"
    notes = [f"left out: {text}" for text in left]
    return (*atomic.write(path, (head + "\n" + "\n\n".join(blocks) + "\n").encode("utf-8", "replace")), *notes)


def _lines(network: Network, spec: WorkloadSpec) -> Iterator[str]:
    place = f"workloads.{spec.id}"
    program = program_of(spec.kind, spec.settings, place)
    step, served = (program.first(TrainStep), program.first(Serve)) if program is not None else (None, None)
    if step is not None:
        yield from _training(network, prepare(network, step.job, place))
    elif served is not None:
        asked = served.operation
        if not asked.deployment.prompts:
            placement = placed(network, asked, place)
            sent = sent_to_one(asked.load, len(placement.replicas), place, placement.capacity)
            yield from _serving(operating(placement, asked, sent.requests)[0])
            return
        answers, prompts = place_split(network, asked, place)
        yield from _serving(answers)
        yield "# these read the prompts and hand keys and values on: set up the transfer on both sides"
        yield from _serving(prompts)


def _training(network: Network, plan: TrainingPlan) -> Iterator[str]:
    layout, job, shape = plan.layout, plan.job, plan.shape
    parts = plan.ranks.parts[: layout.ranks].tolist()
    hosts = Counter(_host(network, part) for part in parts)
    each = max(hosts.values())
    if len(set(hosts.values())) > 1:
        yield f"# the ranks are spread unevenly: {', '.join(str(n) for n in hosts.values())} a host"
    yield f"# {layout.ranks} ranks, {each} a host, hosts: {len(hosts)}"
    yield f"# {_named_widths(layout.tensor, layout.pipeline, layout.data, layout.expert, layout.context)}"
    run = ["torchrun", f"--nnodes={len(hosts)}", f"--nproc-per-node={each}"]
    if len(hosts) > 1:
        run += ["--rdzv-backend=c10d", f'--rdzv-endpoint="$FIRST_HOST:{_PORT}"', "--rdzv-id=job"]
    else:
        run += ["--standalone"]
    if not isinstance(shape, TransformerShape):
        yield _command([*run, '"$SCRIPT"'], [f"--batch-size {max(1, round(plan.local_batch))}"])
        return
    yield _command([*run, "pretrain_gpt.py"], [*_widths(plan), *_model(shape, job.sequence), *_numbers(plan)])


def _named_widths(tensor: int, pipeline: int, data: int, expert: int, context: int = 1) -> str:
    named = (("tensor", tensor), ("pipeline", pipeline), ("context", context), ("data", data), ("expert", expert))
    return ", ".join(f"{name} {width}" for name, width in named)


def _widths(plan: TrainingPlan) -> Iterator[str]:
    layout, job, shape = plan.layout, plan.job, plan.shape
    yield f"--tensor-model-parallel-size {layout.tensor}"
    yield f"--pipeline-model-parallel-size {layout.pipeline}"
    if layout.context > 1:
        yield f"--context-parallel-size {layout.context}"
    if isinstance(shape, TransformerShape) and shape.experts:
        yield f"--expert-model-parallel-size {layout.expert}"
    if layout.interleave > 1:
        yield f"--num-virtual-stages-per-pipeline-rank {layout.interleave}"
    if isinstance(shape, TransformerShape) and ends_hold_layers(shape.layers, layout):
        yield "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split"
    if layout.sequence_parallel and layout.tensor > 1:
        yield "--sequence-parallel"
    yield f"--micro-batch-size {job.micro_batch}"
    yield f"--global-batch-size {plan.global_batch}"
    match layout.sharding:
        case Sharding.OPTIMIZER:
            yield "--use-distributed-optimizer"
        case Sharding.GRADIENTS:
            yield "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads"
        case Sharding.PARAMETERS:
            yield "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params"
        case _:
            pass
    if layout.recompute is Recompute.SELECTIVE:
        yield "--recompute-activations"
    elif layout.recompute is Recompute.POINTWISE and isinstance(shape, TransformerShape):
        modules = ["layernorm", *(["moe_act"] if shape.experts else []), *(["mla_up_proj"] if shape.kv_rank else [])]
        yield f"--recompute-granularity selective --recompute-modules {' '.join(modules)}"
    elif layout.recompute is Recompute.FULL:
        yield "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"


def _model(shape: TransformerShape, sequence: int) -> Iterator[str]:
    yield f"--num-layers {shape.layers}"
    yield f"--hidden-size {shape.hidden}"
    yield f"--num-attention-heads {shape.heads}"
    if shape.kv_heads != shape.heads and not shape.kv_rank:
        yield f"--group-query-attention --num-query-groups {shape.kv_heads}"
    if shape.kv_rank:
        yield f"--multi-latent-attention --kv-lora-rank {shape.kv_rank}"
    yield f"--ffn-hidden-size {shape.ffn or shape.expert_ffn}"
    if shape.gated:
        yield "--swiglu"
    if shape.experts:
        yield f"--num-experts {shape.experts} --moe-router-topk {shape.experts_per_token}"
        yield f"--moe-ffn-hidden-size {shape.expert_ffn or shape.ffn}"
    if not shape.tied:
        yield "--untie-embeddings-and-output-weights"
    yield f"--seq-length {sequence} --max-position-embeddings {sequence}"


def _numbers(plan: TrainingPlan) -> Iterator[str]:
    if plan.job.precision in _FP8:
        yield "--bf16 --fp8-format hybrid"
    elif plan.job.precision == "nvfp4":
        yield "--bf16 --fp4-format e2m1 --fp4-recipe nvfp4"
    elif plan.job.precision in ("bf16", "fp16"):
        yield f"--{plan.job.precision}"
    yield '--tokenizer-type HuggingFaceTokenizer --tokenizer-model "$TOKENIZER"'
    yield '--data-path "$DATA" --save "$CHECKPOINTS" --load "$CHECKPOINTS"'


def _serving(one: Placement) -> Iterator[str]:
    asked, split, shape = one.deployment, one.split, one.shape
    replicas = len(one.replicas)
    hosts = {_host(one.network, part) for part in np.unique(one.replicas[0]).tolist()}
    yield f"# model {one_line(shape.name)}, replicas: {replicas}, devices of each: {one.replicas.shape[1]}"
    yield f"# hosts of each: {len(hosts)}; {_named_widths(split.tensor, split.pipeline, split.data, split.expert)}"
    if asked.part:
        yield f"# each replica has a part of a device: {one_line(asked.part)}"
    for number, devices in enumerate(one.replicas[:_SHOWN].tolist()):
        shown = ", ".join(one_line(one.network.net.path(part)) for part in devices[:_SHOWN])
        more = f" and {len(devices) - _SHOWN} more" if len(devices) > _SHOWN else ""
        yield f"# replica {number}: {shown}{more}"
    if replicas > _SHOWN:
        yield f"# and {replicas - _SHOWN} more; the line is the same for each"
    yield _ENGINES[asked.engine](one)


def _vllm(placed: Placement) -> str:
    asked, split, scheduling = placed.deployment, placed.split, placed.scheduling
    lines = [f"--tensor-parallel-size {split.tensor}"]
    if split.pipeline > 1:
        lines.append(f"--pipeline-parallel-size {split.pipeline}")
    if split.data > 1:
        lines.append(f"--data-parallel-size {split.data}")
    if split.expert > 1:
        lines.append("--enable-expert-parallel")
    if asked.redundant:
        lines.append(f"--enable-eplb --eplb-config.num-redundant-experts {asked.redundant}")
    if asked.overlap:
        lines.append("--enable-dbo")
    # of each group of attention
    budget, slots = scheduling.budget // scheduling.groups, scheduling.slots // scheduling.groups
    lines += [f"--max-num-batched-tokens {budget}", f"--max-num-seqs {slots}"]
    lines.append(f"--gpu-memory-utilization {scheduling.memory_share:g}")
    if "fp8" in (asked.cache or ""):
        lines.append("--kv-cache-dtype fp8")
    if asked.weights == "fp8" and not asked.published:
        lines.append("--quantization fp8")
    if asked.block:
        lines.append(f"--block-size {asked.block}")
    if not asked.graph:
        lines.append("--enforce-eager")
    return _command(["vllm", "serve", '"$MODEL"'], lines)


def _sglang(placed: Placement) -> str:
    asked, split, scheduling = placed.deployment, placed.split, placed.scheduling
    lines = [f"--tp-size {split.tensor}"]
    if split.pipeline > 1:
        lines.append(f"--pp-size {split.pipeline}")
    if split.data > 1:
        lines.append(f"--dp-size {split.data}")
    if split.expert > 1:
        lines.append(f"--ep-size {split.expert}")
    if split.sends_tokens:
        lines.append("--enable-dp-attention --moe-a2a-backend deepep --moe-dense-tp-size 1")
    if asked.redundant:
        lines.append(f"--enable-eplb --ep-num-redundant-experts {asked.redundant}")
    if asked.overlap:
        lines.append("--enable-two-batch-overlap")
    lines += [f"--chunked-prefill-size {scheduling.budget}", f"--max-running-requests {scheduling.slots}"]
    lines.append(f"--mem-fraction-static {scheduling.memory_share:g}")
    if "fp8" in (asked.cache or ""):
        lines.append("--kv-cache-dtype fp8_e4m3")
    if asked.weights == "fp8" and not asked.published:
        lines.append("--quantization fp8")
    if not asked.graph:
        lines.append("--disable-cuda-graph")
    return _command(["python", "-m", "sglang.launch_server", '--model-path "$MODEL"'], lines)


def _tensorrt(placed: Placement) -> str:
    split, scheduling = placed.split, placed.scheduling
    lines = [f"--tp_size {split.tensor}", f"--pp_size {split.pipeline}"]
    if split.expert > 1:
        lines.append(f"--ep_size {split.expert}")
    # of each group of attention
    budget, slots = scheduling.budget // scheduling.groups, scheduling.slots // scheduling.groups
    lines += [f"--max_batch_size {slots}", f"--max_num_tokens {budget}"]
    lines.append(f"--kv_cache_free_gpu_memory_fraction {scheduling.memory_share:g}")
    return _command(["trtllm-serve", '"$MODEL"'], lines)


_ENGINES: Final = {"vllm": _vllm, "sglang": _sglang, "tensorrt-llm": _tensorrt}
#: so many replicas and devices are named
_SHOWN: Final = 16


def _host(network: Network, part: int) -> int:
    """The server a part is in, else the part itself."""
    net = network.net
    at = part
    while at >= 0 and net.part(at).kind != "server":
        at = int(net.parent[at])
    return at if at >= 0 else part


def _command(start: list[str], arguments: list[str]) -> str:
    """One command over several lines."""
    return " \\\n  ".join([" ".join(start), *arguments])


EXPORTER = Exporter("launch", ".launch.sh", "Launch lines", write)
