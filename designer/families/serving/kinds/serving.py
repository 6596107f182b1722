"""Serving: a language model behind an engine, its latency at a load and what binds prompts and decoding."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from designer.errors import AnalysisError, UnitError, raised_as
from designer.families.serving.benchmarks import BENCHMARKS, as_measured
from designer.families.serving.deployment import Deployment, Limits, Load, Serving
from designer.families.serving.engines import ENGINES, read_calibration
from designer.families.serving.tasks import Serve
from designer.units import parse
from designer.workload.kind import Setting, WorkloadKind, listed, read_settings
from designer.workload.program import Measure, Program, Step

#: what the model is published in, as vLLM and SGLang call that
AUTO = "auto"
WEIGHTS = (
    *(AUTO, "bf16", "fp16", "fp8", "int8", "nvfp4", "mxfp4", "int4"),
    *("fp8-experts", "nvfp4-experts", "nvfp4-experts-fp8"),
)
LENGTHS = ("", "azure-2023-code", "azure-2023-conversation", "mooncake-conversation")
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def _profile(text: str) -> tuple[float, ...]:
    found: list[float] = []
    for piece in listed(text):
        with raised_as(AnalysisError, "profile", of=UnitError):
            found.append(float(parse(piece, "ratio")))
        if found[-1] < 0:
            raise AnalysisError(f"{piece!r} is negative", place="profile", remedy="give zero or more")
    if found and not any(found):
        raise AnalysisError("a profile of nothing but zeros", place="profile", remedy="give one share above 0")
    return tuple(found)


def asked(settings: Mapping[str, Any]) -> Serving:
    """What is served, at which load, within which limits.

    Raises
    ------
    AnalysisError
        If settings contradict each other or leave nothing to serve.
    """
    s = settings
    _check(s)
    deployment, load = _deployment(s), _with_images(s, _load(s))
    limits = Limits(s["ttft_limit"], s["tpot_limit"], s["latency_limit"], SHARES[s["limit_at"]])
    return Serving(
        "serving",
        deployment,
        load,
        limits,
        s["storage"],
        s["readers"],
        s["tiers"],
        s["tier_share"],
        s["peers"],
        s["update"],
        listed(s["beside"]),
        s["origin"],
        s["request"],
        s["reply"],
        scaling=s["scaling"],
        accelerator_price=s["accelerator_price"],
        energy_price=s["energy_price"],
    )


def _check(s: Mapping[str, Any]) -> None:
    """Refuse settings that leave nothing to serve."""
    if s["load"] != "trace" and not s["lengths"] and (s["prompt"] < 1 or s["output"] < 1):
        name = "prompt" if s["prompt"] < 1 else "output"
        raise AnalysisError(f"requests with no {name}", place=name, remedy="give 1 token or more")
    if s["spread"] > 1:
        raise AnalysisError(f"lengths that spread by {s['spread']:g}", place="spread", remedy="give 0 to 1")
    if s["prefix"] >= 1:
        raise AnalysisError("a prefix cache that holds whole prompts", place="prefix", remedy="give less than 1")
    if s["acceptance"] > 1:
        raise AnalysisError(f"an acceptance of {s['acceptance']:g}", place="acceptance", remedy="give 0 to 1")
    if s["tier_share"] > 1:
        raise AnalysisError(f"{s['tier_share']:g} of a tier", place="tier_share", remedy="give 0 to 1")
    if s["load"] == "rate" and s["rate"] <= 0:
        raise AnalysisError("no requests arrive", place="rate", remedy="give requests a second, above 0")
    if s["load"] == "agents" and s["turns"] < 1:
        raise AnalysisError("sessions without a turn", place="turns", remedy="give 1 turn or more")
    if s["load"] in ("clients", "agents") and s["clients"] < 1:
        raise AnalysisError("no clients", place="clients", remedy="give 1 client or more")
    if s["load"] == "trace" and not s["trace"].strip():
        raise AnalysisError("no trace is named", place="trace", remedy="give the path of a file of requests")
    if s["count"] < 1:
        raise AnalysisError("no request is looked at", place="count", remedy="look at 1 request or more")
    if s["waves"] < 1 or s["warm_up"] >= s["waves"]:
        raise AnalysisError(
            "no request is left to count", place="waves", remedy="give more requests of each client than warm-up"
        )


def _deployment(s: Mapping[str, Any]) -> Deployment:
    return Deployment(
        s["model"],
        s["group"],
        s["engine"],
        s["release"],
        "" if s["weights"] == AUTO else s["weights"],
        s["cache"],
        s["tensor"],
        s["data"],
        s["pipeline"],
        s["expert"],
        s["replicas"],
        s["budget"],
        s["slots"],
        s["memory_share"],
        s["graph"],
        s["adapters"],
        s["drafts"],
        s["draft"],
        s["prompt_group"],
        s["prompt_tensor"],
        s["block"],
        s["machines"],
        s["part"].strip(),
        s["stream_interval"],
        calibration=read_calibration(s["calibration"]),
        prompt_data=s["prompt_data"],
        prompt_expert=s["prompt_expert"],
        prompt_pipeline=s["prompt_pipeline"],
        prompt_replicas=s["prompt_replicas"],
        redundant=s["redundant_experts"],
        skew=s["expert_skew"],
        overlap=s["overlap"],
        hand_over=s["hand_over"],
        acceptance=s["acceptance"],
        draft_model=s["draft_model"].strip(),
        images=s["images"],
        image_width=s["image_width"],
        image_height=s["image_height"],
    )


def _load(s: Mapping[str, Any]) -> Load:
    load = Load(
        s["load"],
        s["rate"],
        s["clients"],
        s["variation"],
        _profile(s["profile"]),
        s["prompt"],
        s["output"],
        s["spread"],
        s["lengths"],
        s["trace"],
        s["prefix"],
        s["count"],
        s["waves"],
        s["warm_up"],
        s["seed"],
        s["reuse"],
        s["routing"],
        s["turns"],
        s["tool_tokens"],
        s["pause"],
    )
    return as_measured(load, _plain_load(), s["measured_as"]) if s["measured_as"] else load


def _with_images(s: Mapping[str, Any], load: Load) -> Load:
    """The load with the tokens of the images of each request."""
    if not s["images"]:
        return load
    if s["load"] == "agents":
        raise AnalysisError("agents that send images", place="images", remedy="set load to rate, clients or a trace")
    # models and what reads them are loaded where images are asked for
    from designer.families.serving.images import image_tokens

    found = image_tokens(s["model"], s["images"], s["image_width"], s["image_height"])
    return replace(load, seen=found)


@cache
def _plain_load() -> Load:
    """The load where no setting is given."""
    return asked(read_settings(WORKLOAD, {}, "serving")).load


def program(settings: Mapping[str, Any]) -> Program:
    """Requests answered as they come, for as long as anybody looks."""
    if settings["cold"] and not settings["storage"].strip():
        raise AnalysisError("a cold start from nowhere", place="storage", remedy="say what holds the weights")
    names = ("itl_p95", "ttft_p95", "itl_p50", "itl_p99", "tpot", "ttft", "ttft_p50", "ttft_p99", "latency_p95")
    measures = [Measure(name, "s", "requests", "serve") for name in names]
    measures += [Measure(name, "1/s", "requests", "serve") for name in ("requests_per_second", "tokens_per_second")]
    if settings["accelerator_price"] or settings["energy_price"]:
        measures += [Measure(name, "1", "requests", "serve") for name in ("cost_per_day", "requests_per_money")]
    return Program("serving", (Step("serve", Serve(asked(settings), settings["cold"])),), measures=tuple(measures))


WORKLOAD = WorkloadKind(
    name="serving",
    title="Serving",
    reports="inference",
    metrics=(
        "ttft",
        "ttft_p50",
        "ttft_p95",
        "ttft_p99",
        "tpot",
        "itl_p50",
        "itl_p95",
        "itl_p99",
        "latency_p50",
        "latency_p90",
        "latency_p95",
        "network_time",
        "latency_p99",
        "requests_per_second",
        "tokens_per_second",
        "goodput",
        "most_requests_per_second",
        "knee_requests_per_second",
        "replicas",
        "accelerators",
        "requests_running",
        "requests_waiting",
        "kv_use",
        "kv_capacity",
        "memory_per_gpu",
        "prefix_hits",
        "fetch_time",
        "power",
        "energy_per_token",
        "energy_per_million_requests",
        "hand_over_time",
        "replicas_most",
        "replicas_mean",
        "accelerator_hours",
        "cost_per_day",
        "requests_per_money",
        "cold_start_time",
        "rolling_update_time",
        "requests_while_updating",
        "compute_share",
        "memory_share",
        "bandwidth_share",
        "nic_share",
        "virtualization_factor",
        "share_beside_retraining",
        "slow_down_while_retraining",
    ),
    program=program,
    answer="designer.families.serving.answer",
    help="A language model behind vLLM, SGLang or TensorRT-LLM: time to the first token and between tokens at a load, "
    "the load it can take, and what binds prompts and decoding.",
    settings=(
        Setting("model", "Model", "text", "llama-3-8b", help="id of a model, path of a config.json, or its JSON text"),
        Setting("group", "Accelerators", "selector", "gpus"),
        Setting(
            "machines",
            "In machines",
            "text",
            "",
            help="ids of virtual machines, or a MIG instance such as 3g.40gb; empty: as drawn",
        ),
        Setting("engine", "Engine", "choice", "vllm", choices=ENGINES),
        Setting("release", "Release", "text", "", help="for example 0.12.0; empty if not known, in a wide band"),
        Setting(
            "weights",
            "Weights",
            "choice",
            AUTO,
            choices=WEIGHTS,
            help="auto: as the model is published, bf16 where nothing says",
        ),
        Setting("cache", "Keys and values", "choice", "bf16", choices=("bf16", "fp16", "fp8", "int8")),
        Setting(
            "tensor", "Tensor parallel", "count", 0, help="0: chosen for the limits, without any the least that fits"
        ),
        Setting(
            "data",
            "Attention data parallel",
            "count",
            0,
            help="groups that share experts; 0: as tensor, 1 without limits",
        ),
        Setting("pipeline", "Pipeline parallel", "count", 1),
        Setting(
            "expert",
            "Expert parallel",
            "count",
            0,
            help="1: every expert is cut; else a divisor of tensor x data: devices that share whole experts; 0: "
            "as data",
        ),
        Setting("replicas", "Replicas", "count", 0, help="0 for as many as the accelerators make"),
        Setting("budget", "Tokens of a step", "count", 0, help="of one attention group; 0 for the engine's default"),
        Setting("slots", "Requests at once", "count", 0, help="of one attention group; 0 for the engine's default"),
        Setting("memory_share", "Memory share", "ratio", 0, help="0 for the engine's default"),
        Setting("graph", "Captured graphs", "flag", True, help="off: every kernel is launched by itself"),
        Setting(
            "adapters", "Adapter rank", "count", 0, help="low-rank adapters in addition to the weights; 0 for none"
        ),
        Setting("drafts", "Tokens drafted", "count", 0, help="speculative decoding; 0 for none"),
        Setting("draft", "Draft", "text", "", help="id of a measured acceptance curve"),
        Setting(
            "acceptance",
            "Acceptance",
            "ratio",
            0,
            help="chance that a drafted token is right where those before it are, in place of a measured draft",
        ),
        Setting(
            "draft_model",
            "Draft model",
            "text",
            "",
            help="id of a model or path of a config.json; empty: layers of the model that draft, or a trained head",
        ),
        Setting(
            "prompt_group", "Prompts on", "selector", "", help="accelerators that only read prompts; else all do both"
        ),
        Setting("prompt_tensor", "Their tensor parallel", "count", 0, help="as tensor"),
        Setting("prompt_data", "Their attention data parallel", "count", 0, help="groups that share experts; as data"),
        Setting("prompt_expert", "Their expert parallel", "count", 0, help="as expert, of those for prompts"),
        Setting("prompt_pipeline", "Their pipeline parallel", "count", 1),
        Setting(
            "prompt_replicas",
            "Engines for prompts",
            "count",
            0,
            help="0 for as many as the accelerators make; of one group for both these are its first ones",
        ),
        Setting(
            "hand_over",
            "Handed over by",
            "choice",
            "",
            choices=("", "whole", "chunks", "layers"),
            help="keys and values of prompts: whole once read, by chunks, or by layers; empty: as the engine",
        ),
        Setting(
            "redundant_experts",
            "Redundant experts",
            "count",
            0,
            help="copies of the busiest experts that a balancer adds, over all devices of a replica; 0 for no balancer",
        ),
        Setting(
            "expert_skew",
            "Unevenness of experts",
            "ratio",
            0,
            help="coefficient of variation of how often experts are chosen over time; 0 for evenly, as random text",
        ),
        Setting(
            "overlap",
            "Two batches overlapped",
            "flag",
            False,
            help="each step in two batches: one computes while tokens of the other are sent to their experts",
        ),
        Setting("block", "Block of the cache", "count", 0, help="tokens; 0 for the engine's default"),
        Setting(
            "stream_interval",
            "Streaming interval",
            "count",
            0,
            help="tokens sent to a client at once; 0 for the engine's default, which is 1",
        ),
        Setting(
            "calibration",
            "Calibration",
            "text",
            "",
            help="what a benchmark of it showed of its engine, as `designer calibrate` writes it; empty for none",
        ),
        Setting("part", "Part of a GPU", "text", "", help="MIG instance or virtual GPU, such as 1g.10gb or 20C"),
        Setting(
            "beside",
            "Beside",
            "text",
            "",
            help="ids of other served models on the same GPUs, and of trainings with a cadence, separated by commas",
        ),
        Setting("load", "Load", "choice", "rate", choices=("rate", "clients", "offline", "trace", "agents")),
        Setting("rate", "Requests", "frequency", "1 1/s", help="of all replicas together; of a trace 0 for its own"),
        Setting("clients", "Clients", "count", 16, help="of all replicas together"),
        Setting("variation", "Variation of gaps", "ratio", 1, help="1 is Poisson, 0 even, more comes in bursts"),
        Setting("profile", "Rate over time", "text", "", help="shares in equal parts of the run, such as 0.5, 1, 2"),
        Setting("prompt", "Prompt", "count", 1024, help="tokens, in the mean"),
        Setting("output", "Output", "count", 256, help="tokens, in the mean"),
        Setting("spread", "Spread of lengths", "ratio", "0.2", help="evenly either way of the mean"),
        Setting("images", "Images", "count", 0, help="in each request, for models with a vision encoder"),
        Setting("image_width", "Width of an image", "count", 1024, help="pixels"),
        Setting("image_height", "Height of an image", "count", 1024, help="pixels"),
        Setting("lengths", "Lengths", "choice", "", choices=LENGTHS, help="shipped ones; empty for prompt and output"),
        Setting("trace", "Trace", "text", "", help="path of a Mooncake JSONL, Azure CSV or BurstGPT CSV file"),
        Setting("prefix", "Prefix found", "ratio", 0, help="share of prompt tokens that are already cached"),
        Setting("reuse", "Found by room", "text", "", help="such as 5M:22 %, 50M:36 % of tokens; or a name of lengths"),
        Setting(
            "routing",
            "Router",
            "choice",
            "turns",
            choices=("turns", "fewest", "prefix"),
            help="of traces and agents: requests go to replicas in turns, to that with the fewest, or to that which "
            "holds most of the prompt",
        ),
        Setting("turns", "Turns of a session", "count", 8, help="of agents, each with all that was said before it"),
        Setting("tool_tokens", "Tokens of a tool", "count", 512, help="added to the next prompt of an agent"),
        Setting("pause", "Pause of a tool", "duration", "2 s", help="between the turns of an agent, in the mean"),
        Setting("tiers", "Cache also in", "selector", "", help="memory, drives or storage beyond the GPU"),
        Setting("tier_share", "Share of it", "ratio", "50 %"),
        Setting("count", "Requests looked at", "count", 2000),
        Setting("waves", "Requests per client", "count", 10),
        Setting("warm_up", "Not counted of them", "count", 2),
        Setting("seed", "Seed", "count", 0),
        Setting(
            "measured_as",
            "Measured as",
            "choice",
            "",
            choices=("", *BENCHMARKS),
            help="the benchmark script whose load and counting an answer is compared with; empty for none",
        ),
        Setting("origin", "Requests from", "selector", "", help="clients on a network; empty: latency at the server"),
        Setting("request", "Request", "size", "8 kB", help="from a client, with its history"),
        Setting("reply", "First message", "size", "1 kB", help="to a client; later tokens follow at their pace"),
        Setting("ttft_limit", "Time to first token within", "duration", "0 s", help="0 s for any"),
        Setting("tpot_limit", "Time per token within", "duration", "0 s", help="0 s for any"),
        Setting("latency_limit", "Answer within", "duration", "0 s", help="0 s for any"),
        Setting("limit_at", "Limits hold at", "choice", "p95", choices=tuple(SHARES)),
        Setting("storage", "Weights from", "selector", "", help="parts that hold them; empty to leave starting out"),
        Setting("readers", "Readers at once", "count", 1),
        Setting("cold", "Starts cold", "flag", False, help="over time: weights are loaded before the first answer"),
        Setting(
            "scaling",
            "Replicas follow the load",
            "flag",
            False,
            help="of a rate or a trace: replicas are started and stopped, and are ready after their cold start",
        ),
        Setting(
            "accelerator_price", "Price of a GPU hour", "ratio", 0, help="a number in your currency; 0 to leave it out"
        ),
        Setting(
            "energy_price",
            "Price of a kWh",
            "ratio",
            0,
            help="of accelerators, in the same currency; 0: no energy",
        ),
        Setting("peers", "Weights from peers", "flag", False, help="one server reads them and hands them on"),
        Setting("update", "Updated at once", "count", 0, help="replicas of a rolling update; 0 for none"),
    ),
)
