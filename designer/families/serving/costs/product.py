"""A matrix product on each of some parts: its kernel, in launch, arithmetic and memory."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from designer.engine import measured
from designer.engine.account.bottlenecks import arithmetic, memory_bandwidth
from designer.engine.account.expression import Roofline, Sum, Term
from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.families.collective.times import LAUNCH
from designer.families.serving.devices import device_of, with_kernels
from designer.families.serving.formulas._kernels import kernels_of
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.single_product import FORMULA, MEASURED, UNMEASURED, single_product
from designer.sources import Estimate
from designer.workload.program import Product, Program

#: the estimate that its time rests on
ESTIMATE = "product"
#: number formats that no kernel of the tables multiplies
_NEVER_MEASURED = ("tf32", "fp32")


def price(prices: Prices, task: Product, place: str) -> Cost:
    """A product on each part, all of the time of the slowest.

    Raises
    ------
    AnalysisError
        If no part is named, or one cannot compute in the format.
    """
    network = prices.network
    parts = resolve(network, task.where, place)
    device, findings = device_of(network, parts, place)
    how = number_format(task.precision)
    found = single_product(task.rows, task.columns, task.inner, how, with_kernels(device, "vllm"))
    known = (kernels_of(device.architecture)[1] or device.table is not None) and how.name not in _NEVER_MEASURED
    spread = (MEASURED if known else UNMEASURED).value
    # no kernel passes the peak rate
    least = 2.0 * task.rows * task.columns * task.inner / device.flops[device.runs_as(how)]
    here, n = network.net.path(int(parts[0])), len(parts)
    roofline = Roofline(
        (
            Term(arithmetic(here, device.name, "", n), found.compute),
            Term(memory_bandwidth(here, device.name, "", n), found.memory),
        ),
        found.sharpness,
    )
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return Cost(
        np.zeros(n + 1, dtype=np.int64),
        none,
        empty,
        np.full(n, found.seconds),
        np.ones(n),
        np.ones(n),
        np.zeros(n),
        prices.table.engines(parts.tolist()),
        min(1.0, max(math.exp(-spread), least / found.seconds)),
        math.exp(spread),
        ESTIMATE,
        "s",
        FORMULA.sources,
        findings,
        time=Sum((Term(LAUNCH, found.least), roofline), estimate=ESTIMATE),
    )


COST = CostKind(Product, price)


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A product on every accelerator at once."""
    result, loads = measured.answer(network, program, question)
    task, time = program.first(Product), result.metrics["product_time"]
    assert task is not None
    flop = 2.0 * task.rows * task.columns * task.inner
    rate = Estimate(flop / time.value, flop / time.high, flop / time.low, "FLOP/s", time.sources, "of each accelerator")
    return replace(result, metrics={**result.metrics, "product_rate": rate}), loads
