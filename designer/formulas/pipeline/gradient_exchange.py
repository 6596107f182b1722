"""Agreeing on gradients: an all-reduce among workers, or parameter servers that everyone talks to."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.units import Bytes, BytesPerSecond, Seconds


def parameter_server_time(
    size: Bytes, workers: int, servers: int, worker_rate: BytesPerSecond, server_rate: BytesPerSecond
) -> Seconds:
    """Time in which all workers send gradients and fetch weights [s].

    Parameters
    ----------
    size
        Bytes of the gradients, and of the weights [B].
    servers
        Parameter servers; each keeps an equal part.
    worker_rate, server_rate
        Network of one worker and of one server, each direction [B/s].

    Notes
    -----
    Out and back: 2 max(size ÷ worker rate, workers x size ÷ (servers x server rate)).

    Raises
    ------
    AnalysisError
        If there is nobody, or a rate is not positive.

    Sources
    -------
    Li et al. 2014.
    """
    if min(workers, servers) < 1 or worker_rate <= 0 or server_rate <= 0:
        raise AnalysisError(
            f"{workers} workers and {servers} servers", remedy="give at least one of each, with network rates above 0"
        )
    return Seconds(2 * max(size / worker_rate, workers * size / (servers * server_rate)))


def ring_time(size: Bytes, workers: int, worker_rate: BytesPerSecond) -> Seconds:
    """Time of the same exchange by a ring all-reduce, latency left out: 2 (n - 1)/n size ÷ rate [s]."""
    if workers < 1 or worker_rate <= 0:
        raise AnalysisError(f"{workers} workers", remedy="give at least one, with a network rate above 0")
    return Seconds(2 * (workers - 1) / workers * size / worker_rate)


FORMULA: Final = Formula(
    "parameter-server",
    "Parameter servers",
    parameter_server_time,
    ("parameter-server-2014",),
    "synchronous; equal parts; enough servers hold the model",
)
