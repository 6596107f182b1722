"""What the templates must contain, written down from vendor documents and machine dumps, not from the files."""

from __future__ import annotations

from typing import Final, NamedTuple

#: raw rate of an x16 link after line encoding, per direction [GB/s]
GEN3, GEN4, GEN5 = 15.754, 31.508, 63.015
#: NVLink-C2C of one of the two GPUs of a Grace, per direction [GB/s]
C2C = 225.0


class Expected(NamedTuple):
    """One server or cluster.

    Parameters
    ----------
    nvlinks
        NVLinks of each GPU.
    ports
        NVLink ports in use on the NVSwitches, as a set over all of them.
    share
        Raw rate of the narrowest link from host memory to a GPU, divided by the GPUs that load over it [GB/s].
    """

    servers: int
    cpus: int
    gpus: int
    nvlinks: int
    ports: frozenset[int]
    share: float


def _server(gpus: int, nvlinks: int, ports: set[int], share: float, cpus: int = 2, servers: int = 1) -> Expected:
    return Expected(servers, cpus, gpus, nvlinks, frozenset(ports), share)


SYSTEMS: Final = {
    "dgx1-v100": _server(8, 6, set(), GEN3 / 2),
    "dgx2": _server(16, 6, {16}, GEN3 / 4),
    "dgx-a100": _server(8, 12, {16}, GEN4 / 2),
    "dgx-h100": _server(8, 18, {32, 40}, GEN5),
    "dgx-h200": _server(8, 18, {32, 40}, GEN5),
    "dgx-b200": _server(8, 18, {72}, GEN5 / 2),
    "hgx-a100-4": _server(4, 12, set(), GEN4),
    "hgx-a100-4-2p-epyc": _server(4, 12, set(), GEN4),
    "hgx-a100-4-ice-lake": _server(4, 12, set(), GEN4, cpus=1),
    "hgx-a100-4-2s-pairswitch": _server(4, 12, set(), GEN4 / 2),
    "hgx-a100-8": _server(8, 12, {16}, GEN4 / 2),
    "hgx-a100-16": _server(16, 12, {32}, GEN4 / 2),
    "hgx-h100-4": _server(4, 18, set(), GEN5),
    "h100-4-2p-epyc": _server(4, 18, set(), GEN5),
    "hgx-h100-8": _server(8, 18, {32, 40}, GEN5),
    "hgx-h200-8": _server(8, 18, {32, 40}, GEN5),
    "hgx-b200-8": _server(8, 18, {72}, GEN5 / 2),
    "hgx-b200-host": _server(8, 18, {72}, GEN5 / 2),
    "hgx-b300-8": _server(8, 18, {72}, GEN5),
    "gb200-tray": _server(4, 0, set(), C2C),
    "gb200-nvl72": _server(72, 18, {72}, C2C, cpus=36, servers=18),
    "gb300-nvl72": _server(72, 18, {72}, C2C, cpus=36, servers=18),
    "mi355x-rack-64": _server(64, 0, set(), GEN5, cpus=16, servers=8),
    "dell-xe8545": _server(4, 12, set(), GEN4),
    "dell-xe8640": _server(4, 18, set(), GEN5),
    "dell-xe9680": _server(8, 18, {32, 40}, GEN5),
    "dell-xe9680-mi300x": _server(8, 0, set(), GEN5),
    "dell-r750xa": _server(4, 0, set(), GEN4),
    "dell-r760xa": _server(4, 0, set(), GEN5),
    "dell-c4140-b": _server(4, 0, set(), GEN3 / 4),
    "sm-4029gp-trt": _server(8, 0, set(), GEN3 / 4),
    "sm-4029gp-trt-pair": _server(16, 0, set(), GEN3 / 4, cpus=4, servers=2),
    "sm-4029gp-trt2": _server(8, 0, set(), GEN3 / 4),
    "sm-4029gp-trt3": _server(8, 0, set(), GEN3 / 8),
    "sm-4029gp-tvrt": _server(8, 6, set(), GEN3 / 2),
    "supermicro-8u-h200": _server(8, 18, {32, 40}, GEN5),
    "hpe-xl270d-gen10": _server(8, 6, set(), GEN3 / 2),
    "hpe-xl645d-gen10plus": _server(4, 12, set(), GEN4, cpus=1),
    "hpe-xl675d-gen10plus": _server(8, 12, {16}, GEN4 / 2),
    "hpe-apollo-6500-parallel-storage": _server(8, 6, set(), GEN3 / 2),
    "hpe-apollo-6500-nfs": _server(8, 6, set(), GEN3 / 2),
    "meta-grand-teton": _server(8, 18, {32, 40}, GEN5 / 2),
    "azure-ndv2-v100": _server(8, 6, set(), GEN3),
    "azure-ndv4-a100": _server(8, 12, {16}, GEN4 / 2),
    "azure-ndv5-h100": _server(8, 18, {32, 40}, GEN5),
    "azure-ncv4-a100-pcie": _server(4, 12, set(), GEN4),
    "aws-p4d": _server(8, 12, {16}, GEN4 / 2),
    "mi300x-platform": _server(8, 0, set(), GEN5),
    "mi250x-16gcd": _server(16, 0, set(), GEN4 / 4),
    "m40-server": _server(1, 0, set(), GEN3),
    "m60-server": _server(1, 0, set(), GEN3),
    "vsphere-cluster-4": _server(8, 0, set(), GEN4, cpus=8, servers=4),
    "serving-h100-8": _server(8, 18, {32, 40}, GEN5),
    "serving-split-2-racks": _server(32, 18, {32, 40}, GEN5, cpus=8, servers=4),
    "serving-l40s-4": _server(4, 0, set(), GEN4),
    "serving-mig-farm": _server(8, 0, set(), GEN5, cpus=4, servers=2),
    "serving-cpu-2s": _server(0, 0, set(), 0.0),
    "edge-jetson-orin": _server(1, 0, set(), 204.8, cpus=1),
    "edge-jetson-thor": _server(1, 0, set(), 273.0, cpus=1),
    "edge-dgx-spark": _server(1, 0, set(), 273.0, cpus=1),
    "edge-robot-cell": _server(2, 0, set(), GEN4, cpus=1),
    "su-h100-32": _server(256, 18, {32, 40}, GEN5, cpus=64, servers=32),
    "cluster-1024": _server(1024, 18, {32, 40}, GEN5, cpus=256, servers=128),
    "cluster-16384": _server(16384, 18, {32, 40}, GEN5, cpus=4096, servers=2048),
    "cluster-98304": _server(98304, 18, {32, 40}, GEN5, cpus=24576, servers=12288),
    "cluster-gb200-6912": _server(6912, 18, {72}, C2C, cpus=3456, servers=1728),
}

