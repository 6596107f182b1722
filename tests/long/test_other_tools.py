"""Documents read back by the tools they are written for, each installed into a folder of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from designer.design.elaborate import elaborate
from designer.interchange.exporting import write_design
from designer.interchange.templates import open_design

pytestmark = pytest.mark.long
INFRAGRAPH = """
import json, sys
sys.path.insert(0, sys.argv[1])
from infragraph import Infrastructure
from infragraph.infragraph_service import InfraGraphService
read = Infrastructure()
read.deserialize(open(sys.argv[2]).read())
service = InfraGraphService()
service.set_graph(read)
graph = service.get_networkx_graph()
kinds = [kind for _, kind in graph.nodes(data="type")]
print(json.dumps({kind: kinds.count(kind) for kind in set(kinds)} | {"edges": graph.number_of_edges()}))
"""


@pytest.fixture(scope="module")
def infragraph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("infragraph")
    asked = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "infragraph==3.1.0"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"infragraph cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")
    return folder


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "gb200-nvl72"])
def test_infragraph_reads_every_part_and_link(template: str, infragraph: Path, tmp_path: Path) -> None:
    """Its graph has an edge for each bundle inside and each cable outside, and one from each port to its chip."""
    design = open_design(template)
    path = tmp_path / "x.infragraph.json"
    write_design(design, None, path)
    asked = [sys.executable, "-W", "error::SyntaxWarning", "-c", INFRAGRAPH, str(infragraph), str(path)]
    found = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True, timeout=300).stdout)
    net = elaborate(design)
    kinds = [net.part(i).kind for i in range(net.n_parts)]
    assert found["xpu"] == kinds.count("gpu")
    assert found["nic"] == kinds.count("nic") + kinds.count("dpu")
    assert found["switch"] == sum(kinds.count(k) for k in ("nvswitch", "pcie_switch", "switch"))
    homes = [
        kinds[a] == "switch" or kinds[b] == "switch"
        for a, b in zip(net.link_a.tolist(), net.link_b.tolist(), strict=True)
    ]
    cables = sum(net.link(i).count if far else 1 for i, far in enumerate(homes))
    assert found["edges"] == cables + found.get("port", 0)


@pytest.mark.parametrize("template", ["su-h100-32", "vsphere-cluster-4"])
def test_graphviz_reads_every_cable_of_the_plan(template: str, tmp_path: Path) -> None:
    """``dot`` takes the plan apart and states one edge for each that was written, between units that are drawn."""
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("Graphviz is not installed: apt install graphviz")
    path = tmp_path / "plan.dot"
    write_design(open_design(template), "dot", path)
    asked = [dot, "-Tdot_json", str(path)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
    # ports are named as plans of cables name them, which draws no field for each port in a box
    odd = [line for line in done.stderr.splitlines() if not (line.startswith("Warning: node") and "port" in line)]
    assert not odd
    stated = json.loads(done.stdout)
    written = sum(" -- " in line for line in path.read_text("utf-8").splitlines())
    assert written
    assert len(stated["edges"]) == written
    assert {e["tail"] for e in stated["edges"]} | {e["head"] for e in stated["edges"]} <= {
        o["_gvid"] for o in stated["objects"]
    }
