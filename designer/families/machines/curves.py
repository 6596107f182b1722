"""The curves of a migration plan: memory left per round, who moves when, stuns by NIC speed and frame buffer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from designer.catalog.vgpu import load_stun_tables
from designer.engine.machines.demands import vsphere
from designer.engine.results import Curve
from designer.families.machines.formulas.vgpu_stun import VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.families.machines.migration_plan import CURVES_LIMIT, Moved
from designer.families.machines.migrations import generation_of, stun_limit
from designer.families.machines.moves import Moves
from designer.units import BytesPerSecond, format_line_rate, parse_rate, parse_size

#: NIC speeds and frame buffers of the stun sweep
SWEPT_RATES: Final = tuple(parse_rate(f"{speed} Gb/s") for speed in ("10", "25", "40", "100", "200"))
SWEPT_SIZES: Final = tuple(
    parse_size(f"{size} GiB") for size in ("4", "8", "16", "24", "40", "48", "80", "141", "320", "640")
)


def curves(moves: Moves, name: str) -> Mapping[str, tuple[Curve, ...]]:
    """Remaining memory per round, the sweep of stuns, and who moved when; `name` is that of the program."""
    found: dict[str, tuple[Curve, ...]] = {}
    live = [(m, m.migration) for m in moves.moved if m.migration is not None][:CURVES_LIMIT]
    if live:
        found["migration-curve"] = tuple(Curve(m.going.placed.vm.label, t.time, t.remaining) for m, t in live)
    if len(moves.moved) > 1:
        bars = tuple(
            Curve(m.going.placed.vm.label, (m.start, m.transfer, m.end), (float(at), float(at), float(at)))
            for at, m in enumerate(moves.moved)
        )
        found["evacuation-gantt"] = bars
        time, left = moves.remaining(name)
        found["evacuation-remaining"] = (Curve("not yet moved", tuple(time.tolist()), tuple(left.tolist())),)
    stunned = next((m for m, _ in live if m.going.serial), None)
    if stunned is not None:
        found["stun-sweep"] = stun_sweep(stunned)
        if published := published_stuns(stunned):
            found["stun-published"] = published
    return found


def stun_sweep(moved: Moved) -> tuple[Curve, ...]:
    """Stun against frame buffer, one line per NIC speed, for the release and GPUs of one machine [B, s]."""
    release = vsphere(moved.going.release)
    lines: list[Curve] = []
    for line in SWEPT_RATES:
        bandwidth = vmotion_streams([line], release=release).checkpoint_bandwidth.value
        stuns = [
            vgpu_stun(
                [VgpuLoad(size)],
                BytesPerSecond(bandwidth),
                BytesPerSecond(bandwidth),
                release=release,
                generation=generation_of(moved.going.placed),
                limit=stun_limit(moved.going.placed, release),
            ).stun
            for size in SWEPT_SIZES
        ]
        lines.append(
            Curve(
                format_line_rate(line),
                SWEPT_SIZES,
                tuple(s.value for s in stuns),
                tuple(s.low for s in stuns),
                tuple(s.high for s in stuns),
            )
        )
    return tuple(lines)


def published_stuns(moved: Moved) -> tuple[Curve, ...]:
    """What was published of GPUs of the same generation, one curve a table [B, s]; those of several GPUs aside."""
    generation = generation_of(moved.going.placed)
    found: list[Curve] = []
    for table in load_stun_tables().values():
        rows = [(row.framebuffer, row.stun) for row in table.rows if row.gpus == 1 and row.stun is not None]
        if rows and generation is not None and table.generation == generation.value:
            sizes, stuns = zip(*sorted(rows), strict=True)
            found.append(Curve(f"{table.kind}: {table.title}", sizes, stuns))
    return tuple(found)
