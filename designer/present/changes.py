"""Changes and next questions that pages of several families offer."""

from __future__ import annotations

from collections.abc import Mapping

from designer.present import numbers
from designer.present.answer import Answer, figure_text
from designer.present.blocks import Change, Tone
from designer.sources import Estimate
from designer.workload.kind import listed


def suggest(answer: Answer) -> Change:
    """All edits that lift the bottleneck."""
    return Change("Changes that help", command=answer.command("suggest"), place="improve", tone=Tone.PLAIN)


def survive(answer: Answer) -> Change:
    """What single failures cost."""
    return Change("What a failure costs", command=answer.command("survive"), place="improve", tone=Tone.PLAIN)


def together(answer: Answer) -> tuple[Change, ...]:
    """What limits a workload and its neighbours while they run at the same time; nothing for one that names none."""
    names = [name for key in ("beside", "background") for name in listed(answer.setting(key))]
    others = [name for name in dict.fromkeys(names) if name in answer.design.workloads]
    if not others:
        return ()
    command = answer.command("simulate", *(word for name in others for word in ("--workload", name)))
    return (Change("What limits while all run", command=command, place="time", tone=Tone.PLAIN),)


def fixes(answer: Answer) -> tuple[Change, ...]:
    """Settings with which a workload fits that does not, the fastest first."""
    found: list[Change] = []
    for one in answer.fitting:
        sets: list[str] = []
        for name, value in one.changes.items():
            written = str(value).lower() if isinstance(value, bool) else str(value)
            sets += ["--set", f"workloads.{answer.result.id}.{name}={written}"]
        found.append(
            Change(
                one.title, _outcome(one.result.metrics, answer), command=answer.command("analyze", *sets), edit=one.edit
            )
        )
    return tuple(found)


def _outcome(known: Mapping[str, Estimate], answer: Answer) -> str:
    words: list[str] = []
    memory = known.get("memory_per_gpu")
    if memory is not None:
        words.append(f"{numbers.shown(memory.value, 'B')} per GPU")
    for name in ("time_to_train", "tokens_per_second", "samples_per_second", "most_requests_per_second"):
        if name in known:
            one = known[name]
            band = numbers.band(one)
            text = figure_text(name, one.value, one.unit, answer.what(name))
            words.append(f"{text} ({band})" if band else text)
            break
    return ", ".join(words)
