"""Restoring sharded jobs, samples that lie in host memory, and batches beyond the dataset, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec, with_changes
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.findings import Severity
from designer.interchange.templates import open_design

#: Llama 2 70B: 68.98 billion parameters of 14 bytes
STATE = 68.9766e9 * 14


def run(template: str, kind: str, **settings: Any) -> WorkloadResult:
    spec = WorkloadSpec(id="w", kind=kind, title="", settings=settings)
    return analyze(with_changes(open_design(template), workloads={"w": spec}), ["w"], curves=False).workloads[0]


def codes(result: WorkloadResult) -> set[str]:
    return {finding.code for finding in result.findings}


@pytest.mark.parametrize(
    ("sharding", "seconds"),
    [
        # every rank reads 1/256 of 965.7 GB, all together at 125 GB/s: 7.7 s
        ("parameters", STATE / 125e9),
        # 12 of 14 bytes once, the 2 of the weights 256 times: 827.7 + 35,317 GB at 125 GB/s
        ("optimizer", (12 / 14 + 256 * 2 / 14) * STATE / 125e9),
        # nothing split: 256 × 965.7 GB
        ("none", 256 * STATE / 125e9),
    ],
)
def test_a_restore_reads_each_shard_once_and_each_copy_as_often_as_it_is_kept(sharding: str, seconds: float) -> None:
    """256 H100 in 32 servers, a file system that gives 125 GB/s."""
    found = run("su-h100-32", "checkpointing", model="llama-2-70b", sharding=sharding, target="storage")
    assert found.metrics["restore_time"].value == pytest.approx(seconds, rel=0.001)


def test_a_restore_that_no_accelerator_can_hold_is_an_error() -> None:
    whole = run("su-h100-32", "checkpointing", model="llama-2-70b", sharding="none", target="storage")
    (finding,) = [f for f in whole.findings if f.code == "TRAIN-MEMORY"]
    assert finding.severity is Severity.ERROR
    split = run("su-h100-32", "checkpointing", model="llama-2-70b", sharding="parameters", target="storage")
    assert "TRAIN-MEMORY" not in codes(split)


def test_one_replica_that_reads_alone_reads_once() -> None:
    found = run(
        "su-h100-32", "checkpointing", model="llama-2-70b", sharding="none", restore_from_one=True, target="storage"
    )
    assert found.metrics["restore_time"].value == pytest.approx(STATE / 125e9, rel=0.001)


@pytest.mark.parametrize("settings", [{"cached": 1}, {"source": "memory"}, {"cached": 1, "source": "memory"}])
def test_samples_in_host_memory_are_copied_to_the_accelerators(settings: dict[str, Any]) -> None:
    """Nothing to decode on the processors: four PCIe switches, two A100 each, Gen4 uplinks of 31.5 GB/s.

    A copy gets 0.82 of that: 25.8 GB/s for two, 12.9 GB/s for each.
    """
    found = run("hgx-a100-8", "data_loading", decode="gpu", **settings)
    assert found.metrics["data_rate_per_gpu"].value == pytest.approx(31.508e9 * 0.82 / 2, rel=0.001)
    assert {b.label.split()[-1] for b in found.binding} == {"(pcie)"}


def test_half_of_the_samples_in_host_memory_take_half_as_much_from_storage() -> None:
    """With GPUDirect from the drives: what the cache serves comes over the host's own links."""
    none = run("hgx-a100-8", "data_loading", decode="gpu", gpudirect="on", source="drives", cached=0)
    half = run("hgx-a100-8", "data_loading", decode="gpu", gpudirect="on", source="drives", cached=0.5)
    slow, fast = (r.metrics["data_rate_per_gpu"].value for r in (none, half))
    assert slow < fast <= 2 * slow * 1.001


def test_without_memory_on_the_way_the_message_says_what_to_draw() -> None:
    design = open_design("hgx-a100-8")
    bare = with_changes(
        design,
        parts={name: part for name, part in design.parts.items() if part.kind != "memory"},
        links={
            name: link
            for name, link in design.links.items()
            if not any(end.startswith("memory") for end in (link.a, link.b))
        },
        workloads={
            "w": WorkloadSpec(
                id="w", kind="data_loading", title="", settings={"cached": 1, "decode": "gpu", "source": "drives"}
            )
        },
    )
    with pytest.raises(AnalysisError, match="host memory") as refused:
        analyze(bare, ["w"], curves=False)
    assert "draw the memory" in (refused.value.remedy or "")


def test_a_batch_larger_than_the_dataset_is_said() -> None:
    """CIFAR-10 has 50,000 pictures."""
    beyond = run("dgx-h100", "training", model="resnet-50", dataset="cifar-10", global_batch=50_008, epochs=90)
    (finding,) = [f for f in beyond.findings if f.code == "TRAIN-BATCH"]
    assert "50,008" in finding.text
    assert "50,000" in finding.text
    within = run("dgx-h100", "training", model="resnet-50", dataset="cifar-10", global_batch=50_000, epochs=90)
    assert "TRAIN-BATCH" not in codes(within)


@pytest.mark.parametrize(("batch", "warned"), [(67_456, False), (98_304, True)])
def test_a_batch_that_nobody_learnt_from_is_said(batch: int, warned: bool) -> None:
    """1,281,167 pictures in batches of 98,304 are 14 steps; the largest published batch is 67,456."""
    found = run("dgx-h100", "training", model="resnet-50", dataset="imagenet-1k", global_batch=batch, source="drives")
    stated = [f.text for f in found.findings if f.code == "TRAIN-BATCH"]
    assert bool(stated) is warned
    assert all("14 steps of 98,304" in text and "67,456" in text for text in stated)
