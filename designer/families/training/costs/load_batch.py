"""The samples of a step: each reader's way from storage through host memory, cores and workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from designer.engine.account.expression import Sum, seconds
from designer.engine.costs.move import works_of
from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.engine.routes.selection import resolve
from designer.families.training.feeding import Feed, feed
from designer.families.training.preparation import prepare, samples_of
from designer.families.training.tasks import LoadBatch
from designer.workload.jobs import InputPath


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
    fed = feed(prices.network, readers, path, samples, place)
    return batch_of(prices, fed, samples.loaded(batch, len(readers), path), path)


def batch_of(prices: Prices, fed: Feed, size: float, path: InputPath) -> Cost:
    """So much for each reader [B]."""
    found = works_of(prices, fed.answer, size, f"input:{path.source}")
    # workers have many requests under way, so only the first of all waits for its first byte
    found = replace(found, after=None, sources=tuple(sorted({"fit-storage", *found.sources})))
    if path.prefetch > 0:
        return found
    # not read ahead, a sample passes stage after stage
    each = fed.time(1.0, overlapped=False, rates=found.rates)
    return replace(found, cap=np.minimum(found.cap, 1 / float(seconds(each))), time=Sum((each,), size))


COST = CostKind(LoadBatch, price)