#: xGMI links of each GPU: full mesh of MI300X; each MI250X die has four to the other die of its module and three more
XGMI_PER_GPU: Final = {"mi300x-platform": {7}, "mi355x-rack-64": {7}, "dell-xe9680-mi300x": {7}, "mi250x-16gcd": {7}}

#: switches: leaves, spines, cores of the compute fabric, and cables between these tiers
FABRICS: Final = {
    "su-h100-32": {"leaf": 8, "spine": 4, "servers--leaf": 256, "leaf--spine": 256},
    "cluster-1024": {"leaf": 32, "spine": 16, "servers--leaf": 1024, "leaf--spine": 1024},
    "cluster-16384": {
        "leaf": 512,
        "spine": 512,
        "core": 256,
        "servers--leaf": 16384,
        "leaf--spine": 16384,
        "spine--core": 16384,
    },
}

#: links and wirings as drawn that nobody has published: unverified, and chosen by us
UNSURE: Final = {
    "aws-p4d": (4, 9),
    "azure-ncv4-a100-pcie": (2, 10),
    "azure-ndv2-v100": (1, 1),
    "azure-ndv4-a100": (0, 13),
    "azure-ndv5-h100": (0, 10),
    "cluster-1024": (11, 4),
    "cluster-16384": (11, 4),
    "cluster-98304": (11, 4),
    "cluster-gb200-6912": (7, 0),
    "dell-c4140-b": (1, 5),
    "dell-r750xa": (1, 8),
    "dell-r760xa": (5, 8),
    "dell-xe8545": (19, 4),
    "dell-xe8640": (2, 6),
    "dell-xe9680-mi300x": (3, 10),
    "dell-xe9680": (10, 2),
    "dgx-a100": (5, 0),
    "dgx-b200": (15, 0),
    "dgx-h100": (11, 0),
    "dgx-h200": (11, 0),
    "dgx1-v100": (9, 0),
    "dgx2": (1, 0),
    "gb200-nvl72": (7, 0),
    "gb200-tray": (7, 0),
    "gb300-nvl72": (7, 4),
    "mi355x-rack-64": (0, 37),
    "h100-4-2p-epyc": (13, 6),
    "hgx-a100-16": (6, 53),
    "hgx-a100-4-2p-epyc": (5, 6),
    "hgx-a100-4-2s-pairswitch": (9, 6),
    "hgx-a100-4-ice-lake": (12, 3),
    "hgx-a100-4": (0, 15),
    "hgx-a100-8": (0, 29),
    "hgx-b200-8": (0, 33),
    "hgx-b200-host": (5, 12),
    "hgx-b300-8": (34, 7),
    "hgx-h100-4": (0, 21),
    "hgx-h100-8": (0, 37),
    "hgx-h200-8": (0, 37),
    "hpe-apollo-6500-parallel-storage": (17, 8),
    "hpe-apollo-6500-nfs": (17, 8),
    "hpe-xl270d-gen10": (17, 6),
    "hpe-xl645d-gen10plus": (8, 4),
    "hpe-xl675d-gen10plus": (65, 6),
    "m40-server": (0, 6),
    "m60-server": (0, 6),
    "meta-grand-teton": (15, 2),
    "mi250x-16gcd": (0, 7),
    "mi300x-platform": (0, 12),
    "sm-4029gp-trt": (3, 8),
    "sm-4029gp-trt-pair": (3, 8),
    "sm-4029gp-trt2": (3, 7),
    "sm-4029gp-trt3": (3, 7),
    "sm-4029gp-tvrt": (5, 6),
    "su-h100-32": (11, 4),
    "supermicro-8u-h200": (1, 12),
    "vsphere-cluster-4": (0, 16),
    "edge-dgx-spark": (0, 4),
    "edge-jetson-orin": (0, 4),
    "edge-robot-cell": (0, 16),
    "edge-jetson-thor": (0, 4),
    "serving-cpu-2s": (0, 5),
    "serving-h100-8": (0, 40),
    "serving-l40s-4": (5, 11),
    "serving-mig-farm": (5, 10),
    "serving-split-2-racks": (22, 6),
}

#: systems of the founding articles, each by the name it has there
ARTICLES: Final = {
    "Redstone": "hgx-a100-4",
    "Delta": "hgx-a100-8",
    "two Deltas": "hgx-a100-16",
    "Redstone-Next": "hgx-h100-4",
    "Delta-Next": "hgx-h100-8",
    "XE8545": "dell-xe8545",
    "XE9680": "dell-xe9680",
    "Apollo 6500 Gen10 Plus": "hpe-xl675d-gen10plus",
    "Apollo 6500 Gen10": "hpe-xl270d-gen10",
    "DGX-1": "dgx1-v100",
    "DGX-2": "dgx2",
    "M40": "m40-server",
    "M60": "m60-server",
    "vSphere": "vsphere-cluster-4",
    "parallel file system": "hpe-apollo-6500-parallel-storage",
}
