"""Every template with a network against what it is exported as: nothing differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from designer.decisions.as_built import compare_built, fabric_of
from designer.design.document import Design, with_changes
from designer.design.edits.groups import ChangeGroups
from designer.errors import ExchangeError
from designer.interchange.exporting import exporters, write_design
from designer.interchange.importing import read_any
from designer.interchange.network_view import network_view
from designer.interchange.templates import list_templates, open_design
from tests.budget import in_turn, sample

#: formats that list every cable of a network and are read again
CABLED = ("dot", "graphml", "ibdiagnet", "infragraph", "netbox-cables", "simgrid")
#: larger networks take minutes in all these formats
_MOST_GPUS = 2000
#: takes seconds in each, and is the same fabric in larger
LARGE = "cluster-1024"


def _networked() -> list[str]:
    small = [t.id for t in list_templates() if t.gpus <= _MOST_GPUS]
    return [name for name in small if fabric_of(open_design(name)).cables]


NETWORKED = _networked()


def test_the_templates_with_networks_are_there() -> None:
    assert {"su-h100-32", "cluster-1024", "vsphere-cluster-4", "serving-split-2-racks"} <= set(NETWORKED)


def _differences(design: Design, name: str, folder: Path) -> tuple[int, ...]:
    """Findings of weight, and nodes and cables that were not compared or differ."""
    path = folder / f"x{exporters()[name].suffix}"
    write_design(design, name, path)
    found = compare_built(design, read_any(path).design)
    # that nodes of a format without names are matched by their cables is no difference
    weighty = [f for f in found.findings if f.code not in ("BUILT-OTHER-NETWORK", "BUILT-BY-CABLES")]
    return len(weighty), found.cables_missing, found.cables_extra, found.degraded


@pytest.mark.parametrize(
    ("template", "name"),
    [*in_turn([t for t in NETWORKED if t != LARGE], CABLED), *sample([], [(LARGE, name) for name in CABLED])],
)
def test_a_design_is_as_its_own_export(template: str, name: str, tmp_path: Path) -> None:
    design = open_design(template)
    if name == "ibdiagnet" and not any(c.kind == "infiniband" for c in network_view(design).cables):
        with pytest.raises(ExchangeError, match="no InfiniBand"):
            write_design(design, name, tmp_path / "x.topo")
        return
    assert _differences(design, name, tmp_path) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", CABLED)
def test_names_given_by_a_pattern_are_those_of_the_export(name: str, tmp_path: Path) -> None:
    """The comparison finds ``dgx001`` of a dump without any other help: the other names are the same."""
    design = ChangeGroups(("servers",), {"naming": "dgx{001}"}).apply(open_design("su-h100-32"))
    path = tmp_path / f"x{exporters()[name].suffix}"
    write_design(design, name, path)
    built = read_any(path).design
    if name != "graphml":  # it keeps the ids of a design, not the names of its machines
        names = {part.label for part in built.parts.values() if part.kind == "server"}
        # a list of cables does not say that the storage is no server
        assert names - {"Storage"} == {f"dgx{k:03d}" for k in range(1, 33)}
    assert _differences(design, name, tmp_path) == (0, 0, 0, 0)


def test_a_cable_less_in_the_dump_is_one_missing(tmp_path: Path) -> None:
    """639 of 640 cables are built: the one that is gone is named by the names of the pattern."""
    design = ChangeGroups(("servers",), {"naming": "dgx{001}"}).apply(open_design("su-h100-32"))
    path = tmp_path / "x.topo"
    write_design(design, "ibdiagnet", path)
    sections = [section.splitlines() for section in path.read_text("utf-8").split("\n\n")]
    (host,) = [section for section in sections if section[0] == "HOST dgx007"]
    near, *_, leaf, far = host[1].split()
    (switch,) = [section for section in sections if section[0].split()[-1:] == [leaf] and len(section) > 1]
    switch.remove(next(x for x in switch if x.split()[:1] == [far] and x.split()[-2:] == ["dgx007", near]))
    host.pop(1)
    path.write_text("\n\n".join("\n".join(section) for section in sections), "utf-8")
    found = compare_built(design, read_any(path).design)
    assert (found.cables_as_designed, found.cables_missing, found.cables_extra) == (640, 1, 0)
    (finding,) = found.findings
    assert finding.code == "BUILT-MISSING"


@pytest.mark.parametrize("template", NETWORKED)
def test_schedulers_see_servers_and_no_storage(template: str, tmp_path: Path) -> None:
    """Slurm and Kubernetes run jobs on servers: each once, by the name it has in every other export."""
    design = open_design(template)
    servers = {n.name for n in network_view(design).nodes if not n.switch and not n.storage}
    assert any(n.storage for n in network_view(design).nodes) or "storage" not in template
    write_design(design, "slurm-topology", tmp_path / "x.conf")
    back = read_any(tmp_path / "x.conf").design
    assert {p.label for p in back.parts.values() if p.kind == "server"} == servers
    write_design(design, "node-labels", tmp_path / "x.yaml")
    text = (tmp_path / "x.yaml").read_text("utf-8")
    assert text.count("kind: Node") == len(servers)


def test_the_tree_of_schedulers_ends_where_all_servers_meet(tmp_path: Path) -> None:
    """One unit of 32 servers: eight rails and two storage leaves are one leaf, spines of both networks one above it.

    The leaves of the storage itself are under the same spines, and no switch above them.
    """
    write_design(open_design("su-h100-32"), "slurm-topology", tmp_path / "x.conf")
    lines = [line for line in (tmp_path / "x.conf").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines == ["SwitchName=spines-0 Switches=leaves-0", "SwitchName=leaves-0 Nodes=servers-[0-31]"]


def test_what_differs_by_a_pattern_alone_is_not_another_design() -> None:
    design = open_design("su-h100-32")
    group = design.groups["servers"]
    named = design.model_copy(update={"groups": {**design.groups, group.id: with_changes(group, naming="node{0}")}})
    assert not compare_built(design, named).findings
