"""Inference in batches: vision, speech, ranking and embedding models, by the scenarios of MLPerf and as video."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from designer.errors import AnalysisError
from designer.families.serving.inference import Inference
from designer.families.serving.tasks import Infer
from designer.workload.job_settings import INPUT, input_path
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Measure, Program, Step

SCENARIOS = ("server", "single-stream", "multi-stream", "offline", "video")
PRECISIONS = ("fp16", "bf16", "fp32", "fp8", "int8")
#: more samples than this add nothing, and take minutes
_LOOKED_LIMIT: Final = 1_000_000
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def program(settings: Mapping[str, Any]) -> Program:
    """Samples answered in batches, as the scenario brings them."""
    s = settings
    if s["batch"] < 1:
        raise AnalysisError("a batch of no samples", place="batch", remedy="give 1 or more")
    if s["scenario"] == "server" and s["rate"] <= 0:
        raise AnalysisError("no samples arrive", place="rate", remedy="give samples a second, above 0")
    if s["scenario"] == "video" and (s["streams"] < 1 or s["frames"] <= 0):
        raise AnalysisError("no stream, or one without frames", place="streams", remedy="give both above 0")
    if s["scenario"] == "multi-stream" and s["query"] < 1:
        raise AnalysisError("a query of no samples", place="query", remedy="give 1 or more")
    if not s["model"].strip() and not (s["flop"] and s["weights"]):
        raise AnalysisError("no model is named", place="model", remedy="name one, or give flop and weights")
    if s["sequence"] < 1:
        raise AnalysisError("a sample of no tokens", place="sequence", remedy="give 1 or more")
    if s["origin"].strip() and s["source"].strip():
        raise AnalysisError("samples come from clients and are read", place="origin", remedy="name one of both")
    if not 1 <= s["count"] <= _LOOKED_LIMIT:
        text = f"{s['count']:,} samples are too many to look at" if s["count"] else "no sample is looked at"
        raise AnalysisError(text, place="count", remedy=f"look at 1 to {_LOOKED_LIMIT:,}")
    asked = Inference(
        "inference",
        s["model"].strip(),
        s["flop"],
        s["weights"],
        s["moved"],
        s["sample"],
        s["sequence"],
        s["precision"],
        s["group"],
        s["part"].strip(),
        s["scenario"],
        s["rate"],
        s["streams"],
        s["frames"],
        s["query"],
        s["batch"],
        s["delay"],
        s["limit"],
        SHARES[s["limit_at"]],
        s["count"],
        s["seed"],
        input_path({"prefetch": 1, "background": "", **s}),
        s["origin"].strip(),
        s["reply"],
    )
    names = ("latency_p99", "latency_p50", "latency_p90", "latency_p95")
    measures = [Measure(name, "s", "requests", "infer") for name in names]
    measures.append(Measure("samples_per_second", "1/s", "requests", "infer"))
    return Program("inference", (Step("infer", Infer(asked)),), measures=tuple(measures))


#: where samples are read: as training reads them, and nothing of it where no source is named
_READ: Final = tuple(
    replace(one, default="", help="parts that samples are read from; empty: they come out of host memory")
    if one.name == "source"
    else replace(one, help="whose samples are read; empty for those of the model")
    if one.name == "dataset"
    else one
    for one in INPUT
    if one.name not in ("prefetch", "background")
)

WORKLOAD = WorkloadKind(
    name="inference",
    title="Inference in batches",
    reports="inference",
    metrics=(
        "latency_p50",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "network_time",
        "samples_per_second",
        "most_samples_per_second",
        "goodput",
        "mean_batch",
        "streams",
        "replicas",
        "accelerators",
        "memory_per_gpu",
        "data_rate_per_gpu",
        "input_cores",
        "power",
        "energy_per_million_requests",
    ),
    program=program,
    answer="designer.families.serving.batches",
    help="Vision, speech, ranking or embedding models behind a server that gathers samples into batches: "
    "single-stream, multi-stream, server and offline as MLPerf names them, and video streams with their frames.",
    settings=(
        Setting("model", "Model", "text", "resnet-50", help="id of a model or path of a config.json; or empty"),
        Setting("flop", "Arithmetic of a sample", "flop", "0 FLOP", help="0 FLOP for that of the model"),
        Setting("weights", "Weights", "size", "0 B", help="0 B for those of the model"),
        Setting("moved", "Values through memory", "size", "0 B", help="of a sample; 0 B for those of the model"),
        Setting(
            "sample",
            "Sample sent",
            "size",
            "0 B",
            help="to the device; 0 B for the frame of a sensor or that of the model",
        ),
        Setting("sequence", "Sequence", "count", 384, help="tokens of a sample of a transformer"),
        Setting("precision", "Precision", "choice", "fp16", choices=PRECISIONS),
        Setting("group", "Accelerators", "selector", "gpus"),
        Setting("part", "Part of a GPU", "text", "", help="MIG instance or virtual GPU, such as 1g.10gb or 20C"),
        Setting("scenario", "Scenario", "choice", "server", choices=SCENARIOS),
        Setting("rate", "Samples", "frequency", "1000 1/s", help="of all devices together"),
        Setting("streams", "Video streams", "count", 8, help="of all devices together"),
        Setting("frames", "Frames", "frequency", "30 1/s", help="of each stream"),
        Setting("query", "Samples of a query", "count", 8, help="of the multi-stream scenario"),
        Setting("batch", "Largest batch", "count", 32),
        Setting("delay", "Waits for a batch", "duration", "2 ms", help="the first sample, for others"),
        Setting(
            "limit", "Latency within", "duration", "0 s", help="0 s for any, of video that of a frame, once it is there"
        ),
        Setting("limit_at", "Limit holds at", "choice", "p99", choices=tuple(SHARES)),
        Setting(
            "origin",
            "Samples from",
            "selector",
            "",
            help="clients on a network, or sensors, whose capture counts; empty: latency at the server",
        ),
        Setting("reply", "Answer", "size", "1 kB", help="of a sample, to the client"),
        Setting("count", "Samples looked at", "count", 4000, help="per instance"),
        Setting("seed", "Seed", "count", 0),
        *_READ,
    ),
)
