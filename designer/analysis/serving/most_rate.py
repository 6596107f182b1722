"""The most requests a second that accelerators can answer: products of weights at their peak rate, no more.

Every token that is read or put out is multiplied with the weights it uses; only tokens found in a prefix cache are not.
"""

from __future__ import annotations

from designer.analysis.network import Network
from designer.analysis.selection import resolve
from designer.analysis.serving.devices import device_of
from designer.analysis.training.least_time import in_matrices
from designer.analysis.training.preparation import shape_of
from designer.workload.serving import Serving
from designer.workload.shape import TransformerShape


def least_work(asked: Serving, place: str) -> float:
    """Arithmetic that a request cannot do without, in the mean [FLOP]; 0 where its lengths are in a file.

    Raises
    ------
    AnalysisError
        If the model is not known.
    """
    shape, load = shape_of(asked.deployment.model, f"{place}.model"), asked.load
    if not isinstance(shape, TransformerShape) or load.lengths or load.trace:
        return 0.0
    # found by room, any share of a prompt may be there; lengths are drawn, so the shortest count
    read = 0.0 if load.reuse else load.prompt * (1 - load.prefix)
    return 2 * in_matrices(shape) * max(0.0, (read + load.output) * (1 - load.spread) - 1)


def peak_rate(network: Network, group: str, place: str) -> float:
    """What all accelerators of a group do at most, in the quickest number format they have [FLOP/s].

    Raises
    ------
    AnalysisError
        If there are none, or they cannot compute.
    """
    parts = resolve(network, group, f"{place}.group")
    return max(device_of(network, parts, place)[0].flops.values()) * len(parts)
