"""Accelerators of other makes: published sums by hand, collectives on tori, training and serving in wide bands."""

from __future__ import annotations

import itertools

import pytest

import designer
from designer.catalog.parttype import value_of
from designer.design.document import Design
from designer.engine.results import WorkloadResult

TORI = [("gpu/google/tpu-v5e", "ici"), ("gpu/google/tpu-v6e", "ici"), ("gpu/amazon/trainium2", "neuronlink")]
ALONE = ("gpu/intel/gaudi2", "gpu/intel/gaudi3", "gpu/apple/m2-ultra", "gpu/apple/m3-ultra", "gpu/google/tpu-v5p")


def stated(part: str, name: str) -> float:
    found = designer.load_catalog().get(part)
    value = value_of("gpu", name, found.values[name])
    assert value is not None
    return value


def host(part: str, count: int = 1) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    parts: list[dict[str, object]] = [
        {"id": "server", "kind": "server"},
        {"id": "cpu0", "kind": "cpu", "type": "cpu/intel/xeon-spr", "parent": "server"},
        {"id": "memory0", "kind": "memory", "parent": "server"},
    ]
    links: list[dict[str, object]] = [{"a": "cpu0", "b": "memory0", "kind": "memory_bus"}]
    for k in range(count):
        parts.append({"id": f"chip{k}", "kind": "gpu", "type": part, "parent": "server"})
        links.append({"a": "cpu0", "b": f"chip{k}", "kind": "pcie", "generation": 4, "lanes": 4})
    return parts, links


def torus(part: str, kind: str, side: int = 4) -> Design:
    """Chips of one host as a square torus, each link at the rate the part states."""
    parts, links = host(part, side * side)
    rate = stated(part, "link_bandwidth_per_direction")
    for y, x in itertools.product(range(side), repeat=2):
        for other in (y * side + (x + 1) % side, (y + 1) % side * side + x):
            ends = {"a": f"chip{y * side + x}", "b": f"chip{other}"}
            links.append({**ends, "kind": kind, "bandwidth_per_direction": f"{rate:.0f} B/s"})
    return designer.edit(Design(name="torus"), {"add": {"parts": parts, "links": links}})


def asked(design: Design, kind: str, **settings: object) -> WorkloadResult:
    return designer.analyze(designer.with_workload(design, "w", kind, **settings), "w").workloads[0]


def test_pods_sum_up_as_published() -> None:
    """All-reduce bandwidth of a pod: 51.2 TB/s of v5e, 102.4 of v6e; its bisection 1.6 and 3.2 TB/s."""
    for part, whole, cut in (("gpu/google/tpu-v5e", 51.2e12, 1.6e12), ("gpu/google/tpu-v6e", 102.4e12, 3.2e12)):
        each = stated(part, "link_bandwidth_per_direction")
        assert stated(part, "accelerator_links") * each == stated(part, "accelerator_bandwidth_per_direction")
        assert 256 * stated(part, "accelerator_bandwidth_per_direction") == pytest.approx(whole)
        # a cut through a torus of 16 x 16 crosses two columns of 16 links
        assert 2 * 16 * each == pytest.approx(cut)
    assert 24 * stated("gpu/intel/gaudi3", "link_bandwidth_per_direction") == 600e9


@pytest.mark.parametrize(("part", "kind"), TORI)
def test_all_reduce_on_a_torus_uses_every_link_at_most_wholly(part: str, kind: str) -> None:
    found = asked(torus(part, kind), "collective", collective="all-reduce", group="gpus", size="1 GiB").metrics
    whole = stated(part, "accelerator_links") * stated(part, "link_bandwidth_per_direction")
    bus = found["bus_bandwidth"]
    assert 0.4 * whole < bus.low < bus.value < bus.high <= whole * 1.0001


