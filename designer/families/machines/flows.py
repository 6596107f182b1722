"""The flows of a migration plan: each machine, and the frame buffers of those with GPUs."""

from __future__ import annotations

from designer.engine.account.bottlenecks import Resources
from designer.engine.flows import binding
from designer.engine.network import Network
from designer.engine.network.channel_order import in_order
from designer.engine.results import Flow
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.migration_plan import CURVES_LIMIT, Moved
from designer.families.machines.migrations import Drain
from designer.families.machines.moves import Moves


def flows(network: Network, moves: Moves) -> list[Flow]:
    """The migrations as flows with their paths, at the rate each got."""
    model = moves.plan.model
    resources = Resources(network, model.migration_paths.limits)
    listed: list[Flow] = []
    for moved in moves.moved[:CURVES_LIMIT]:
        if moved.migration is None:
            continue
        transfer = model.transfers[moved.going.name]
        channels, _ = model.migration_paths.channels(transfer)
        memories = [m for s in moved.going.placed.host.sockets for m in s.memories]
        ordered = in_order(network, memories[0] if memories else network.ends(channels[0])[0], channels)
        by = binding(*model.migration_paths.solved([transfer])).of(transfer).tolist()
        listed.append(
            Flow(
                moved.going.name,
                moved.going.placed.host.path,
                moved.going.there.host.path,
                tuple(network.channel_id(c) for c in ordered),
                moved.rate,
                moved.rate * BANDWIDTH_SPREAD.low,
                moved.rate * BANDWIDTH_SPREAD.high,
                tuple(resources.bottleneck(int(r), 1).id for r in by),
            )
        )
        drain = model.drains.get(moved.going.name)
        if drain is not None and moved.migration.stun is not None:
            listed.append(_frame_buffer(network, moved, drain))
    return listed


def _frame_buffer(network: Network, moved: Moved, drain: Drain) -> Flow:
    """The frame buffer of a machine on its way from GPU to GPU, at what the drawing and its streams give it."""
    going = moved.going
    first = next(device for device in going.placed.devices if device.gpu is not None)
    there = next(device for device in going.there.devices if device.gpu is not None)
    assert first.gpu is not None
    ordered = in_order(network, first.gpu.part, list(drain.channels))
    rate = min(moved.rate, drain.rate)
    return Flow(
        f"{going.name}:frame-buffer",
        first.part,
        there.part,
        tuple(network.channel_id(c) for c in ordered),
        rate,
        rate * BANDWIDTH_SPREAD.low,
        rate * BANDWIDTH_SPREAD.high,
        (),
    )
