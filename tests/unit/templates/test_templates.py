"""Every template opens, says where its numbers come from, and gives the machine that was published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from designer import resources
from designer.analysis.study import analyze
from designer.catalog.loader import Catalog
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Block, Design, LinkValues, Part
from designer.design.elaborate import elaborate
from designer.design.geometry import lay_out
from designer.design.port_usage import usage
from designer.engine.network import build_network
from designer.engine.transfers import evaluate_transfer
from designer.interchange.native.reader import load
from designer.interchange.native.writer import dumps
from designer.sources import Status
from designer.workload.kind import program_of
from designer.workload.program import Move
from tests.budget import sample
from tests.unit.templates.expected import ARTICLES, FABRICS, SYSTEMS, UNSURE, XGMI_PER_GPU

IDS = sorted(path.name.removesuffix(".design.json") for path in resources.templates().glob("*.design.json"))
SMALL = [i for i in IDS if SYSTEMS[i].gpus <= 1024]
#: templates whose workloads are asked all at once each time
TOGETHER = ["dgx-h100", "m40-server", "serving-h100-8", "vsphere-cluster-4"]
#: share of the raw rate that copies from host memory reach: lowest and highest over link kinds and generations
LOWEST, HIGHEST = 0.72, 0.93


def path_of(template: str) -> Path:
    return resources.templates() / f"{template}.design.json"


@cache
def opened(template: str) -> Design:
    return load(path_of(template)).design


def blocks(block: Block) -> Iterator[Block]:
    """The block and all blocks of its groups, each once."""
    yield block
    for group in block.groups.values():
        for inner in (group.content, *group.exceptions.values()):
            yield from blocks(inner)


def drawn_links(design: Design) -> Iterator[LinkValues]:
    for block in blocks(design):
        yield from block.links.values()
        yield from block.wirings.values()


def drawn_parts(design: Design) -> Iterator[Part]:
    for block in blocks(design):
        yield from block.parts.values()


def test_the_expected_templates_are_there() -> None:
    assert sorted(SYSTEMS) == IDS


@pytest.mark.parametrize("template", IDS)
def test_opens_without_findings_and_is_written_back_unchanged(template: str) -> None:
    loaded = load(path_of(template))
    assert loaded.findings == []
    assert dumps(loaded.design).encode() == path_of(template).read_bytes()


@pytest.mark.parametrize("template", IDS)
def test_says_what_it_is(template: str) -> None:
    design = opened(template)
    assert design.name == template
    assert 10 <= len(design.title) <= 80
    assert design.intent.endswith(".")
    assert design.intent.count(". ") == 0
    assert len(design.description) > 60


@pytest.mark.parametrize("template", IDS)
def test_every_number_points_to_a_source(template: str) -> None:
    design = opened(template)
    used = {link.source for link in drawn_links(design)}
    used |= {quantity.source for part in drawn_parts(design) for quantity in part.overrides.values()}
    assert "" not in used
    assert used <= set(design.sources)
    for link in drawn_links(design):
        source = design.sources[link.source]
        assert link.source != "assumed" or link.status is Status.ASSUMED, link
        assert link.source != "U" or link.status is Status.UNVERIFIED, link
        assert link.status is not Status.PRIMARY or source.status is Status.PRIMARY, link


@pytest.mark.parametrize("template", IDS)
def test_carries_the_part_types_of_the_catalog(template: str) -> None:
    design, catalog = opened(template), Catalog()
    used = {part.type for part in drawn_parts(design)}
    assert used == set(design.part_types)
    for part in drawn_parts(design):
        assert part.kind in part_kinds(), part.id
        assert design.part_types[part.type].kind == part.kind, part.id
        fields = {field.name for field in part_kinds()[part.kind].fields}
        assert set(part.overrides) <= fields, part.id
    for part_type in design.part_types.values():
        assert part_type.problems() == []
        assert part_type == catalog.get(part_type.id)


@pytest.mark.parametrize("template", IDS)
def test_links_fit_the_parts_they_join(template: str) -> None:
    design = opened(template)
    net = elaborate(design)
    for definition in np.unique(net.link_def).tolist():
        link = int(np.flatnonzero(net.link_def == definition)[0])
        what = net.link_defs[definition]
        ends = [net.part(int(end[link])) for end in (net.link_a, net.link_b)]
        assert what.kind in link_kinds()
        assert what.bandwidth_per_direction or (what.generation and what.lanes), what
        for end in ends:
            assert part_kinds()[end.kind].port_for(what.kind), (end.id, what.kind)


@pytest.mark.parametrize("template", IDS)
def test_no_part_has_more_links_than_ports(template: str) -> None:
    design = opened(template)
    net, used = elaborate(design), usage(design)
    for definition, part in enumerate(net.part_defs):
        members = np.flatnonzero(net.part_def == definition)
        lanes = design.quantity(part, "pcie_lanes")
        if lanes is not None:
            assert int(used.lanes[used.row[members]].max()) <= int(lanes.value), part.id
        for port in part_kinds()[part.kind].ports:
            quantity = design.quantity(part, port.count_field) if port.count_field else None
            limit = port.count or (int(quantity.value) if quantity is not None else 0)
            # the links between a socket and its NUMA domains are no socket links
            if not limit or (part.kind == "cpu" and "numa" in {p.kind for p in net.part_defs}):
                continue
            ending = [counts for key, counts in used.links.items() if port.takes(*key)]
            if ending:
                assert int(np.sum(ending, axis=0)[used.row[members]].max()) <= limit, (part.id, port.name)


@pytest.mark.parametrize("template", IDS)
def test_no_part_dangles(template: str) -> None:
    net = elaborate(opened(template))
    joined = np.zeros(net.n_parts, dtype=bool)
    joined[net.link_a] = joined[net.link_b] = True
    contains = np.array([p.kind in ("server", "rack") for p in net.part_defs])[net.part_def]
    assert bool((joined | contains).all())


@pytest.mark.parametrize("template", IDS)
def test_has_the_published_parts(template: str) -> None:
    net = elaborate(opened(template))
    kinds = np.array([p.kind for p in net.part_defs])[net.part_def]
    count = Counter(kinds.tolist())
    expected = SYSTEMS[template]
    assert (count["server"], count["cpu"], count["gpu"]) == expected[:3]
    assert count["memory"] >= count["cpu"]
    assert count["nic"] >= count["server"]
    assert count["drive"] + count["storage"] > 0


def links_per_part(template: str, link_kind: str, part_kind: str) -> set[int]:
    """How many links of a kind the parts of a kind have, as a set."""
    design = opened(template)
    net, used = elaborate(design), usage(design)
    chosen = np.array([p.kind == part_kind for p in net.part_defs], dtype=bool)[net.part_def]
    ending = [counts for (kind, _), counts in used.links.items() if kind == link_kind]
    return set(np.sum(ending, axis=0)[used.row[chosen]].tolist()) if ending else set()


@pytest.mark.parametrize("template", IDS)
def test_nvlinks_add_up(template: str) -> None:
    expected = SYSTEMS[template]
    assert links_per_part(template, "nvlink", "gpu") == ({expected.nvlinks} if expected.nvlinks else set())
    assert links_per_part(template, "nvlink", "nvswitch") == expected.ports


@pytest.mark.parametrize("template", sorted(XGMI_PER_GPU))
def test_xgmi_links_add_up(template: str) -> None:
    assert links_per_part(template, "xgmi", "gpu") == XGMI_PER_GPU[template]


def test_the_dies_of_an_mi250x_module_are_joined_by_four_links() -> None:
    drawn = [link for link in opened("mi250x-16gcd").links.values() if link.kind == "xgmi"]
    assert {(x.a, x.b) for x in drawn if x.count == 4} == {(f"gpu{2 * m}", f"gpu{2 * m + 1}") for m in range(8)}
    assert sum(x.count for x in drawn) == 8 * 4 + 24


@pytest.mark.parametrize("template", ["dgx-h100", "hgx-h100-8", "dell-xe9680", "su-h100-32"])
def test_every_h100_spreads_its_nvlinks_4_5_5_4(template: str) -> None:
    inner = [b for b in blocks(opened(template)) if any(p.kind == "nvswitch" for p in b.parts.values())]
    for gpu in range(8):
        counts = [inner[0].links[f"gpu{gpu}--nvsw{k}"].count for k in range(4)]
        assert counts == [4, 5, 5, 4]


@pytest.mark.parametrize("template", sorted(FABRICS))
def test_fabrics_have_the_published_switches_and_cables(template: str) -> None:
    net = elaborate(opened(template))
    roles = np.array([p.attributes.get("role", p.kind) if p.kind == "switch" else p.kind for p in net.part_defs])
    role = roles[net.part_def]
    cables = Counter[str]()
    for a, b, definition in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
        what = net.link_defs[definition]
        if what.kind == "infiniband":
            cables[f"{'servers' if role[a] == 'nic' else role[a]}--{role[b]}"] += what.count
    switches = Counter(role.tolist())
    for what, number in FABRICS[template].items():
        assert (cables if "--" in what else switches)[what] == number, what


@pytest.mark.parametrize("template", IDS)
def test_says_how_many_links_are_not_published(template: str) -> None:
    status = Counter(link.status for link in drawn_links(opened(template)))
    assert (status[Status.UNVERIFIED], status[Status.ASSUMED]) == UNSURE[template]


@pytest.mark.parametrize("template", IDS)
def test_workloads_can_be_read_and_one_is_the_default(template: str) -> None:
    design = opened(template)
    assert design.default_workload in design.workloads
    assert len(design.workloads) >= 2
    for spec in design.workloads.values():
        program_of(spec.kind, spec.settings, spec.id)
    if SYSTEMS[template].gpus:
        assert design.workloads["h2d"].settings == {"from": "memory", "to": "gpus"}
    if SYSTEMS[template].gpus > 1:
        assert design.workloads["all-reduce"].settings["size"] == "1 GiB"
    assert "storage-to-gpus" in design.workloads


@pytest.mark.parametrize("template", [t for t in IDS if 0 < SYSTEMS[t].gpus <= 20_000])
def test_loading_all_gpus_at_once_is_bottleneck_where_it_was_published(template: str) -> None:
    answer = evaluate_transfer(build_network(opened(template)), Move("memory", "gpus"), "t")
    share = SYSTEMS[template].share * 1e9
    assert len(answer.rate) == SYSTEMS[template].gpus
    assert np.allclose(answer.rate, answer.rate[0], rtol=1e-6)
    assert share * LOWEST <= float(answer.rate[0]) <= share * HIGHEST
    assert answer.findings == ()


def test_an_h200_server_loads_as_fast_as_was_measured() -> None:
    # 8 × H200, nvbandwidth host to device: 55.43 GB/s (Machine Learning Engineering, network chapter)
    network = build_network(opened("supermicro-8u-h200"))
    answer = evaluate_transfer(network, Move("memory", "gpu0"), "t")
    assert float(answer.rate[0]) == pytest.approx(55.43e9, rel=0.05)


@pytest.mark.parametrize(
    "template", ["dgx-h100", "dgx-a100", "dgx2", "hgx-b300-8", "dell-xe9680", "mi300x-platform", "aws-p4d"]
)
def test_a_gpu_reaches_its_nic_below_the_switch(template: str) -> None:
    network = build_network(opened(template))
    answer = evaluate_transfer(network, Move("gpu0", "nic0"), "t")
    via = {step for flow in answer.flows for step in flow.via}
    assert via
    assert not any("cpu" in step for step in via)


@pytest.mark.parametrize("template", sample(TOGETHER, [i for i in SMALL if i not in TOGETHER]))
def test_workloads_are_answered_together(template: str) -> None:
    """One by one, those of every template are asked in ``tests/validation/test_templates_hold.py``."""
    design = opened(template)
    answer = analyze(design, curves=False)
    assert [r.id for r in answer.workloads] == list(design.workloads)
    for result in answer.workloads:
        assert result.metrics, result.id
        assert result.binding, result.id


def addresses(block: Block, within: tuple[tuple[str, int | None], ...] = ()) -> set[tuple[tuple[str, int | None], ...]]:
    """The addresses of all groups, at any depth, as the picture opens them."""
    found: set[tuple[tuple[str, int | None], ...]] = set()
    for group in block.groups.values():
        here = (*within, (group.id, None))
        found |= {here} | addresses(group.content, here)
    return found


@pytest.mark.parametrize("opened_groups", [False, True])
@pytest.mark.parametrize("template", IDS)
def test_nothing_overlaps_and_all_lies_in_its_container(template: str, opened_groups: bool) -> None:
    design = opened(template)
    drawn = lay_out(design, frozenset(addresses(design)) if opened_groups else frozenset())
    left, top = drawn.rect[:, 0], drawn.rect[:, 1]
    right, bottom = left + drawn.rect[:, 2], top + drawn.rect[:, 3]
    for container in np.unique(drawn.parent).tolist():
        inside = np.flatnonzero(drawn.parent == container)
        a, b = np.triu_indices(len(inside), 1)
        one, other = inside[a], inside[b]
        apart = (right[one] <= left[other]) | (right[other] <= left[one])
        apart |= (bottom[one] <= top[other]) | (bottom[other] <= top[one])
        assert apart.all(), [(drawn.label[i], drawn.label[j]) for i, j in zip(one[~apart], other[~apart], strict=True)]
        if container >= 0:
            assert (left[inside] >= left[container]).all()
            assert (right[inside] <= right[container]).all()
            assert (top[inside] >= top[container]).all()
            assert (bottom[inside] <= bottom[container]).all()


@pytest.mark.parametrize("template", IDS)
def test_every_part_has_its_place_on_the_grid(template: str) -> None:
    for block in blocks(opened(template)):
        for thing in (*block.parts.values(), *block.groups.values()):
            assert thing.position is not None, thing.id
            assert thing.position.x % 8 == 0, thing.id
            assert thing.position.y % 8 == 0, thing.id


@pytest.mark.parametrize("name", sorted(ARTICLES))
def test_systems_of_the_founding_articles_are_named(name: str) -> None:
    design = opened(ARTICLES[name])
    assert name.lower() in f"{design.title} {design.description}".lower()


def test_the_vsphere_cluster_keeps_vmotion_away_from_storage() -> None:
    design = opened("vsphere-cluster-4")
    joined = {(w.a, w.b) for w in design.wirings.values()}
    assert ("hosts[*]/vmotion_nic0", "vmotion_switch") in joined
    assert ("hosts[*]/storage_nic0", "storage_switch") in joined
    assert not any("vmotion" in x.a + x.b and "storage" in x.a + x.b for x in design.links.values())
    net = elaborate(design)
    for vm in design.vms.values():
        assert vm.host is not None
        assert net.part(net.index_of(vm.host)).kind == "server"
        for device in vm.devices:
            assert device.part is not None
            assert net.part(net.index_of(device.part)).kind == "gpu"


def test_one_nfs_mount_binds_a_vsphere_host() -> None:
    answer = analyze(opened("vsphere-cluster-4"), ["storage-to-gpus"], curves=False).workloads[0]
    assert {bottleneck.what for bottleneck in answer.binding} == {"limit"}
    assert "NFS" in answer.binding[0].label


def test_a_big_cluster_stays_a_small_file() -> None:
    assert path_of("cluster-16384").stat().st_size < 2 * path_of("dgx-h100").stat().st_size