@pytest.mark.parametrize(
    ("collective", "size", "published"), [("all-reduce", 256, 512.96), ("all-gather", 128, 509.19)]
)
def test_gaudi_3_exchanges_as_published(collective: str, size: int, published: float) -> None:
    """8 chips, each pair joined by three ports of 25 GB/s: 525 GB/s a chip. An all-reduce of 256 MiB sends 2 x 7 / 8 of
    it, 470 MB, which takes 895 us at least; published are 916 us, 512.96 GB/s."""
    parts, links = host("gpu/intel/gaudi3", 8)
    for a, b in itertools.combinations(range(8), 2):
        links.append({"a": f"chip{a}", "b": f"chip{b}", "kind": "gaudi_link", "count": 3})
    design = designer.edit(Design(name="gaudi"), {"add": {"parts": parts, "links": links}})
    bus = asked(design, "collective", collective=collective, size=f"{size} MiB").metrics["bus_bandwidth"]
    assert bus.value == pytest.approx(published * 1e9, rel=0.02)
    assert bus.low < published * 1e9 < bus.high <= 525e9 * 1.0001


def test_a_pod_reduces_over_its_links_and_not_over_its_hosts() -> None:
    """256 chips of v5e: 2 x 255 / 256 x 1 GiB over four links of 50 GB/s take 10.7 ms at least, over PCIe 400 ms."""
    found = asked(torus("gpu/google/tpu-v5e", "ici", 16), "collective", collective="all-reduce", size="1 GiB").metrics
    least = 2 * 255 / 256 * 2**30 / 200e9
    assert least <= found["communication_time"].low < found["communication_time"].value < 2 * least


def test_a_torus_that_lost_a_link_is_limited_by_the_chips_at_its_ends() -> None:
    """They have three links of four: three quarters of the rate."""
    whole = torus("gpu/google/tpu-v5e", "ici", 6)
    cut = designer.edit(whole, {"remove": ["chip0--chip1"]})
    rates = [
        asked(design, "collective", collective="all-reduce", size="1 GiB").metrics["bus_bandwidth"].value
        for design in (whole, cut)
    ]
    assert rates[1] == pytest.approx(0.75 * rates[0], rel=0.03)


@pytest.mark.parametrize(("part", "kind"), TORI)
def test_training_and_serving_run_in_wide_bands(part: str, kind: str) -> None:
    design = torus(part, kind)
    step = asked(design, "training", model="llama-2-7b", sequence=2048, sharding="parameters", software="unknown")
    time = step.metrics["step_time"]
    least = 6 * 6.5e9 * 16 * 2048 / (16 * stated(part, "flops_bf16"))
    assert least < time.low < time.value < time.high
    assert time.high / time.low > (1.3 if "tpu" in part else 1.5)
    served = asked(design, "serving", model="llama-3.1-8b", tensor=8, rate="1 1/s", count=200)
    assert "SERVE-DEVICE" in {f.code for f in served.findings}, "nobody measured its kernels"
    most = served.metrics["most_requests_per_second"]
    assert most.high / most.low > 1.5


@pytest.mark.parametrize("part", ALONE)
def test_a_token_takes_at_least_reading_the_weights(part: str) -> None:
    parts, links = host(part)
    design = designer.edit(Design(name="one"), {"add": {"parts": parts, "links": links}})
    found = asked(design, "serving", model="llama-3.1-8b", rate="0.02 1/s", count=100)
    # 8.03 billion parameters of 2 bytes, once for each token
    assert found.metrics["tpot"].low > 0.9 * 16.06e9 / stated(part, "memory_bandwidth")
    assert found.metrics["tpot"].value < 6 * 16.06e9 / stated(part, "memory_bandwidth")


@pytest.mark.parametrize(("part", "kind"), TORI)
def test_chips_pass_on_what_others_send(part: str, kind: str) -> None:
    """Four in a row: the ring goes along three links and back over the same in the other direction, so one link limits
    it. From a chip to the one diagonal to it two ways of two links lead, never one over the host."""
    design, each = torus(part, kind, 6), stated(part, "link_bandwidth_per_direction")
    row = asked(design, "collective", collective="all-reduce", group="chip0, chip1, chip2, chip3", size="1 GiB")
    assert 0.6 * each < row.metrics["bus_bandwidth"].value <= each
    assert {bottleneck.id for bottleneck in row.binding} >= {"chip0--chip1:ab", "chip2--chip3:ab"}
    over = asked(design, "transfer", **{"from": "chip0", "to": "chip7", "size": "10 GB"})
    assert each < over.metrics["rate"].value <= 2 * each
    assert {bottleneck.id.partition(":")[0] for bottleneck in over.binding} <= {
        "chip0--chip1",
        "chip0--chip6",
        "chip1--chip7",
        "chip6--chip7",
    }
