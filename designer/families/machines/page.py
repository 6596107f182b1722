"""Virtual machines: moved, evacuated, or placed."""

from __future__ import annotations

from designer.present import numbers
from designer.present.answer import Answer, shares_of
from designer.present.blocks import Change, Stack, State, Tone
from designer.present.family import Family
from designer.present.words import opened


def _headline(answer: Answer) -> str:
    if answer.metric("more_machines") is not None and answer.metric("migration_time") is None:
        count = round(answer.value("more_machines"))
        return (
            f"{opened(numbers.counted(count, 'more machine fits', 'more machines fit'))}."
            if count
            else ("No more machine of this kind fits.")
        )
    time = next((n for n in ("evacuation_time", "migration_time") if answer.metric(n)), "")
    stays = round(answer.value("machines_staying"))
    pause = f", with a pause of at most {answer.text('switchover_time')}" if answer.metric("switchover_time") else ""
    if not time:
        return "No machine can move." if stays else "Nothing moves."
    verb = "Empties the host" if time == "evacuation_time" else "Moves"
    head = f"{verb} in {answer.text(time)}{pause}"
    if stays:
        names = [f.text.split(" cannot move")[0] for f in answer.result.findings if f.code == "MIG-STAYS"]
        who = names[0] if len(names) == 1 else numbers.counted(stays, "machine")
        return f"{head}, but {who} {'stays' if stays == 1 else 'stay'}."
    return f"{head}."


def _time_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    table = next((t for t in answer.result.tables.values() if any(c.name == "time" for c in t.columns)), None)
    time = answer.metric("evacuation_time")
    if table is None or time is None:
        return "", ()
    names = [c.name for c in table.columns]
    at, name = names.index("time"), 0
    parts = [(str(row[name]), float(value)) for row in table.rows if isinstance(value := row[at], float)]
    if not parts or sum(amount for _, amount in parts) > 1.02 * time.value:
        return "", ()
    first = max(parts, key=lambda part: part[1])[0]
    return "Where the time goes", (
        Stack("One machine after the other", answer.text("evacuation_time"), shares_of(parts, time.value, "s", first)),
    )


def _changes(answer: Answer) -> tuple[Change, ...]:
    found: list[Change] = []
    for finding in answer.result.findings:
        if finding.code == "MIG-STAYS" and finding.remedy:
            who = finding.text.split(" cannot move")[0]
            found.append(Change(f"Make room for {who}", answer.named(finding.remedy), tone=Tone.PLAIN))
    found.append(
        Change(
            "Over time",
            command=("simulate", answer.file, "--workload", answer.result.id),
            place="time",
            tone=Tone.PLAIN,
        )
    )
    return tuple(found[:3])


def _state(answer: Answer) -> tuple[State | None, str]:
    stays = round(answer.value("machines_staying"))
    return (State.PARTLY, numbers.counted(stays, "machine stays", "machines stay")) if stays else (None, "")


FAMILY = Family(
    ("migration", "evacuation", "vmotion", "kvm_migration", "vm_capacity"),
    _headline,
    (
        "evacuation_time",
        "migration_time",
        "more_machines",
        "machines_staying",
        "switchover_time",
        "stun_time",
        "transferred",
        "rate",
        "least_time_possible",
    ),
    _time_stacks,
    _changes,
    _state,
)
