"""One server that does the whole training, chosen from two."""

from __future__ import annotations

from designer.contrib.proposals.family import Asked, Chosen, Family
from designer.contrib.proposals.pareto import Choice
from designer.design.document import Design, with_changes
from designer.interchange.network_products import server_of


def following(asked: Asked, chosen: Chosen) -> Choice | None:
    """Return the choice of the server, the only one."""
    return None if "server" in chosen else asked.choice("server", "Server", ("hgx-h100-8", "dgx1-v100"))


def make(asked: Asked, chosen: Chosen) -> Design:
    """Return the server with the training as its only workload."""
    design = server_of(chosen["server"]).design
    return with_changes(design, workloads={asked.goal.id: asked.goal}, default_workload=asked.goal.id)


def server(asked: Asked, name: str) -> Design:
    """Return the server alone."""
    return server_of(name).design


FAMILY = Family("one-server", "One server", ("training",), following, make, server, ("server",))
