"""The samples of a step: each reader's way from storage through host memory, cores and workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from designer.analysis.costs.move import works_of
from designer.analysis.costs.pricing import Cost, CostKind, Prices
from designer.analysis.selection import resolve
from designer.analysis.training.feeding import feed
from designer.analysis.training.preparation import prepare, samples_of
from designer.workload.program.training import LoadBatch


def price(prices: Prices, task: LoadBatch, place: str) -> Cost:
    """One batch for each reader, in stored bytes; other workloads run as programs of their own.

    Raises
    ------
    AnalysisError
        If the data cannot be reached.
    """
    path = replace(task.input, background="")
    if task.job is not None:
        plan = prepare(prices.network, task.job, place, prices.running)
        readers, batch, handed = plan.readers(), plan.local_batch, plan.handed
        samples, _ = samples_of(task.job.sequence, plan.is_transformer, path, place)
    else:
        readers, batch = resolve(prices.network, task.group, f"{place}.group"), task.batch
        handed = float(batch)
        samples, _ = samples_of(task.sequence, True, path, place)
    samples = replace(samples, batch=handed)
    fed = feed(prices.network, readers, path, samples, place, explained=False)
    # not read ahead, a sample passes stage after stage
    slower = 1.0
    if path.prefetch == 0:
        slower = sum(fed.rate / rate for rate in fed.stages.values())
    found = works_of(prices, fed.answer, batch * samples.stored * slower, f"input:{path.source}")
    # workers have many requests under way, so only the first of all waits for its first byte
    return replace(found, latency=np.zeros_like(found.latency), sources=tuple(sorted({"fit-storage", *found.sources})))


COST = CostKind(LoadBatch, price)
