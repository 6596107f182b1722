"""A draft of the environment NCCL is started with: which adapters, which transport, what the drawing says of each.

Every line states why; lines that depend on the site are comments.
Sources: NVIDIA NCCL documentation, environment variables.
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.catalog.partkind import Domain
from designer.catalog.parttype import link_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write shell assignments.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    view = network_view(design)
    net = elaborate(design)
    hosts = [node for node in view.nodes if not node.switch and node.gpus]
    if not hosts:
        raise ExchangeError(
            "no server of the design has GPUs", remedy="NCCL runs on GPUs: give the servers their contents"
        )
    kinds = {cable.kind for cable in view.cables}
    joins = {name for name, kind in link_kinds().items() if kind.domain is Domain.NETWORK}
    cabled = {
        e
        for a, b, d in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True)
        if net.link_defs[d].kind in joins
        for e in (a, b)
    }
    nics = [i for i in cabled if net.part(i).kind in ("nic", "dpu")]
    each = len(nics) / max(1, len([n for n in view.nodes if not n.switch]))
    lines = [
        f"# draft: NCCL environment for {one_line(design.title or design.name)}",
        f"# {len(hosts)} servers with {hosts[0].gpus} GPUs, about {each:.3g} cabled NICs each",
        "# adapters in the order of ibstat; check the names on a node, and leave storage adapters out",
        "#NCCL_IB_HCA==mlx5_0:1,mlx5_1:1",
    ]
    if kinds == {"ethernet"}:
        lines += [
            "# RDMA over Ethernet: index of the RoCE v2 entry in show_gids, and the traffic class of the switches",
            "#NCCL_IB_GID_INDEX=3",
            "#NCCL_IB_TC=106",
        ]
    elif "infiniband" in kinds:
        lines.append("# InfiniBand: the transport is found by itself")
    policy = design.policy
    lines.append("# 0: GPUs keep to their own rail and reach others over NVLink; 1 lets them cross")
    lines.append(f"NCCL_CROSS_NIC={0 if policy.rail_affinity else 1}")
    if not policy.gpudirect:
        lines += ["# the design has GPUDirect RDMA off", "NCCL_NET_GDR_LEVEL=LOC"]
    lines += [
        "# interface for the start of a job, not for its data",
        "#NCCL_SOCKET_IFNAME=eth0",
        "# shows what NCCL found, to be compared with the design",
        "NCCL_DEBUG=INFO",
        "NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET",
        "NCCL_TOPO_DUMP_FILE=/tmp/nccl-topology.xml",
    ]
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


EXPORTER = Exporter("nccl-environment", ".nccl.env", "NCCL environment", write)
