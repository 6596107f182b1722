"""What networks connected in the same way share does not change any answer; groups send as each would alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.design.document import Design, Policy, WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.engine.routes.hops import legs_of
from designer.engine.routes.selection import resolve
from designer.engine.routes.structure import digest, structure_of
from designer.interchange.templates import open_design
from designer.memo import forget

SPEC = WorkloadSpec(id="w", kind="training", settings={"model": "llama-2-7b", "tensor": 2, "dataset": "c4-en"})


def changed(design: Design, link: str, rate: int) -> Design:
    links = {**design.links, link: design.links[link].model_copy(update={"bandwidth_per_direction": f"{rate} Gb/s"})}
    return design.model_copy(update={"links": links})


def numbers(result: WorkloadResult) -> dict[str, tuple[float, float, float]]:
    return {name: (m.low, m.value, m.high) for name, m in result.metrics.items()}


@pytest.mark.parametrize("template", ["hgx-h100-8", "dgx1-v100", "sm-4029gp-trt-pair"])
def test_an_edited_design_gives_what_it_gives_afresh(template: str) -> None:
    design = open_design(template)
    for link in list(design.links)[:: max(1, len(design.links) // 5)]:
        edited = changed(design, link, 40)
        run_workload(build_network(design), SPEC, curves=False)
        warm, loads = run_workload(build_network(edited), SPEC, curves=False)
        forget()
        again = edited.model_copy()
        cold, other = run_workload(build_network(again), SPEC, curves=False)
        assert numbers(warm) == numbers(cold)
        assert warm.binding == cold.binding
        assert loads is not None
        assert other is not None
        assert np.array_equal(loads.load, other.load)


def test_values_of_parts_keep_the_structure_and_policy_does_not() -> None:
    design = open_design("hgx-h100-8")
    renamed = design.model_copy(update={"title": "another"})
    turned = design.model_copy(update={"policy": Policy(relay_through_gpu=not design.policy.relay_through_gpu)})
    one = structure_of(build_network(design))
    assert structure_of(build_network(renamed)) is one
    assert structure_of(build_network(turned)) is not one


def test_a_seed_makes_another_structure_where_flows_are_hashed_alone() -> None:
    design = open_design("su-h100-32")

    def with_policy(ecmp: str, seed: int) -> Design:
        policy = Policy.model_validate({"ecmp": ecmp, "hash_seed": seed})
        return design.model_copy(update={"policy": policy})

    def structure(ecmp: str, seed: int) -> object:
        return structure_of(build_network(with_policy(ecmp, seed)))

    assert structure("split", 1) is structure("split", 2)
    assert structure("hash", 1) is not structure("hash", 2)
    spread = [run_workload(build_network(with_policy("split", k)), SPEC, curves=False)[0] for k in (1, 2)]
    assert numbers(spread[0]) == numbers(spread[1])


def test_digests_tell_where_one_array_ends() -> None:
    a, b = np.arange(3), np.arange(3, 5)
    assert digest(a, b) == digest(a.copy(), b.copy())
    assert digest(a, b) != digest(np.arange(4), np.arange(4, 5))


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 8, 16]))
def test_groups_together_send_what_each_sends_alone(seed: int, size: int) -> None:
    network = build_network(open_design("su-h100-32"))
    ranks = np.random.default_rng(seed).permutation(resolve(network, "gpus", "t"))
    groups = ranks[: len(ranks) // size * size].reshape(-1, size)
    together = legs_of(network, groups)
    alone = [legs_of(network, row[None]) for row in groups]
    for side in (0, 1):
        for column in ("source", "target", "share"):
            expected = np.concatenate([getattr(one[side], column) for one in alone])
            assert np.array_equal(getattr(together[side], column), expected)
