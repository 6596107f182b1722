"""A matrix product: its time, and the arithmetic each accelerator does in it."""

from __future__ import annotations

from dataclasses import replace

from designer.engine import measured
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.sources import Estimate
from designer.workload.program import Product, Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A product on every accelerator at once."""
    result, loads = measured.answer(network, program, question)
    task, time = program.first(Product), result.metrics["product_time"]
    assert task is not None
    flop = 2.0 * task.rows * task.columns * task.inner
    rate = Estimate(flop / time.value, flop / time.high, flop / time.low, "FLOP/s", time.sources, "of each accelerator")
    return replace(result, metrics={**result.metrics, "product_rate": rate}), loads
