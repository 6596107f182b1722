"""Settings that workload kinds of training share, and the jobs they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from designer.errors import AnalysisError
from designer.workload.jobs import InputPath, Job, Run
from designer.workload.kind import Setting

PRECISIONS: Final = ("bf16", "fp16", "fp8", "nvfp4", "tf32", "fp32")
SHARDINGS: Final = ("auto", "none", "optimizer", "gradients", "parameters")
SOFTWARE: Final = (
    "fsdp",
    "fsdp-compiled",
    "fsdp-eager",
    "transformer-engine",
    "transformer-engine-fp8-attention",
    "megatron-2022",
    "tuned",
    "fused",
    "fused-2022",
    "eager",
    "unknown",
)

MODEL: Final = (
    Setting(
        "model", "Model", "text", "llama-2-7b", help="id, resnet-50@448 for images of a side; a config.json; layers"
    ),
    Setting("group", "Accelerators", "selector", "gpus", help="which accelerators take part, for example gpus or cpus"),
    Setting("precision", "Number format", "choice", "bf16", choices=PRECISIONS),
    Setting(
        "software",
        "Training program",
        "choice",
        "fsdp",
        choices=SOFTWARE,
        help="fsdp: PyTorch FSDP, compiled or not; fsdp-compiled: torch.compile, JAX; fsdp-eager: neither, nanotron; "
        "transformer-engine: NeMo, Megatron-Core, attention in 16 bit or 8; megatron-2022: nothing overlaps, no fused "
        "attention; fused: MLPerf, fused-2022: that of 2022, gradients summed after the backward pass; tuned, eager: "
        "PyTorch with and without fused kernels; "
        "unknown: any other, DeepSpeed, in wide bands",
    ),
    Setting(
        "release",
        "Release of the program",
        "text",
        "",
        help="2024, 2024-09 or 24.09: kernels, overlap and number formats of that time; empty: in bands that hold all",
    ),
    Setting(
        "optimizer",
        "Optimizer kernels",
        "choice",
        "program",
        choices=("program", "fused", "foreach", "for-loop"),
        help="fused: one kernel, 30 B a parameter; foreach: one for each operation, 80 B; for-loop: 8 for each tensor "
        "besides; program: what the program does",
    ),
    Setting(
        "machines",
        "In machines",
        "text",
        "",
        help="ids of virtual machines, or a MIG instance such as 3g.40gb; empty: as drawn",
    ),
    Setting("global_batch", "Global batch", "count", 0, help="samples per step; 0 for one microbatch on each rank"),
    Setting("sequence", "Sequence", "count", 4096, help="tokens per sample of a transformer"),
)
LAYOUT: Final = (
    Setting("micro_batch", "Microbatch", "count", 1, help="samples that run at once on a data-parallel rank"),
    Setting("tensor", "Tensor parallel", "count", 1),
    Setting("pipeline", "Pipeline parallel", "count", 1),
    Setting("data", "Data parallel", "count", 0, help="0 for what the group leaves"),
    Setting("context", "Context parallel", "count", 1),
    Setting("expert", "Expert parallel", "count", 1),
    Setting("interleave", "Interleaved stages", "count", 1),
    Setting(
        "schedule",
        "Pipeline schedule",
        "choice",
        "1f1b",
        choices=("1f1b", "zero-bubble", "dual-pipe"),
        help="1f1b: one forward, one backward; zero-bubble: gradients of weights fill gaps; dual-pipe: from both ends, "
        "traffic of experts behind computing, each token sent once to a server (DeepSeek-V3)",
    ),
    Setting("sequence_parallel", "Sequence parallel", "flag", False),
    Setting(
        "sharding",
        "Sharding",
        "choice",
        "auto",
        choices=SHARDINGS,
        help="ZeRO 1, 2, 3; parameters is FSDP; auto: as little as fits in memory",
    ),
    Setting(
        "recompute",
        "Recompute",
        "choice",
        "auto",
        choices=("auto", "none", "pointwise", "selective", "full"),
        help="auto: as little as fits in memory, of none, selective and full; pointwise: norms and activation "
        "functions, as DeepSeek-V3 and Megatron-Core (layernorm, moe_act, mla_up_proj)",
    ),
    Setting("placement", "Rank order", "choice", "drawn", choices=("drawn", "best")),
    Setting("adapters", "Adapters only", "flag", False),
)
INPUT: Final = (
    Setting("dataset", "Dataset", "text", "", help="id of a dataset, or custom; empty to leave the input out"),
    Setting("source", "Data from", "selector", "storage", help="parts that hold the data"),
    Setting("workers", "Workers per accelerator", "count", 8),
    Setting("prefetch", "Batches ahead", "count", 2, help="0: load, then compute"),
    Setting("decode", "Decoding", "choice", "cpu", choices=("cpu", "gpu", "none")),
    Setting(
        "decode_rate",
        "Samples per worker",
        "frequency",
        "0 1/s",
        help="or per accelerator, where those decode; 0 1/s for a general value",
    ),
    Setting(
        "loader",
        "Loader",
        "choice",
        "files",
        choices=("files", "ffcv", "dali"),
        help="files: processes that read file after file (PyTorch); ffcv: pages of one file, compiled, 8 bit a value; "
        "dali: threads, 8 bit a value",
    ),
    Setting("epoch_samples", "Samples of an epoch", "count", 0, help="0 for those of the dataset"),
    Setting("sample_size", "Sample size", "size", "0 B", help="mean, as stored; 0 B for that of the dataset"),
    Setting("sample_spread", "Spread of sizes", "ratio", 0, help="standard deviation over the mean"),
    Setting("resolution", "Side of a picture", "count", 0, help="pixels, as accelerators get it; 0 for the dataset's"),
    Setting("cached", "Page cache share", "ratio", 0, help="share of reads the page cache serves"),
    Setting("access", "Access", "choice", "auto", choices=("auto", "random", "sequential")),
    Setting("io_size", "I/O size", "size", "0 B", help="of a request to storage; 0 B for streams"),
    Setting("queue_depth", "Queue depth", "count", 1, help="requests a worker keeps in flight, where they have a size"),
    Setting("gpudirect", "GPUDirect", "choice", "policy", choices=("policy", "on", "off")),
    Setting(
        "background",
        "At the same time",
        "text",
        "",
        help="ids of transfers and of trainings with a cadence that share it",
    ),
)
RUN: Final = (
    Setting("epochs", "Epochs", "ratio", 1),
    Setting("epochs_least", "Epochs at least", "ratio", 0, help="where how many is not known; 0 for just those"),
    Setting("epochs_most", "Epochs at most", "ratio", 0, help="where how many is not known; 0 for just those"),
    Setting("samples", "Samples to converge", "count", 0, help="0 for epochs times the dataset"),
    Setting("validate_every", "Epochs between validations", "ratio", 0, help="0 for none"),
    Setting("checkpoint_every", "Steps between checkpoints", "count", 0, help="0 for none"),
    Setting("checkpoint_to", "Checkpoints to", "selector", "storage"),
    Setting("snapshot", "Checkpoint behind training", "flag", False),
    Setting("online", "Online learning", "flag", False),
    Setting("arrival_rate", "Samples arriving", "frequency", "0 1/s"),
    Setting("retrain_every", "Retraining cadence", "duration", "0 s", help="0 s for none"),
    Setting("time_between_failures", "Time between failures", "duration", "0 s", help="of the job; 0 s for none"),
    Setting("cold_start", "Cold start", "duration", "10 min", help="from a failure until the checkpoint is read"),
    Setting("failure_seed", "Seed of failures", "count", 0),
)
FORWARD: Final = (
    Setting("forward_only", "Forward pass only", "flag", False, help="validation or batch inference"),
    Setting("measured_compute", "Measured computing time", "duration", "0 s", help="0 s for the estimate"),
)


def job(values: Mapping[str, Any]) -> Job:
    """The job of settings; those a kind does not have take what changes nothing."""
    taken = {s.name: values.get(s.name, s.default) for s in (*MODEL, *LAYOUT)}
    return Job(
        **taken, forward_only=values.get("forward_only", False), measured_compute=values.get("measured_compute", 0.0)
    )


def input_path(values: Mapping[str, Any]) -> InputPath:
    """The input path of settings."""
    return InputPath(**{s.name: values[s.name] for s in INPUT})


def run(values: Mapping[str, Any]) -> Run:
    """The run of settings.

    Raises
    ------
    AnalysisError
        If the number of epochs lies outside its own bounds.
    """
    epochs, least, most = (values[name] for name in ("epochs", "epochs_least", "epochs_most"))
    if least > epochs:
        raise AnalysisError(
            f"{epochs:g} epochs where at least {least:g} are meant", place="epochs_least", remedy="give fewer, or 0"
        )
    if 0 < most < epochs:
        raise AnalysisError(
            f"{epochs:g} epochs where at most {most:g} are meant", place="epochs_most", remedy="give more, or 0"
        )
    return Run(**{s.name: values[s.name] for s in RUN})
