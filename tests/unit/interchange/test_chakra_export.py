"""Chakra traces and the system layer of ASTRA-sim, read back by protobuf from the published field numbers."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design, WorkloadSpec
from designer.errors import ExchangeError
from designer.interchange.exporting import write_design
from designer.interchange.templates import open_design

descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")

_TYPES = {"string": 9, "uint64": 4, "int64": 3, "uint32": 13, "bool": 8, "enum": 13, "message": 11}


@cache
def schema() -> dict[str, Any]:
    """The messages a trace is made of, as far as they are written."""
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="p", syntax="proto3")

    def message(name: str, *fields: tuple[str, int, str, bool]) -> None:
        made = file.message_type.add(name=name)
        for title, number, kind, many in fields:
            field = made.field.add(name=title, number=number, type=_TYPES.get(kind, 11), label=3 if many else 1)
            if kind not in _TYPES:
                field.type_name = f".p.{kind}"

    values = (
        ("int64_val", 9, "int64"),
        ("uint32_val", 13, "uint32"),
        ("bool_val", 27, "bool"),
        ("string_val", 29, "string"),
    )
    message("Attr", ("name", 1, "string", False), *((n, k, t, False) for n, k, t in values))
    message("Meta", ("version", 1, "string", False), ("attr", 2, "Attr", True))
    message(
        "Node",
        ("id", 1, "uint64", False),
        ("name", 2, "string", False),
        ("type", 3, "enum", False),
        ("data_deps", 5, "uint64", True),
        ("duration_micros", 7, "uint64", False),
        ("attr", 10, "Attr", True),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"p.{n}")) for n in ("Meta", "Node")}


def nodes(data: bytes) -> list[Any]:
    from google.protobuf.internal.decoder import _DecodeVarint32  # type: ignore[attr-defined]

    kinds, found, at = schema(), [], 0
    while at < len(data):
        size, at = _DecodeVarint32(data, at)
        made = kinds["Node" if found else "Meta"]()
        made.ParseFromString(data[at : at + size])
        # nothing that the schema does not name, in attributes either
        whole = made.SerializeToString(deterministic=True)
        made.DiscardUnknownFields()
        assert made.SerializeToString(deterministic=True) == whole
        found.append(made)
        at += size
    return found


def traces(
    design: Design, tmp_path: Path, ranks: Sequence[int] | None = None
) -> tuple[list[list[Any]], dict[str, list[int]]]:
    """The traces of all ranks, or of some; one without nodes for each of the others."""
    write_design(design, "chakra", tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        groups = json.loads(archive.read("comm_groups.json"))
        files = sorted((n for n in archive.namelist() if n.endswith(".et")), key=lambda n: int(n.split(".")[1]))
        return [nodes(archive.read(n)) if ranks is None or k in ranks else [] for k, n in enumerate(files)], groups


def attributes(node: Any) -> dict[str, Any]:
    return {a.name: a.string_val or a.int64_val or a.uint32_val or a.bool_val for a in node.attr}


def test_a_sharded_step_gathers_twice_and_scatters_once(tmp_path: Path) -> None:
    """Llama 2 7B has 6.738 G parameters of 2 B: 13.48 GB, gathered before the forward and the backward pass, and its
    gradients scattered once; all eight ranks are one group."""
    found, groups = traces(open_design("hgx-h100-8"), tmp_path)
    assert len(found) == 8
    assert groups == {"1": list(range(8))}
    for meta, compute, *collectives in found:
        assert meta.version == "0.0.4"
        assert (compute.type, compute.id) == (4, 1)
        # compute alone: between half a second and a tenth for 8 samples of 4,096 tokens
        assert 100_000 < compute.duration_micros < 1_000_000
        assert [attributes(n).get("comm_type", 0) for n in collectives] == [2, 2, 7]
        assert all(attributes(n)["comm_size"] == pytest.approx(6.738e9 * 2, rel=1e-3) for n in collectives)
        assert all(attributes(n)["pg_name"] == "1" for n in collectives)
        assert [list(n.data_deps) for n in collectives] == [[n.id - 1] for n in collectives]


def test_ranks_of_a_group_stand_together(tmp_path: Path) -> None:
    """Tensor 8, pipeline 4, data 8 on 256 ranks: 32 tensor groups of neighbours, 32 data groups eight apart."""
    # one rank of each tensor group, at another place in it each time: they are in all data groups as well
    ranks = [8 * k + k % 8 for k in range(32)]
    found, groups = traces(open_design("su-h100-32"), tmp_path, ranks)
    assert len(found) == 256
    sizes = sorted(len(members) for members in groups.values())
    assert sizes == [8] * 64
    assert list(range(8)) in groups.values()
    assert list(range(0, 64, 8)) in groups.values()
    named = {attributes(n)["pg_name"] for trace in found for n in trace[2:]}
    assert named == groups.keys()
    # bytes are kept where many collectives are stated as fewer: 7,680 gathers of 64 MiB in the tensor group
    total = sum(attributes(n)["comm_size"] for n in found[0][2:] if n.name == "tensor all-gather")
    assert total == 7_680 * 2**26


def test_without_training_there_is_no_trace(tmp_path: Path) -> None:
    design = open_design("hgx-h100-8")
    kept = {k: w for k, w in design.workloads.items() if k == "h2d"}
    with pytest.raises(ExchangeError, match="trains"):
        write_design(design.model_copy(update={"workloads": kept}), "chakra", tmp_path / "x.zip")
    odd = WorkloadSpec(id="t", kind="training", settings={"model": "nobody/knows"})
    with pytest.raises(ExchangeError):
        write_design(design.model_copy(update={"workloads": {"t": odd}}), "chakra", tmp_path / "x.zip")


def test_the_system_layer_has_an_algorithm_for_each_dimension(tmp_path: Path) -> None:
    """32 servers with NVSwitches: inside direct, between halving and doubling, for 32 is a power of two."""
    write_design(open_design("su-h100-32"), "astra-sim-system", tmp_path / "x.json")
    content = json.loads((tmp_path / "x.json").read_text())
    assert content["all-reduce-implementation"] == ["direct", "halvingDoubling"]
    with pytest.raises(ExchangeError, match="no GPUs"):
        write_design(Design(name="x"), "astra-sim-system", tmp_path / "y.json")
