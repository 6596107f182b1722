"""What people come with, start to end: a config.json and a load, a slow store, a slow NIC, a dump of a machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import designer
from designer.cli.main import run
from designer.design.document import Design
from designer.design.edits.links import RemoveLinks
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.overrides import overridden
from tests.asked import answered
from tests.real import real_files

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_hidden_layers": 80,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


def served(design: Design, **settings: object) -> WorkloadResult:
    return answered(design, "serving", settings)


def test_how_many_gpus_for_a_model_from_its_config(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """20/s x 2,000 tokens x 141 GFLOP = 5.6 PFLOP/s of prompts: above 5.7 GPUs at the peak, so eight or more."""
    load = [f"model={config}", "rate=20 1/s", "prompt=2000", "output=256", "ttft_limit=1 s", "release=0.12.0"]
    options = [part for one in load for part in ("--with", one)]
    assert run(["size", "hgx-h100-8", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    best = found["best"]
    assert best["holds"]
    assert 8 <= best["accelerators"] <= 24
    assert best["ttft"] <= 1
    assert all(c["why"] for c in found["candidates"])
    # what binds is stated of prompts and of decoding, apart
    stated = " ".join(b["why"] for b in found["binding"])
    assert "prompts" in stated
    assert "decoding" in stated
    assert run(["size", "hgx-h100-8", *options]) == 0
    assert f"{best['accelerators']} accelerators" in capsys.readouterr().out


def test_slower_storage_starts_later() -> None:
    """Two servers' worth of one model: 18.2 GB x 4 devices read once; .5 GB/s in place of 25 GB/s takes minutes."""
    design = designer.open_design("serving-h100-8")
    settings = {**design.workloads["chat-70b"].settings, "readers": 64, "count": 200}
    slow = overridden(design, ["storage.client_read_bandwidth=0.5 GB/s"])
    fast_start, slow_start = (served(d, **settings) for d in (design, slow))
    gained = slow_start.metrics["cold_start_time"].value - fast_start.metrics["cold_start_time"].value
    assert gained == pytest.approx(18.2e9 * 8 / 0.5e9 - 18.2e9 * 8 / 21e9, rel=0.6)
    named = [b for b in (*slow_start.binding, *slow_start.next) if "cold start" in b.why]
    assert any("storage" in b.id or "store" in b.label.lower() for b in named)
    # and nothing else of serving changes
    assert slow_start.metrics["tpot"].value == fast_start.metrics["tpot"].value


def test_a_slow_nic_between_two_racks_is_named() -> None:
    design = designer.open_design("serving-split-2-racks")
    slow = overridden(design, ["answers/nic*.bandwidth_per_direction=1 Gb/s"])
    settings = {**design.workloads["split-70b"].settings, "count": 300, "storage": ""}
    good, bad = served(design, **settings), served(slow, **settings)
    assert "nic" not in " ".join(b.id for b in good.binding)
    assert "nic" in bad.binding[0].id + bad.binding[0].label
    assert bad.metrics["most_requests_per_second"].value < good.metrics["most_requests_per_second"].value


def test_stages_on_two_servers_join_their_heads_inside_them_and_one_replica_over_both_does_not() -> None:
    """Two racks of eight H100 each: as stages only values of one layer cross the NICs, else the sums of every layer.

    70B in 8 bit, 16 requests that decode: 80 layers x 2 all-reduces of 16 x 8,192 x 2 B = 262 KB. Inside a server one
    takes some 10 us, 1.6 ms a step; over a NIC of 10 Gb/s to a server of eight each sends 262 KB x 1/8 and more.
    """
    design = designer.open_design("serving-split-2-racks")
    slow = overridden(design, ["answers/nic*.bandwidth_per_direction=10 Gb/s"])
    common = {"model": "llama-3-70b", "weights": "fp8", "group": "answers/gpu*", "rate": "1 1/s", "count": 200}
    stages = {**common, "tensor": 8, "pipeline": 2, "engine": "vllm", "release": "0.12.0"}
    whole = {**stages, "tensor": 16, "pipeline": 1}
    good, bad = served(design, **stages), served(slow, **stages)
    assert bad.metrics["tpot"].value < 1.15 * good.metrics["tpot"].value
    assert "nic" not in " ".join(b.id for b in good.binding)
    wide, narrow = served(design, **whole), served(slow, **whole)
    assert narrow.metrics["tpot"].value > 2 * wide.metrics["tpot"].value
    assert "nic" in " ".join(b.id + b.label for b in narrow.binding)


