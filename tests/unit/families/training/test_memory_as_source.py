"""Samples that lie in a memory of the host: what the memory that is named gives, not the one nearest by."""

from __future__ import annotations

import pytest

from designer.design.document import Design
from tests.unit.engine.small_designs import draw, study

#: one channel of DDR4-3200 [B/s]
CHANNEL = 25.6e9
COMPUTES = {"flops_bf16": "312 TFLOP/s", "memory_bandwidth": "2 TB/s", "memory_capacity": "80 GB"}


def machine() -> Design:
    """Four GPUs on two sockets with eight channels each, and one more memory of a single channel on the first."""
    lines = ["cpu0 cpu1: upi 3* 32 GB/s", "cpu0 mem2: memory_bus 25.6 GB/s"]
    for s in range(2):
        lines += [f"cpu{s} mem{s}: memory_bus 204.8 GB/s"]
        lines += [f"cpu{s} gpu{g}: pcie 4x16" for g in (2 * s, 2 * s + 1)]
    gpus = {f"gpu{g}": dict[str, object](COMPUTES) for g in range(4)}
    return draw(*lines, values={"mem2": {"memory_bandwidth": "25.6 GB/s", "tier": "cxl"}, **gpus})


def loaded(source: str, **settings: object) -> float:
    found = study(machine(), "data_loading", **{"source": source, "decode": "none", "dataset": "c4-en", **settings})[1]
    return found.metrics["rate"].value


def test_all_readers_share_the_one_channel_that_is_named() -> None:
    """Four GPUs get what a transfer from that memory gets, less than 25.6 GB/s; near memory alone gives more."""
    moved = study(machine(), "transfer", **{"from": "mem2", "to": "gpus"})[1].metrics["rate"].value
    assert loaded("mem2") == pytest.approx(moved)
    assert 0.7 * CHANNEL < moved < CHANNEL
    assert loaded("memory") > 3 * CHANNEL


def test_readers_of_the_other_socket_cross_to_the_memory_that_is_named() -> None:
    """All four read the eight channels of socket 0: the two of socket 1 over the link between the sockets."""
    moved = study(machine(), "transfer", **{"from": "mem0", "to": "gpus"})[1].metrics["rate"].value
    assert loaded("mem0") == pytest.approx(moved)


def test_what_cores_decode_is_read_from_the_memory_that_is_named() -> None:
    """Stored samples cross from the single channel to the memory next to each GPU, decoded ones from there to it."""
    decoded = loaded("mem2", decode="cpu", dataset="imagenet-1k", workers=64, decode_rate="1000000 1/s")
    assert decoded < CHANNEL
    found = study(machine(), "training", model="resnet-50", source="mem2", dataset="imagenet-1k", decode="none")[1]
    assert 4 * found.metrics["data_rate_per_gpu"].value < CHANNEL
