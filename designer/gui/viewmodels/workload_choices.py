"""What the form of a workload offers: groups of settings, models and data sets to search, kinds that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from designer.design.document import Block, Design
from designer.design.naming import part_title
from designer.errors import DesignerError
from designer.families.serving.drafting import drafts
from designer.families.serving.engines import releases
from designer.gui.viewmodels.forms import Entry
from designer.spelling import near
from designer.units import DIMENSIONS, EXAMPLE
from designer.workload.datasets import CUSTOM, datasets
from designer.workload.huggingface import parse_config, read_config
from designer.workload.kind import workload_kinds
from designer.workload.models import find_model, model, models, nearest_models
from designer.workload.shape import ModelShape, TransformerShape


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: groups in the order of the form; what none names is in the first
GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "What": frozenset(),
    "Data": _names(
        """dataset source workers prefetch decode decode_rate loader epoch_samples sample_size sample_spread resolution
        cached access gpudirect background load rate clients
        variation profile prompt output spread lengths trace prefix storage readers dirty_rate device_state disks
        io_size queue_depth threads one_by_one origin request reply"""
    ),
    "Parallel": _names(
        """micro_batch global_batch tensor pipeline data context expert interleave schedule sequence_parallel sharding
        recompute placement replicas prompt_group prompt_tensor exchange parameter_servers accelerators_per_trial
        most_tensor most_pipeline most_context channels at_once vmknics_per_nic multifd_devices"""
    ),
    "Software": _names(
        """precision software optimizer adapters engine release weights cache graph budget slots memory_share drafts
        draft acceptance block part monitor transport compression auto_converge post_copy encrypted mtu algorithm
        client"""
    ),
    "Run": _names(
        """epochs epochs_least epochs_most samples validate_every checkpoint_every checkpoint_to snapshot online
        arrival_rate retrain_every forward_only measured_compute time_between_failures cold_start failure_seed count
        waves warm_up seed
        ttft_limit tpot_limit latency_limit limit_at every mean_time_between_failures repair length
        restore_from_one trials rounds round_trip downtime_limit max_bandwidth shares shares_beside cold"""
    ),
}
#: groups of kinds that have many settings: what one asks first comes first; what none names is in the first
_OWN_GROUPS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "serving": {
        "What": _names(
            "model group engine release weights load rate clients prompt output ttft_limit tpot_limit latency_limit"
            " limit_at"
        ),
        "Requests": _names(
            "variation profile spread lengths trace prefix reuse count waves warm_up seed measured_as"
            " routing turns tool_tokens pause origin request reply images image_width image_height"
        ),
        "Parallel": _names("tensor pipeline data expert replicas"),
        "Experts": _names("redundant_experts expert_skew overlap"),
        "Prompts on their own": _names(
            "prompt_group prompt_replicas prompt_tensor prompt_data prompt_expert prompt_pipeline hand_over"
        ),
        "Engine": _names(
            "cache block budget slots memory_share graph adapters drafts draft acceptance draft_model "
            "stream_interval calibration"
        ),
        "Cache beyond the GPU": _names("tiers tier_share"),
        "Start and update": _names("storage readers cold peers update scaling"),
        "Shared GPUs": _names("machines part beside"),
        "Prices": _names("accelerator_price energy_price"),
    }
}
#: settings of one name that mean another thing in some kinds
_WHAT: Final = frozenset({("pooling", "variation"), ("storage_sizing", "source"), ("data_loading", "dataset")})
#: kinds by what a design has, the first that it has no workload of is offered
_FITTING: Final = (
    ("gpu", ("training", "serving", "collective", "transfer")),
    ("vm", ("vmotion", "evacuation", "vm_capacity")),
    ("", ("transfer",)),
)
#: kinds that make no sense without something
_NEEDS: Final[Mapping[str, str]] = (
    dict.fromkeys(
        ("training", "serving", "collective", "layout_search", "hyperparameter_sweep", "pooling", "data_loading"), "gpu"
    )
    | {"checkpointing": "gpu", "storage_sizing": "storage", "data_versions": "storage", "control_loop": "sensor"}
    | dict.fromkeys(("vmotion", "kvm_migration", "evacuation", "vm_capacity", "schedule"), "vm")
)
_WORDS: Final = {"gpu": "accelerators", "vm": "virtual machines", "storage": "storage", "sensor": "sensors"}
#: what selectors may say in addition to the ids of parts
_SELECTORS: Final = ("gpus", "memory", "storage", "drives", "nics", "cpus", "servers", "dpus", "sensors", "clients")
#: ids offered while typing, at most
_OFFERED: Final = 400


def grouped(kind: str, entries: Sequence[Entry]) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """The lines of a form under the headings of their groups; empty groups are left out."""
    own = _OWN_GROUPS.get(kind)
    found: dict[str, list[Entry]] = {title: [] for title in own or GROUPS}
    for entry in entries:
        found[_group(kind, entry.name)].append(entry)
    return tuple((title, tuple(lines)) for title, lines in found.items() if lines)


def _group(kind: str, name: str) -> str:
    if (kind, name) in _WHAT:
        return "What"
    groups = _OWN_GROUPS.get(kind, GROUPS)
    return next((title for title, names in groups.items() if name in names), "What")


def summary(entries: Sequence[Entry], texts: Mapping[str, str]) -> str:
    """What a group says other than by default, in one line."""
    said = [f"{e.title.lower()} {texts[e.name]}" for e in entries if e.name in texts and texts[e.name] != e.spelled]
    said = [f"{e.title.lower()} {e.spelled}" for e in entries if e.overridden and texts.get(e.name) == e.spelled] + said
    return ", ".join(said)


def placeholder(entry: Entry) -> str:
    """What an empty field shows: a value with its unit, or what may be written there."""
    if entry.dimension in DIMENSIONS:
        return f"such as {EXAMPLE[entry.dimension]}"
    return "a whole number" if entry.dimension == "count" else entry.note


def model_choices() -> tuple[tuple[str, str], ...]:
    """Id and title of every shipped model, by title."""
    found = [(name, entry.title) for name, entry in models().items()]
    return tuple(sorted(found, key=lambda choice: choice[1].casefold()))


def size_text(shape: ModelShape) -> str:
    """How large a model is, as people call it."""
    count = float(shape.parameters)
    text = f"{count / 1e9:.3g} B parameters" if count >= 1e9 else f"{count / 1e6:.3g} M parameters"
    return f"{text}, {shape.layers} layers" if isinstance(shape, TransformerShape) else text


def dataset_choices() -> tuple[tuple[str, str], ...]:
    """Id and title of every shipped data set, after none."""
    found = sorted(((name, entry.title) for name, entry in datasets().items()), key=lambda c: c[1].casefold())
    return (("", "none: the input is left out"), *found)


def check_model(text: str) -> tuple[str, str]:
    """What is wrong with a model, or what it is: one of both is empty."""
    text = text.strip()
    if not text:
        return "", ""
    if not text.startswith("{") and not text.endswith(".json") and find_model(text) is None:
        meant = nearest_models(text)
        hint = f"did you mean {' or '.join(meant)}?" if meant else "search the list, or give a config.json"
        return f"there is no model {text[:60]!r} — {hint}", ""
    try:
        if not text.startswith("{") and not text.endswith(".json"):
            return "", size_text(model(text))
        found = parse_config(text) if text.startswith("{") else read_config(Path(text))
    except DesignerError as error:
        return str(error), ""
    return "", "; ".join((size_text(found.shape), *found.assumptions))


# ---- what fits


def has(design: Design) -> frozenset[str]:
    """What a design has that workloads need."""
    kinds = {part.kind for block in _blocks(design) for part in block.parts.values()}
    found = {"gpu", "sensor"} & kinds | ({"storage"} if kinds & {"storage", "drive"} else set[str]())
    return frozenset(found | ({"vm"} if design.vms else set[str]()))


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for group in block.groups.values():
        yield from _blocks(group.content)


def fitting_kind(design: Design) -> str:
    """The kind of workload one most likely wants to add."""
    there, used = has(design), {w.kind for w in design.workloads.values()}
    offered = [kind for need, kinds in _FITTING if not need or need in there for kind in kinds]
    known = workload_kinds()
    return next((kind for kind in offered if kind in known and kind not in used), offered[0])


def misfit(design: Design, kind: str) -> str:
    """Why a design has no use for a kind of workload; empty where it has."""
    need = _NEEDS.get(kind, "")
    return f"There are no {_WORDS[need]} in this design yet." if need and need not in has(design) else ""


def offered(design: Design, kind: str, name: str) -> tuple[str, ...]:
    """What a field may say that names things of the design; empty where it names none."""
    setting = next((s for s in workload_kinds()[kind].settings if s.name == name), None)
    if name in ("vms", "vm", "machines"):
        return tuple(design.vms)
    if name in ("background", "beside"):
        return tuple(design.workloads)
    if name == "draft":
        return tuple(drafts())
    if (kind, name) == ("serving", "release"):
        return tuple(dict.fromkeys(r.release for r in releases().values() if r.release))
    hosts = kind in ("vmotion", "kvm_migration", "evacuation") and name in ("to", "hosts")
    if hosts:
        return tuple(path for path in selectable(design) if path.rpartition("/")[2].startswith("server"))
    return selectable(design) if setting is not None and setting.dimension == "selector" else ()


def check_dataset(text: str) -> str:
    """What is wrong with a data set; empty if nothing is."""
    if not text or text == CUSTOM or text in datasets():
        return ""
    meant = near(text, datasets())
    hint = f"did you mean {' or '.join(meant)}?" if meant else "search the list"
    return f"there is no data set {text[:60]!r} — {hint}"


def selectable(design: Design) -> tuple[str, ...]:
    """What a field that names parts may say."""
    found: dict[str, None] = dict.fromkeys(_SELECTORS)

    def look(block: Block, way: str) -> None:
        for part in block.parts:
            found[f"{way}{part}"] = None
        for name, group in block.groups.items():
            look(group.content, f"{way}{name}[*]/")

    look(design, "")
    return tuple(found)[:_OFFERED]


# ---- titles


def suggested_title(design: Design | None, kind: str, texts: Mapping[str, str]) -> str:
    """What a workload is called by what it does."""
    known = workload_kinds().get(kind)
    called = texts.get("model", "")
    entry = find_model(called)
    of = entry.title if entry is not None else _file_name(called)
    if kind in ("training", "hyperparameter_sweep") and of:
        data = datasets().get(texts.get("dataset", ""))
        head = "Training" if kind == "training" else "Trials of"
        return f"{head} {of} on {data.title}" if data is not None else f"{head} {of}"
    if kind == "serving" and of:
        return f"Serving {of}"
    if kind == "checkpointing" and of:
        return f"Checkpoints of {of}"
    if kind == "layout_search" and of:
        return f"Layouts of {of}"
    if kind == "collective":
        group = _every(texts.get("group", ""))
        return f"{texts.get('collective', '').capitalize()} over {group}, {texts.get('size', '')}"
    if kind == "transfer" and texts.get("from") and texts.get("to"):
        between = f"{_every(texts['from'])} to {_every(texts['to'])}"
        return between[:1].upper() + between[1:]
    if kind in ("vmotion", "kvm_migration") and texts.get("vms"):
        return f"Move {_machines(design, texts['vms'])}"
    if kind == "evacuation" and texts.get("hosts"):
        return f"Empty {_hosts(design, texts['hosts'])}"
    return known.title if known is not None else kind


def _every(selector: str) -> str:
    """A selector in words, where it means all of a kind."""
    return "all GPUs" if selector == "gpus" else selector


def _file_name(text: str) -> str:
    if text.startswith("{"):
        return "a model of one's own"
    return text.replace("\\", "/").removesuffix("/config.json").rpartition("/")[2].removesuffix(".json")


def _machines(design: Design | None, text: str) -> str:
    ids = [piece.strip() for piece in text.split(",")]
    return ", ".join(design.vms[i].label if design is not None and i in design.vms else i for i in ids)


def _hosts(design: Design | None, text: str) -> str:
    """Hosts as the drawing names them: the member they are, where a group has many."""
    paths = [member_name(piece.strip()) for piece in text.split(",")]
    return ", ".join(part_title(design, path) if design is not None else path for path in paths)


def member_name(path: str) -> str:
    """The member of a group that a host is: ``hosts[0]`` for ``hosts[0]/server``."""
    return path.rpartition("/")[0] or path
