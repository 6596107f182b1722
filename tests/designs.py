"""Designs made in code, for tests: a server like an 8-GPU H100 box and clusters of it."""

from __future__ import annotations

from designer.design.document import Block, Design, Group, Link, Part, Policy, Wiring

NVLINKS = (4, 5, 5, 4)


def server_block() -> Block:
    """One 8-GPU server: 2 sockets, 8 PCIe switches with a GPU and a NIC each, 4 NVSwitches, a storage NIC a socket."""
    parts = [Part(id="server", kind="server")]
    links: list[Link] = []

    def pcie(a: str, b: str) -> None:
        links.append(Link(id=f"{a}--{b}", a=a, b=b, kind="pcie", generation=5, lanes=16))

    for s in range(2):
        parts += [
            Part(id=f"cpu{s}", kind="cpu", parent="server"),
            Part(id=f"memory{s}", kind="memory", parent="server"),
        ]
        parts.append(Part(id=f"storage_nic{s}", kind="nic", parent="server"))
        links.append(
            Link(id=f"bus{s}", a=f"cpu{s}", b=f"memory{s}", kind="memory_bus", bandwidth_per_direction="307.2 GB/s")
        )
        pcie(f"cpu{s}", f"storage_nic{s}")
    links.append(Link(id="upi", a="cpu0", b="cpu1", kind="upi", count=4, bandwidth_per_direction="32 GB/s"))
    parts += [Part(id=f"nvsw{k}", kind="nvswitch", parent="server") for k in range(4)]
    for g in range(8):
        parts += [
            Part(id=f"psw{g}", kind="pcie_switch", parent="server"),
            Part(id=f"gpu{g}", kind="gpu", parent="server"),
            Part(id=f"nic{g}", kind="nic", parent="server"),
        ]
        pcie(f"cpu{g // 4}", f"psw{g}")
        pcie(f"psw{g}", f"gpu{g}")
        pcie(f"psw{g}", f"nic{g}")
        for k, count in enumerate(NVLINKS):
            links.append(
                Link(
                    id=f"gpu{g}--nvsw{k}",
                    a=f"gpu{g}",
                    b=f"nvsw{k}",
                    kind="nvlink",
                    count=count,
                    bandwidth_per_direction="25 GB/s",
                )
            )
    return Block.model_validate({"parts": parts, "links": links})


def switch_block() -> Block:
    """One network switch."""
    return Block.model_validate({"parts": [Part(id="switch", kind="switch")]})


def unit_block(servers: int = 32, spines: int = 4) -> Block:
    """A rail-optimised unit: 8 leaves, each joined to all spines at full bisection."""
    fabric = {"kind": "infiniband", "bandwidth_per_direction": "400 Gb/s"}
    return Block.model_validate(
        {
            "groups": [
                Group(id="servers", replicas=servers, content=server_block()),
                Group(id="leaves", replicas=8, content=switch_block()),
                Group(id="spines", replicas=spines, content=switch_block()),
            ],
            "wirings": [
                Wiring(id="rails", pattern="rails", a="servers[*]/nic{0-7}", b="leaves[*]/switch", **fabric),
                Wiring(
                    id="up",
                    pattern="mesh",
                    a="leaves[*]/switch",
                    b="spines[*]/switch",
                    count=max(1, servers // spines),
                    **fabric,
                ),
            ],
        }
    )


def one_server(**changes: object) -> Design:
    """A design of one server."""
    return Design.model_validate({"name": "server", **dict(server_block()), **changes})


def one_unit(servers: int = 32, **changes: object) -> Design:
    """A design of one rail-optimised unit."""
    return Design.model_validate({"name": "unit", **dict(unit_block(servers)), **changes})


def pods(units: int, ecmp: str = "split", spines: int = 4) -> Design:
    """Units joined by cores, plane by plane: ``units`` × 256 GPUs."""
    cores = max(spines, spines * 8)
    return Design.model_validate(
        {
            "name": f"pods{units}",
            "policy": Policy(ecmp=ecmp),
            "groups": [
                Group(id="pods", replicas=units, content=unit_block(spines=spines)),
                Group(id="cores", replicas=cores, content=switch_block()),
            ],
            "wirings": [
                Wiring(
                    id="core",
                    pattern="stripes",
                    a="pods[*]/spines[*]/switch",
                    b="cores[*]/switch",
                    kind="infiniband",
                    count=8,
                    bandwidth_per_direction="400 Gb/s",
                )
            ],
        }
    )