#: a matrix of links does not state the product: its reader does
MACHINES = {"h100x8": "h100-sxm5", "a100x8_oci": "a100-80-sxm4", "v100x8_hgx": "v100-sxm2-32"}
DUMPS = [(p, t) for p in real_files("nvidia_smi_topo/*.txt") for k, t in MACHINES.items() if p.stem.startswith(k)]


@pytest.mark.skipif(not DUMPS, reason="no dumps beside the checkout")
@pytest.mark.parametrize(("path", "product"), DUMPS, ids=lambda p: getattr(p, "stem", p))
def test_a_machine_from_its_dump_serves(
    path: Path, product: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "machine.design.json"
    assert run(["import", str(path), "-o", str(out)]) in (0, 1)
    load = ["model=llama-3-8b", "rate=10 1/s", "prompt=1000", "output=200", "weights=fp16", "ttft_limit=2 s"]
    options = [part for one in load for part in ("--with", one)]
    capsys.readouterr()
    assert run(["size", str(out), *options, "--json"]) == 2
    assert "gpu*.type=" in capsys.readouterr().err
    stated = f"gpu*.type=gpu/nvidia/{product}"
    assert run(["size", str(out), *options, "--set", stated, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 1 <= found["best"]["accelerators"] <= 8
    design = overridden(designer.open_design(str(out)), [stated])
    answer = served(design, model="llama-3-8b", weights="fp16", rate="10 1/s", tensor=2, count=300)
    assert answer.metrics["ttft"].value > 0
    assert answer.binding


def test_settings_of_a_load_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "hgx-h100-8", "--with", "rate"]) == 2
    assert "SETTING=VALUE" in capsys.readouterr().err
    assert run(["size", "hgx-h100-8", "--with", "pace=3"]) == 2
    assert "pace" in capsys.readouterr().err
    assert run(["size", "hgx-h100-8"]) == 2
    assert "--with" in capsys.readouterr().err


def test_the_largest_load_of_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    load = ["--with", "count=300"]
    assert run(["size", "serving-h100-8", "--for", "chat-70b", *load, "--largest", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["replicas"] == 2
    # two replicas answer some 12 requests a second at all
    assert 4 < found["requests_per_second"] < 14
    assert run(["size", "serving-h100-8", "--for", "chat-70b", *load, "--with", "ttft_limit=1 ms", "--largest"]) == 1
    assert "no load" in capsys.readouterr().out


def test_engines_that_wait_for_a_slow_nic_do_not_bind() -> None:
    """Keys and values of 2,000 tokens are 328 KB each: 82 MB to each of 8 NICs, 1 Gb/s of which .12 GB/s arrive.

    Two servers take 2 x 8 x .12 / (.655 GB) = 2.9 requests a second; a NIC twice as fast twice as many, for the rest
    could answer ten times as much.
    """
    design = designer.open_design("serving-split-2-racks")
    settings = {**design.workloads["split-70b"].settings, "count": 300, "storage": ""}
    rates = {}
    for speed in (1, 2, 400):
        found = served(overridden(design, [f"answers/nic*.bandwidth_per_direction={speed} Gb/s"]), **settings)
        rates[speed] = found.metrics["most_requests_per_second"].value
        if speed < 400:
            assert [b.what for b in found.binding] == ["channel"]
            assert "nic0" in found.binding[0].label
            assert found.binding[0].gain_together == 2.0
            assert any("arithmetic" in b.label for b in found.next)
        else:
            assert "arithmetic" in found.binding[0].label
    assert rates[1] == pytest.approx(2 * 8 * 0.12e9 / (327_680 * 2000), rel=0.02)
    assert rates[2] == pytest.approx(2 * rates[1], rel=0.02)
    assert rates[400] > 5 * rates[2]


def test_keys_and_values_without_a_way_to_an_engine_are_refused_in_words() -> None:
    """A GPU that answers and reaches its server by NVLink alone pulls nothing: it divided by no rate."""
    design = designer.open_design("serving-split-2-racks")
    cut = RemoveLinks(("psw5--gpu5",), within=(("answers", None),)).apply(design)
    with pytest.raises(AnalysisError, match=r"no way for keys and values from prompts.* to answers\[0\]/gpu5"):
        designer.analyze(cut, ["split-70b"])
