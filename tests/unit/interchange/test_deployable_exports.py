"""Drafts one deploys: launch lines for the layouts of workloads, device types and cables for NetBox."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from designer.design.document import Design, Part, WorkloadSpec
from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.interchange.exporting import write_design
from designer.interchange.importing import read_any, read_bytes
from designer.interchange.network_view import network_view
from designer.interchange.templates import open_design
from designer.sources import Status

HOSTILE = '$(touch x)`id`\n";rm -rf /;\u202e<b>=cmd()'


def lines(design: Design, tmp_path: Path) -> str:
    path = tmp_path / "x.sh"
    write_design(design, "launch", path)
    assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0
    return path.read_text("utf-8")


def test_training_starts_with_the_widths_of_the_analysis(tmp_path: Path) -> None:
    """256 GPUs as tensor 8, pipeline 4, data 8: 32 hosts of 8 ranks each."""
    text = lines(open_design("su-h100-32"), tmp_path)
    for wanted in (
        "--nnodes=32 --nproc-per-node=8",
        "--tensor-model-parallel-size 8",
        "--pipeline-model-parallel-size 4",
        "--sequence-parallel",
        "--use-distributed-optimizer",
        "data 8",
    ):
        assert wanted in text, wanted


def test_serving_has_a_line_for_its_replicas(tmp_path: Path) -> None:
    """Llama 3 70B on four H100 each: two replicas in a server of eight, with the GPUs they take."""
    text = lines(open_design("serving-h100-8"), tmp_path)
    block = text.split("(chat-70b)")[1].split("\n\n")[0]
    assert "--tensor-parallel-size 4" in block
    assert "# replica 1: gpu4, gpu5, gpu6, gpu7" in block


@pytest.mark.parametrize(("weights", "count"), [("fp8", 1), ("bf16", 0), ("auto", 0)])
def test_a_format_is_asked_of_the_engine_where_the_checkpoint_has_another(
    tmp_path: Path, weights: str, count: int
) -> None:
    """vLLM refuses a --quantization that is not the method of the checkpoint, and finds that by itself."""
    model = '{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, '
    model += '"intermediate_size": 14336, "vocab_size": 128256, "quantization_config": {"quant_method": "fbgemm_fp8"}}'
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    spec = spec.model_copy(update={"settings": {**spec.settings, "model": model, "weights": weights}})
    text = lines(design.model_copy(update={"workloads": {"chat-70b": spec}}), tmp_path)
    assert text.count("vllm serve") == 1
    assert text.count("--quantization fp8") == count


def test_step_tokens_and_slots_are_those_of_one_group_of_attention(tmp_path: Path) -> None:
    """Eight groups of 4,096 tokens and 128 requests each: vLLM takes those of one, SGLang of all, which it divides."""
    design = open_design("serving-h100-8")
    given = {"model": "gpt-oss-120b", "weights": "mxfp4", "tensor": 1, "data": 8, "expert": 8, "redundant_experts": 8}
    given |= {"budget": 4096, "slots": 128, "overlap": True}

    def line(engine: str) -> str:
        spec = WorkloadSpec(id="chat-70b", kind="serving", settings={**given, "engine": engine})
        return lines(design.model_copy(update={"workloads": {"chat-70b": spec}}), tmp_path)

    vllm, sglang = line("vllm"), line("sglang")
    assert "--max-num-batched-tokens 4096 --max-num-seqs 128" in vllm.replace(" \\\n ", "")
    assert "--enable-dbo" in vllm
    assert "num-redundant-experts 8" in vllm
    assert "--chunked-prefill-size 32768 --max-running-requests 1024" in sglang.replace(" \\\n ", "")
    assert "--moe-a2a-backend deepep" in sglang


def test_prompts_that_are_read_elsewhere_have_their_own_line(tmp_path: Path) -> None:
    text = lines(open_design("serving-split-2-racks"), tmp_path)
    block = text.split("(split-70b)")[1].split("\n\n")[0]
    assert block.count("vllm serve") == 2
    assert "answers[0]" in block
    assert "prompts[0]" in block


def test_nothing_of_the_design_is_run(tmp_path: Path) -> None:
    """Titles may hold anything: what a shell takes as commands is the lines alone."""
    design = open_design("serving-h100-8")
    specs = {k: w.model_copy(update={"title": HOSTILE}) for k, w in design.workloads.items()}
    text = lines(design.model_copy(update={"workloads": specs, "title": HOSTILE}), tmp_path)
    commands = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    assert {shlex.split(c)[0] for c in commands} == {"vllm"}
    assert "\u202e" not in text


def test_without_models_there_is_nothing_to_launch(tmp_path: Path) -> None:
    design = Design(name="x", parts={"g": Part(id="g", kind="gpu")})
    with pytest.raises(ExchangeError, match="no workload"):
        write_design(design, "launch", tmp_path / "x.sh")
    odd = WorkloadSpec(id="t", kind="training", settings={"model": "nobody/knows"})
    with pytest.raises(ExchangeError, match="nobody"):
        write_design(design.model_copy(update={"workloads": {"t": odd}}), "launch", tmp_path / "x.sh")


def types(design: Design, tmp_path: Path) -> list[dict[str, object]]:
    write_design(design, "netbox-type", tmp_path / "x.netbox.yaml")
    return list(yaml.safe_load_all((tmp_path / "x.netbox.yaml").read_text("utf-8")))


def test_device_types_have_the_ports_of_the_catalog(tmp_path: Path) -> None:
    """A QM9700 has 64 NDR ports; a DGX H100 of this unit is cabled with 8 for computing and 2 for storage."""
    switch, server, _ = types(open_design("su-h100-32"), tmp_path)
    assert (switch["manufacturer"], switch["u_height"]) == ("NVIDIA", 1)
    ports = switch["interfaces"]
    assert isinstance(ports, list)
    assert [p["type"] for p in ports] == ["infiniband-ndr"] * 64
    assert len({p["name"] for p in ports}) == 64
    assert isinstance(server["interfaces"], list)
    assert len(server["interfaces"]) == 10
    assert server["u_height"] == 8


@pytest.mark.parametrize("template", ["su-h100-32", "vsphere-cluster-4", "serving-split-2-racks", "serving-h100-8"])
def test_every_cable_ends_at_an_interface_of_a_device_type(template: str, tmp_path: Path) -> None:
    """NetBox refuses a cable to an interface that the device has not: nic0 where its type listed port1."""
    design = open_design(template)
    known = {str(i["name"]) for one in types(design, tmp_path) for i in one.get("interfaces", [])}  # type: ignore[attr-defined]
    write_design(design, "netbox-cables", tmp_path / "x.csv")
    rows = csv.DictReader((tmp_path / "x.csv").read_text("utf-8").splitlines())
    assert {row[f"side_{s}_name"] for row in rows for s in "ab"} <= known


def test_no_power_supply_is_invented(tmp_path: Path) -> None:
    """A DGX H100 draws 10.2 kW, more than one C20 inlet can carry: without a count of supplies there is no port."""
    _, server, _ = types(open_design("su-h100-32"), tmp_path)
    assert "power-ports" not in server
    assert "10200 W" in str(server["comments"])


def test_counted_power_supplies_share_the_draw(tmp_path: Path) -> None:
    """1000 W on three supplies: 334 W each, rounded up."""
    watts = Quantity(value="1 kW", source="x", status=Status.PRIMARY)
    part = Part(id="s", kind="switch", attributes={"power-ports": "3"}, overrides={"power_max": watts})
    (document,) = types(Design(name="x", parts={"s": part}), tmp_path)
    assert document["power-ports"] == [{"name": f"PSU{n}", "maximum_draw": 334} for n in (1, 2, 3)]


def test_a_device_type_is_read_back(tmp_path: Path) -> None:
    first = types(open_design("su-h100-32"), tmp_path)[0]
    design = read_bytes(yaml.safe_dump(first, sort_keys=False).encode()).design
    (switch,) = [p for p in design.parts.values() if p.kind == "switch"]
    assert design.quantity(switch, "ports").value == 64  # type: ignore[union-attr]


#: what the schema of the public library asks of a device type
_REQUIRED = {"manufacturer", "model", "slug", "u_height", "is_full_depth"}


@pytest.mark.parametrize("template", ["su-h100-32", "cluster-16384", "vsphere-cluster-4", "gb200-nvl72"])
def test_device_types_meet_the_schema(template: str, tmp_path: Path) -> None:
    for document in types(open_design(template), tmp_path):
        assert document.keys() >= _REQUIRED
        assert re.fullmatch(r"[-a-z0-9_]+", str(document["slug"]))
        assert isinstance(document["u_height"], int)


def test_cables_are_read_back_one_by_one(tmp_path: Path) -> None:
    design = open_design("su-h100-32")
    write_design(design, "netbox-cables", tmp_path / "x.csv")
    back = read_any(tmp_path / "x.csv").design
    assert sum(link.count for link in back.links.values()) == len(network_view(design).singles())
    assert sum(p.label.startswith("servers") for p in back.parts.values() if p.kind == "server") == 32
