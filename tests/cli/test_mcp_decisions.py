"""Decisions over MCP: a recorded dialogue, answers of at most 2 kB, hints, prompts and documents by address."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from designer.cli.design_tools import ANSWER_LIMIT
from designer.interchange.templates import find_template
from tests.cli.test_mcp import Call, Talks
from tests.real import real_files

#: two hosts of one machine type, as NCCL wrote them: on the first the NIC came up with 8 of its 16 lanes
_SLOW = real_files("nccl_xml/nccl230_a100pcie_hostA.xml")
_SOUND = real_files("nccl_xml/nccl230_a100pcie_hostB.xml")


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    folder = tmp_path_factory.mktemp("talk") / "designs"
    folder.mkdir()
    for name in ("hgx-h100-8", "su-h100-32", "serving-h100-8"):
        shutil.copy(find_template(name), folder / f"{name}.design.json")
    with ExitStack() as stack:
        yield Talks(folder, stack)


@pytest.mark.skipif(not (_SLOW and _SOUND), reason="the real dumps are not here")
def test_the_recorded_dialogue(talk: Talks) -> None:
    """Paste this machine, find the bottleneck, fix it, write the report.

    Gen4 has 16 GT/s a lane: 128/130 of 16 Gb/s on 8 lanes are 15.75 GB/s, of which 82% are payload, 12.9 GB/s. The two
    ports of the NIC carry 50 GB/s, so 16 lanes give twice that, which is the rate of the other host.
    """
    stated = json.loads((Path(__file__).parent / "dialogue.json").read_text())
    dumps = {"@slow": _SLOW[0].read_text(), "@sound": _SOUND[0].read_text()}

    async def body(call: Call) -> None:
        for step in stated["steps"]:
            given = {k: dumps.get(v, v) if isinstance(v, str) else v for k, v in step["arguments"].items()}
            answer = await call(step["tool"], **given)
            assert "error" not in answer, f"{step['tool']}: {answer}"
            assert answer.get("written") == step.get("written"), step["tool"]
            page = answer.get("answer", "")
            assert len(page.encode()) <= ANSWER_LIMIT, step["tool"]
            for words in step.get("says", ()):
                assert words in page, f"{step['tool']}: {page}"
        rates, limits = [], []
        for name in ("asked", "repaired"):
            found = await call("analyze", design=f"{name}.design.json", workload="send", full=True)
            (answered,) = found["document"]["workloads"]
            rates.append(answered["metrics"]["rate"]["value"])
            limits.append(answered["binding"][0]["id"])
        assert rates == pytest.approx([12.918e9, 25.836e9], rel=1e-3)
        assert limits[0].startswith("numa0--nic0:"), "what explain names is the link that suggest widens"

    talk(body, "--write")
    assert "25.8 GB/s" in (talk.folder / "report.md").read_text()


def test_answers_have_at_most_2_kb_and_the_rest_is_a_call_away(talk: Talks) -> None:
    async def body(call: Call) -> None:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("analyze", {"design": "hgx-h100-8.design.json"}),
            ("analyze", {"design": "serving-h100-8.design.json", "workload": "chat-70b"}),
            ("explain", {"design": "serving-h100-8.design.json", "workload": "chat-70b"}),
            ("suggest", {"design": "hgx-h100-8.design.json"}),
            ("survive", {"design": "hgx-h100-8.design.json"}),
            ("simulate", {"design": "hgx-h100-8.design.json", "workloads": ["all-reduce"]}),
            ("compare", {"a": "hgx-h100-8.design.json", "b": "serving-h100-8.design.json"}),
            ("accept", {"design": "hgx-h100-8.design.json"}),
            ("cabling", {"design": "su-h100-32.design.json"}),
        ]
        for tool, arguments in asked:
            short = await call(tool, **arguments)
            assert "error" not in short, f"{tool}: {short}"
            assert len(short["answer"].encode()) <= ANSWER_LIMIT, tool
            whole = await call(tool, **arguments, full=True)
            assert whole["document"], tool
            assert short["cut"] == (len(whole["answer"].encode()) > ANSWER_LIMIT), tool
            assert short["cut"] == ("full = true" in short["answer"]), tool

    talk(body)


def test_a_served_load_is_sized(talk: Talks) -> None:
    async def body(call: Call) -> None:
        opened = await call("open_design", design="serving-h100-8.design.json")
        served = next(w for w, kind in opened["workload_kinds"].items() if kind == "serving")
        assert "answer" in await call("size", design="serving-h100-8.design.json", workload=served)
        refused = await call("size", design="hgx-h100-8.design.json", workload="all-reduce")
        assert "serves nothing" in refused["error"]

    talk(body)


def test_pasted_results_are_judged(talk: Talks) -> None:
    """A GPU whose triad reads 1.2 of 3.35 TB/s fails."""

    async def body(call: Call) -> None:
        text = "# cuda-stream --device 3\nTriad       1200000     0.1 0.1 0.1\n"
        stated = await call("accept", design="hgx-h100-8.design.json", results=text, full=True)
        assert [r["passed"] for r in stated["document"]["results"]] == [False]
        assert "gpu3" in stated["document"]["results"][0]["test"]

    talk(body)


def test_tools_say_whether_they_write(talk: Talks) -> None:
    async def body(call: Call) -> None:
        tools = {t.name: t for t in (await call.client.list_tools()).tools}  # type: ignore[attr-defined]
        writing = {name for name, t in tools.items() if t.annotations and not t.annotations.read_only_hint}
        assert writing == {"edit", "report", "import_machine", "suggest"}
        table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\nGPU1\tNV12\t X \t0-31\n"
        refused = await call("import_machine", text=table, save_as="x.design.json", dry_run=False)
        assert "writing was not allowed" in refused["error"]
        assert "error" in await call("import_machine", text="nothing that is known")

    talk(body)


def test_questions_and_documents(talk: Talks) -> None:
    async def body(call: Call) -> None:
        client = call.client  # type: ignore[attr-defined]
        prompts = (await client.list_prompts()).prompts
        assert len(prompts) == 5
        asked = await client.get_prompt("bottleneck", {"design": "hgx-h100-8.design.json"})
        assert "hgx-h100-8.design.json" in asked.messages[0].content.text
        listed = await client.read_resource("designer://designs")
        assert "hgx-h100-8.design.json" in listed.contents[0].text
        part = await client.read_resource("designer://part/gpu/nvidia/h100-sxm5")
        assert "H100" in part.contents[0].text
        design = await client.read_resource("designer://design/hgx-h100-8.design.json")
        assert json.loads(design.contents[0].text)["parts"]["gpu"] == 8

    talk(body)
