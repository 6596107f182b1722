"""What limits an answer, in words: bottlenecks of one sort are one line with their number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.design.document import Design
from designer.design.naming import in_names, several
from designer.engine.results import Bottleneck, WorkloadResult
from designer.present import numbers
from designer.present.blocks import Limit
from designer.present.words import continued, device_words, find_part, is_gpu, link_words, opened, part_words

_SHORT: Final = re.compile(r" (between|from) .*| of the steps of collectives")
_LINK: Final = re.compile(r"(\S+) ([→↔]) (\S+) \((\w+)(?: ×\d+)?\)")
_DIRECTION: Final = re.compile(r":(ab|ba)$")
#: an instance of a GPU: ``1g.10gb of NVIDIA H100 PCIe``
_SHARE_OF: Final = re.compile(r"(\d+g\.\d+gb\S*) of ")
_ASPECT: Final = re.compile(r"\((arithmetic|memory bandwidth|memory|media|random reads)[^()]*\)$")
_CLIENT: Final = re.compile(r"client of (.+) at (.+)")
_WORKERS: Final = re.compile(r"([\d,]+) workers? for each accelerator.*")
_COMPUTE: Final = re.compile(r"compute on (.+)")
_ENGINE: Final = re.compile(r"(.+?)(?:, release not known)?, overhead$")
#: names of limits that are neither a part nor a link, by the start of their id
_NAMES: Final = {
    "latency": "Latency of the steps of collectives",
    "launch": "Kernel launches",
    "overhead": "Kernel launches and host work",
    "bubble": "The pipeline bubble",
    "room": "Room on the hosts",
    "readers": "Readers at a time",
    "set-up": "Set-up and resume of the machines",
    "streams:": "vMotion streams",
    "arrivals": "The arrival of jobs",
}
#: parts of the work of a served model, as the engine calls them
_PHASES: Final = {"prompts": "prompts", "decoding": "answers", "cold start": "start-up"}


@dataclass(frozen=True, slots=True)
class Named:
    """Bottlenecks of one sort.

    Parameters
    ----------
    title
        ``GPU arithmetic``, ``PCIe from CPU to GPU``.
    phase
        ``prompts``, ``answers``, ``start-up`` or empty.
    gain
        How many times better with all of them twice as fast [1]; None where not computed.
    why
        What the engine says about the first of them.
    share
        Share of the time of all of them [1]; 0 where not known.
    links
        Number of links; 0 for what is no link.
    """

    title: str
    detail: str
    phase: str
    gain: float | None
    ids: tuple[str, ...]
    why: str
    share: float = 0.0
    links: int = 0

    @property
    def short(self) -> str:
        """The title for a legend: of a link its kind."""
        return _SHORT.sub("", self.title).removesuffix(" itself")

    @property
    def in_sentence(self) -> str:
        """The title inside a sentence."""
        return continued(self.title)


def named(bottlenecks: Sequence[Bottleneck], design: Design) -> list[Named]:
    """Bottlenecks in words, those of one sort together, in their order."""
    sorts: dict[tuple[str, str], list[Bottleneck]] = {}
    for one in bottlenecks:
        sorts.setdefault((_title(one, design), _PHASES.get(one.phase, "")), []).append(one)
    found: list[Named] = []
    for (title, phase), each in sorts.items():
        if title.startswith("\0"):
            ways = {way for one in each for way in (_direction(one),)}
            title = _link_title(each[0], design, both=len(ways) > 1 or all(one.both_ways for one in each))
        gains = [gain for one in each if (gain := one.gain) is not None]
        found.append(
            Named(
                opened(title),
                _detail(each, design),
                phase,
                max(gains) if gains else None,
                tuple(dict.fromkeys(one.id for one in each)),
                in_names(design, each[0].why),
                max(one.share for one in each),
                _links(each),
            )
        )
    return found


def with_gains(every: Sequence[Named]) -> list[Named]:
    """Bottlenecks with the gain of each sort; sorts that limit together gain only together, on a line of their own."""
    found: list[Named] = []
    for phase in dict.fromkeys(one.phase for one in every):
        sorts = [one for one in every if one.phase == phase]
        gains = {one.gain for one in sorts}
        if len(sorts) < 2 or len(gains) > 1 or None in gains:
            found += sorts
            continue
        found += [replace(one, gain=None) for one in sorts]
        ids = tuple(dict.fromkeys(part for one in sorts for part in one.ids))
        title = "Both of these" if len(sorts) == 2 else "All of these"
        found.append(replace(sorts[0], title=title, detail="", ids=ids, why="", links=0))
    return found


def tied(every: Sequence[Named]) -> str:
    """Bottlenecks that hold together as one part of a legend: ``NVLink and PCIe``; empty for none."""
    names = list(dict.fromkeys(one.short for one in every))
    return " and ".join((*names[:1], *(continued(name) for name in names[1:])))


def _direction(one: Bottleneck) -> str:
    match = _DIRECTION.search(one.id)
    return match[1] if match is not None else ""


def _title(one: Bottleneck, design: Design) -> str:
    """What bottlenecks of one sort share; for links a key, since both directions share a line."""
    if (link := _LINK.fullmatch(one.label)) is not None:
        ends = sorted((part_words(design, link[1]), part_words(design, link[3])))
        return f"\0{link[4]}|{ends[0]}|{ends[1]}"
    if (aspect := _ASPECT.search(one.label)) is not None:
        return _part_title(one, aspect[1], design)
    if (client := _CLIENT.fullmatch(one.label)) is not None:
        return f"The client of {client[1]} on each server"
    if (engine := _ENGINE.fullmatch(one.label)) is not None:
        return f"{engine[1]} itself"
    if (workers := _WORKERS.fullmatch(one.label)) is not None:
        return f"The workers that load data ({workers[1]} for each GPU)"
    if (busy := _COMPUTE.fullmatch(one.label)) is not None:
        return "Computing on the GPUs" if busy[1] == "gpus" else f"Computing on {busy[1]}"
    for start, name in _NAMES.items():
        if one.id.startswith(start):
            return name
    return in_names(design, one.label)


def _part_title(one: Bottleneck, aspect: str, design: Design) -> str:
    part, _ = find_part(design, one.id.split(":")[-1])
    kind = part.kind if part is not None else ""
    if aspect in ("arithmetic", "memory bandwidth", "memory"):
        device = "GPU" if is_gpu(design, one.id) or not kind else "CPU" if kind in ("cpu", "numa") else "accelerator"
        return f"{device} {'arithmetic' if aspect == 'arithmetic' else 'memory'}"
    what = "The media of the drives" if kind == "drive" else f"The media of {part.label if part else 'the storage'}"
    return what if aspect == "media" else what.replace("The media", "Random reads")


def _link_title(one: Bottleneck, design: Design, both: bool) -> str:
    link = _LINK.fullmatch(one.label)
    assert link is not None
    a, b = part_words(design, link[1]), part_words(design, link[3])
    kind = link_words(link[4])
    if kind == "Memory bus":
        return f"Memory of the {b if 'emory' in a else a}"
    ends = f"{continued(a)} and {continued(b)}" if both else f"{continued(a)} to {continued(b)}"
    if a == b:
        return f"{kind} between {continued(several(a))}"
    return f"{kind} between {ends}" if both or link[2] == "↔" else f"{kind} from {ends}"


def _links(each: Sequence[Bottleneck]) -> int:
    if each[0].what != "channel":
        return 0
    links: dict[str, int] = {}
    for one in each:
        key = _DIRECTION.sub("", one.id)
        links[key] = max(links.get(key, 0), one.equal)
    count = sum(links.values())
    both = all(one.both_ways for one in each) and len({_direction(one) for one in each}) == 1 and count % 2 == 0
    return count // 2 if both else count


def _detail(each: Sequence[Bottleneck], design: Design) -> str:
    first = each[0]
    if first.what == "channel":
        return numbers.counted(_links(each), "link")
    count = sum(one.equal for one in {one.id: one for one in each}.values())
    if first.what in ("compute", "part"):
        aspect = _ASPECT.search(first.label)
        path = first.id.split(":")[-1]
        if aspect is not None and aspect[1] in ("arithmetic", "memory bandwidth", "memory"):
            share = _SHARE_OF.match(first.label)
            device = device_words(design, path, first.label)
            return f"{count:,} × {share[1]} of {device}" if share is not None else f"{count:,} × {device}"
        part, _ = find_part(design, path)
        if part is not None and part.kind == "drive":
            return numbers.counted(count, "drive")
        return ""
    return f"{count:,} of them" if count > 1 else ""


def limits_of(result: WorkloadResult, design: Design, most: int = 4) -> tuple[Limit, ...]:
    """What limits now and what would next, at most so many; of a served model by what it limits."""
    now = with_gains(named(result.binding, design))
    known = {(one.title, one.phase) for one in now}
    later = [one for one in named(result.next, design) if (one.title, one.phase) not in known]
    found: list[Limit] = []
    for current, each in ((True, now), (False, later)):
        for one in each:
            when = one.phase if current and one.phase else "now" if current else "then"
            detail = (
                one.detail if current or not one.phase else f"{one.phase}: {one.detail}" if one.detail else one.phase
            )
            gain = numbers.gain(one.gain) if one.gain is not None else ""
            found.append(Limit(when, one.title, detail, gain, one.ids, current))
    return tuple(found[:most])


def short_of(bottlenecks: Sequence[Bottleneck], design: Design) -> str:
    """What limits in a few words: ``GPU arithmetic``, ``NVLink between GPU and NVSwitch``; empty where nothing does."""
    every = named(bottlenecks, design)
    return _join_links(every)[0].title if every else ""


def limits_it(name: str) -> str:
    """``limits it`` or ``limit it``, as the name of what limits asks for."""
    return "limit it" if _is_plural(name) else "limits it"


def limiting(result: WorkloadResult, design: Design) -> str:
    """What limits, as a sentence: ``GPU arithmetic limits prompts.``; empty where nothing does."""
    now = named(result.binding, design)
    if not now:
        return ""
    now = _join_links(now)
    first = now[0]
    rest = [one for one in now[1:] if one.phase == first.phase]
    subject = first.title
    verb = "limits"
    if rest:
        subject, verb = f"{first.title} and {rest[0].in_sentence}", "limit"
    elif _is_plural(first.title):
        verb = "limit"
    what = f"{verb} {first.phase}" if first.phase else f"{verb} it"
    if first.phase and not rest and len({one.phase for one in now if one.title == first.title and one.phase}) > 1:
        what = f"{verb} prompts and answers"
    return f"{subject} {what}."


def mark_of(result: WorkloadResult, design: Design) -> str:
    """What limits, as the mark on a drawing: ``GPU arithmetic limits prompts · 8 × H100 SXM5``; empty for nothing."""
    sentence = limiting(result, design).removesuffix(" it.").removesuffix(".")
    if not sentence:
        return ""
    every = named(result.binding, design)
    first = _join_links(every)[0]
    links = [one.links for one in every if one.phase == first.phase and one.links]
    if len(links) == len(every) > 1 and len(_join_links(every)) == 1:
        # links that follow one another are one limit: all of them count
        return f"{sentence} · {numbers.counted(sum(links), 'link')}"
    return f"{sentence} · {first.detail}" if first.detail else sentence


def limiting_links(result: WorkloadResult, design: Design) -> int:
    """How many links limit; those that limit several phases count once, 0 where parts or nothing limit."""
    details = {one.title: one.detail for one in named(result.binding, design)}
    return sum(int(text.split()[0].replace(",", "")) for text in details.values() if text.endswith(("link", "links")))


_CHAIN: Final = re.compile(r"(\S+) from (.+) to (.+)")


def _join_links(every: list[Named]) -> list[Named]:
    """Links of one kind that follow one another as one: PCIe from CPU to PCIe switch to GPU is PCIe from CPU to GPU."""
    found: list[Named] = []
    for one in every:
        link = _CHAIN.fullmatch(one.title)
        for k, known in enumerate(found):
            before = _CHAIN.fullmatch(known.title)
            if link is None or before is None or link[1] != before[1] or one.phase != known.phase:
                continue
            if before[3].casefold() == link[2].casefold():
                found[k] = replace(known, title=f"{link[1]} from {before[2]} to {link[3]}")
                break
            if link[3].casefold() == before[2].casefold():
                found[k] = replace(known, title=f"{link[1]} from {link[2]} to {before[3]}")
                break
        else:
            found.append(one)
    return found


def _is_plural(title: str) -> bool:
    subject = re.split(r" of | at | that | decoding| and host", title)[0]
    return subject.lower().endswith(("launches", "reads", "streams", "readers", "workers", "cores"))
