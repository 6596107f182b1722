"""The page of a running machine next to its drawing: which link or GPU is not what it should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.decisions.watching import NICS, UNITS, Watch, Watched
from designer.design.document import Design
from designer.design.naming import part_title
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone

#: what a counter is called, and what its device does where it is odd
_TITLES: Final = {
    "nic_transmit": ("Sent", "sends"),
    "nic_receive": ("Received", "receives"),
    "gpu_tensor": ("Tensor cores busy", "computes"),
    "gpu_memory": ("Memory busy", "moves"),
    "gpu_power": ("Power", "draws"),
    "gpu_clock": ("Clock", "runs at"),
}
_NAMES_LIMIT: Final = 3


def page_of_watch(found: Watch, workload: str, design: Design, file: str = "DESIGN") -> Page:
    """The page of what `watch` found, what is odd first."""
    spec = design.workloads.get(workload)
    title = (spec.title if spec is not None else "") or workload
    odd = found.odd
    rows = (*odd, *(row for row in found.rows if not row.odd))
    again = ("analyze", file, "--workload", workload)
    heads = (
        Column("Device"),
        Column("Counter"),
        Column("Measured", True),
        Column("Predicted", True),
        Column("Of its equals", True),
    )
    table = tuple(
        (
            part_title(design, row.path),
            _TITLES[row.name][0],
            _amount(row.measured, row),
            _amount(row.predicted, row) if row.predicted is not None else "",
            numbers.percent(row.ratio),
        )
        for row in rows
    )
    return Page(
        f"Counters under {title}, on {design.title or design.name}",
        State.MISSED if odd else State.MET,
        _headline(found, odd, design),
        table=Table(
            "Measured and predicted",
            heads,
            table,
            frozenset(range(len(odd))),
            tuple((row.link, row.path) if row.link else (row.path,) for row in rows),
        ),
        changes=(Change("What each link should carry", command=again, tone=Tone.PLAIN),) if odd else (),
        remarks=_remarks(found),
        more="All devices",
        chip="Not as it should be" if odd else "As it should be",
        key=workload,
    )


def _amount(value: float, row: Watched) -> str:
    return numbers.percent(value) if UNITS[row.name] == "1" else numbers.shown(value, UNITS[row.name])


def _headline(found: Watch, odd: Sequence[Watched], design: Design) -> str:
    if not odd:
        links = sum(row.name in NICS for row in found.rows) > 0
        return f"Every {'link' if links else 'GPU'} is what it should be."
    first, paths = odd[0], list(dict.fromkeys(row.path for row in odd))
    what = "The link at " if first.name in NICS else ""
    said = f"{what}{part_title(design, first.path)} is not what it should be: it {_TITLES[first.name][1]} "
    said += f"{_amount(first.measured, first)}, {numbers.percent(first.ratio)} of what its equals do."
    if len(paths) > 1:
        names = ", ".join(part_title(design, path) for path in paths[1 : 1 + _NAMES_LIMIT])
        more = len(paths) - 1 - _NAMES_LIMIT
        said += f" Nor {'is' if len(paths) == 2 else 'are'} {names}{f' and {more:,} more' if more > 0 else ''}."
    return said


def _remarks(found: Watch) -> tuple[str, ...]:
    """What all devices of a counter share, and what is not on the drawing."""
    said: list[str] = []
    for name, share in found.common.items():
        own = [row for row in found.rows if row.name == name]
        if not own:
            continue
        devices = f"{_TITLES[name][0]}: {numbers.counted(len(own), 'device')}"
        if own[0].predicted is not None:
            said.append(f"{devices}, in the middle {numbers.percent(share)} of what is predicted.")
        else:
            said.append(f"{devices}, compared with each other.")
    if found.unknown:
        more = f" and {len(found.unknown) - _NAMES_LIMIT:,} more" if len(found.unknown) > _NAMES_LIMIT else ""
        said.append(f"Not on the drawing: {', '.join(found.unknown[:_NAMES_LIMIT])}{more}.")
    return tuple(said)
