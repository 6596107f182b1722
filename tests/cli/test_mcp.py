"""Tools over MCP: the server as a process of its own, asked by the official client over stdio; decisions and hints."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from designer.cli.design_tools import ANSWER_LIMIT
from designer.interchange.templates import find_template
from tests.cli.calling import CHECKOUT, process
from tests.real import real_files

# Tools over MCP: the server as a process of its own, asked by the official client over stdio.

anyio = pytest.importorskip("anyio")


# loading it takes seconds, in every process that collects tests
if find_spec("mcp") is None:
    pytest.skip("the tools belong to the mcp extra", allow_module_level=True)


Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(scope="module")
def outer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the servers."""
    (made := tmp_path_factory.mktemp("outer")).joinpath("designs").mkdir()
    return made


@pytest.fixture
def folder(outer: Path) -> Path:
    """The folder of the servers, with one design in it and one next to it, and nothing else."""
    inside = outer / "designs"
    for file in inside.iterdir():
        file.unlink()
    (inside / "a.design.json").write_bytes((CHECKOUT / "templates" / "hgx-h100-8.design.json").read_bytes())
    (outer / "secret.design.json").write_bytes((inside / "a.design.json").read_bytes())
    return inside


class Talks:
    """Servers in one folder, one for each set of options, that answer all tests: each takes a second to start."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        from anyio.from_thread import start_blocking_portal

        self.folder, self._stack = folder, stack
        self._portal = stack.enter_context(start_blocking_portal())
        self._clients: dict[tuple[str, ...], Any] = {}

    def _client(self, options: tuple[str, ...]) -> Any:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client

        if options not in self._clients:
            server = StdioServerParameters(
                command=sys.executable,
                args=["-m", "designer", "mcp", str(self.folder), *options],
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
                cwd=str(CHECKOUT),
            )
            opened = self._portal.wrap_async_context_manager(Client(stdio_client(server)))
            self._clients[options] = self._stack.enter_context(opened)
        return self._clients[options]

    def __call__(self, body: Callable[[Call], Awaitable[None]], *options: str) -> None:
        """Run `body` against a server; what it is given calls a tool and answers its data or ``error``."""
        client = self._client(options)

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, arguments)
            text = "".join(getattr(c, "text", "") for c in answer.content)
            return {"error": text} if answer.is_error else json.loads(text)

        call.client = client  # type: ignore[attr-defined]

        async def timed() -> None:
            with anyio.fail_after(300):
                await body(call)

        self._portal.call(timed)


@pytest.fixture(scope="module")
def talk(outer: Path) -> Iterator[Talks]:
    with ExitStack() as stack:
        yield Talks(outer / "designs", stack)


def test_one_opens_analyzes_and_explains(folder: Path, talk: Talks) -> None:
    async def body(call: Call) -> None:
        tools = {t.name: t for t in (await call.client.list_tools()).tools}  # type: ignore[attr-defined]
        assert {"open_design", "edit", "analyze", "explain", "test", "report"} <= tools.keys()
        assert all(t.description for t in tools.values())
        listed = await call("list_designs")
        assert listed["designs"] == ["a.design.json"]
        assert any(t["id"] == "hgx-h100-8" for t in listed["templates"])
        stated = await call("open_design", design="a.design.json", ids=True)
        assert stated["parts"]["gpu"] == 8
        assert "gpu0" in stated["ids"]
        assert (await call("open_design", design="hgx-h100-8"))["parts"] == stated["parts"]
        name = stated["workloads"][0]
        found = await call("analyze", design="a.design.json", workload=name, channels=3, full=True)
        found = found["document"]
        assert [w["id"] for w in found["workloads"]] == [name]
        assert len(found["channels"]) == 3
        why = (await call("explain", design="a.design.json", workload=name, full=True))["document"]
        assert why["binding"]
        for metric in why["metrics"].values():
            assert metric["low"] <= metric["value"] <= metric["high"]
            assert all("key" in s for s in metric["sources"])
        assert "no metric" in (await call("explain", design="a.design.json", workload=name, metric="x"))["error"]
        assert "What it checks" in (await call("explain_code", code="MEM001"))["page"]

    talk(body)


def test_edits_are_tried_without_writing_and_illegal_links_get_their_reason(folder: Path, talk: Talks) -> None:
    file = folder / "a.design.json"
    before = file.read_bytes()

    async def body(call: Call) -> None:
        changes = {"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}}
        stated = await call("edit", design="a.design.json", changes=changes)
        assert any("gpu0" in line for line in stated["changes"])
        assert stated["written"] is None
        # every workload that changes, in at most 2 kB
        assert len(stated["effect"]["low_value_high"]) > 1
        assert len(json.dumps(stated["effect"]["low_value_high"])) <= 2_000
        refused = await call("edit", design="a.design.json", changes=changes, dry_run=False)
        assert "writing was not allowed" in refused["error"]
        link = {"add": {"links": [{"a": "gpu0", "b": "gpu1", "kind": "pcie"}]}}
        refused = await call("edit", design="a.design.json", changes=link)
        verdict = await call("can_connect", design="a.design.json", a="gpu0", b="gpu1", kind="pcie")
        assert not verdict["ok"]
        assert verdict["reason"] in refused["error"]
        server = next(
            i
            for i, what in (await call("open_design", design="a.design.json", ids=True))["ids"].items()
            if what["kind"] == "server"
        )
        stated = await call(
            "edit",
            design="a.design.json",
            changes={"add": {"parts": [{"id": "extra", "kind": "gpu", "parent": server}]}},
        )
        assert stated["written"] is None
        assert any("extra" in line for line in stated["changes"])
        inside = {"add": {"parts": [{"id": "extra", "kind": "gpu", "parent": "gpu0"}]}}
        assert "may not stand there" in (await call("edit", design="a.design.json", changes=inside))["error"]
        unknown = {"parts": {"gpu99": {"type": "gpu/nvidia/h200-sxm"}}}
        assert "no part 'gpu99'" in (await call("edit", design="a.design.json", changes=unknown))["error"]

    talk(body)
    assert file.read_bytes() == before
    assert sorted(p.name for p in folder.iterdir()) == ["a.design.json"]


def test_what_is_written_is_what_was_tried(folder: Path, talk: Talks) -> None:
    # a report of eight GPUs takes seconds
    shutil.copy(find_template("m40-server"), folder / "small.design.json")

    async def body(call: Call) -> None:
        given = {"design": "a.design.json", "set": ["policy.gpudirect=false"], "save_as": "b.design.json"}
        tried = await call("edit", **given)
        done = await call("edit", **given, dry_run=False)
        assert done == {**tried, "written": "b.design.json"}
        again = await call("edit", **{**given, "set": ["policy.gpudirect=true"]}, dry_run=False)
        assert "exists already" in again["error"]
        stated = await call("report", design="small.design.json", output="r.md")
        assert stated["chapters"]
        assert not (folder / "r.md").exists()
        stated = await call("report", designs=["small.design.json"], output="r.md", dry_run=False)
        assert stated["written"] == "r.md"
        template = await call("edit", design="dgx-a100", set=["policy.gpudirect=false"], dry_run=False)
        assert "template cannot be changed" in template["error"]

    talk(body, "--write")
    text = (folder / "r.md").read_text("utf-8")
    assert text.startswith("#")
    assert json.loads((folder / "b.design.json").read_text("utf-8"))["design"]["policy"]["gpudirect"] is False


def test_tests_run_and_tell_what_broke(folder: Path, talk: Talks) -> None:
    (folder / "a.checks.toml").write_text(
        '[[check]]\nname = "eight"\nexpect = "parts.gpu == 8"\n[[check]]\nname = "nine"\nexpect = "parts.gpu == 9"\n'
    )

    async def body(call: Call) -> None:
        stated = await call("test")
        states = {t["name"]: t["state"] for t in stated["tests"]}
        assert states == {"eight": "held", "nine": "broken"}
        assert stated["errors"] == []

    talk(body)


@pytest.mark.parametrize("write", [(), ("--write",)])
def test_nothing_outside_the_folder_is_reached(folder: Path, talk: Talks, write: tuple[str, ...]) -> None:
    outside = folder.parent / "secret.design.json"
    (folder / "link.design.json").symlink_to(outside)
    (folder / "up").symlink_to(folder.parent)
    # a test file whose design lies outside, and a workload that names a file outside
    (folder / "out.checks.toml").write_text(f'design = "{outside}"\n[[check]]\nexpect = "parts.gpu == 8"\n')
    (folder / "up.checks.toml").write_text('design = "../secret.design.json"\n[[check]]\nexpect = "parts.gpu == 8"\n')
    before = outside.read_bytes()

    async def body(call: Call) -> None:
        ways = [
            str(outside),
            "../secret.design.json",
            "link.design.json",
            "up/secret.design.json",
            "a/../../secret.design.json",
        ]
        for name in ways:
            for tool in ("open_design", "analyze", "edit"):
                answer = await call(tool, design=name)
                assert "outside" in answer["error"], (tool, name, answer)
                assert "gpu" not in answer["error"]
            given = {"design": "a.design.json", "set": ["policy.gpudirect=false"], "dry_run": False}
            answer = await call("edit", **given, save_as=name)
            assert ("outside" if write else "not allowed") in answer["error"]
            if not name.startswith("link"):
                answer = await call("report", designs=["a.design.json"], output=f"{name}.md", dry_run=False)
                assert ("outside" if write else "not allowed") in answer["error"]
        assert "outside" in (await call("report", design="a.design.json", prices="../p.csv"))["error"]
        stated = await call("test")
        assert not any(t["state"] == "held" for t in stated["tests"])
        assert len(stated["errors"]) >= 2
        config = {"id": "t", "kind": "training", "settings": {"model": "../secret.json"}}
        assert "outside" in (await call("edit", design="a.design.json", workloads=[config]))["error"]
        assert "link.design.json" not in (await call("list_designs"))["designs"]

    talk(body, *write)
    assert outside.read_bytes() == before
    assert sorted(p.name for p in folder.parent.iterdir()) == ["designs", "secret.design.json"]


def test_calls_one_after_the_other_do_not_pile_up(folder: Path) -> None:
    """Each call reads its design from the file, and what was known of it goes with the call."""
    import gc

    from designer.cli.confined import Folder
    from designer.cli.design_tools import DesignTools
    from designer.cli.mcp_server import _with_short_errors
    from designer.design.document import Design

    tools = DesignTools(Folder(folder))
    analyze, edit = _with_short_errors(tools.analyze, tools.folder), _with_short_errors(tools.edit, tools.folder)

    def call(k: int) -> int:
        analyze("a.design.json")
        edit("a.design.json", set=[f"workloads.h2d.size={k + 1} GB"])
        gc.collect()
        return sum(isinstance(one, Design) for one in gc.get_objects())

    after = [call(k) for k in range(6)]
    assert max(after[2:]) <= after[1]


def test_half_characters_are_answered_and_ctrl_c_ends_it(folder: Path) -> None:
    """A client in another language sends `"\\ud800"`; each request gets an answer, and Ctrl-C ends the server."""
    import signal
    import subprocess

    def request(number: object, method: str, **params: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    server = [sys.executable, "-m", "designer", "mcp", str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(server, cwd=CHECKOUT, **pipes) as running:  # type: ignore[call-overload]
        last = threading.Timer(120, running.kill)
        last.start()
        client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        running.stdin.write(request(1, "initialize", **client))
        running.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["id"] == 1
        running.stdin.write(request(2, "tools/call", name="open_design", arguments={"design": "\ud800"}))
        running.stdin.write(request("\udfff", "tools/list"))
        running.stdin.flush()
        found = {answer["id"]: answer["result"] for answer in (json.loads(running.stdout.readline()) for _ in range(2))}
        assert found[2]["isError"]
        assert "there is no file" in found[2]["content"][0]["text"]
        assert found["\ufffd"]["tools"]
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 2
        last.cancel()
        assert running.stderr.read().decode().splitlines() == ["designer: stopped"]


GUARDED = """
import sys
from designer.cli.confined import Folder
folder = Folder(sys.argv[1])
folder.guard()
import json, subprocess, socket, os, pathlib
assert pathlib.Path(sys.argv[1], "a.design.json").read_bytes()
pathlib.Path(sys.argv[1], "new").write_text("x")
def refused(call):
    try:
        call()
    except PermissionError:
        return
    sys.exit(f"not refused: {call}")
out = pathlib.Path(sys.argv[1]).parent
refused(lambda: (out / "secret.design.json").read_bytes())
refused(lambda: (out / "new").write_text("x"))
refused(lambda: open("/etc/passwd"))
refused(lambda: os.open(out / "secret.design.json", os.O_RDONLY))
refused(lambda: os.rename(out / "designs" / "new", out / "moved"))
refused(lambda: os.remove(out / "secret.design.json"))
refused(lambda: os.mkdir(out / "made"))
refused(lambda: subprocess.run(["true"]))
refused(lambda: socket.create_connection(("127.0.0.1", 9)))
"""


def test_behind_the_names_stands_a_guard(folder: Path) -> None:
    import subprocess

    done = subprocess.run([sys.executable, "-c", GUARDED, str(folder)], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder.parent / "secret.design.json").exists()


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "no such folder" in process("mcp", tmp_path / "gone").message


def test_wrong_arguments_are_refused_in_one_sentence(talk: Talks) -> None:
    async def body(call: Call) -> None:
        for tool, arguments, said in (
            ("report", {}, "report needs a design"),
            ("report", {"file": "a.design.json"}, "report has no argument 'file' — it takes design, designs"),
            ("report", {"desing": "a.design.json"}, "report has no argument 'desing' — did you mean design"),
            ("open_design", {}, "open_design needs 'design' — it takes design, ids"),
            (
                "analyze",
                {"design": "a.design.json", "channels": "many"},
                "channels: input should be a valid integer",
            ),
            ("analyse", {"design": "a.design.json"}, "there is no tool 'analyse' — did you mean analyze?"),
        ):
            error = (await call(tool, **arguments))["error"]
            assert said in error
            assert "\n" not in error
            assert "pydantic" not in error

    talk(body)


# Decisions over MCP: a recorded dialogue, answers of at most 2 kB, hints, prompts and documents by address.

pytest.importorskip("mcp")


#: two hosts of one machine type, as NCCL wrote them: on the first the NIC came up with 8 of its 16 lanes
_SLOW = real_files("nccl_xml/nccl230_a100pcie_hostA.xml")


_SOUND = real_files("nccl_xml/nccl230_a100pcie_hostB.xml")


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    folder = tmp_path_factory.mktemp("talk") / "designs"
    folder.mkdir()
    for name in ("hgx-h100-8", "m40-server", "su-h100-32", "serving-h100-8"):
        shutil.copy(find_template(name), folder / f"{name}.design.json")
    with ExitStack() as stack:
        yield Talks(folder, stack)


@pytest.mark.skipif(not (_SLOW and _SOUND), reason="the real dumps are not here")
def test_the_recorded_dialogue(decided: Talks) -> None:
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

    decided(body, "--write")
    assert "25.8 GB/s" in (decided.folder / "report.md").read_text()


def test_answers_have_at_most_2_kb_and_the_rest_is_a_call_away(decided: Talks) -> None:
    async def body(call: Call) -> None:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("analyze", {"design": "m40-server.design.json"}),
            ("analyze", {"design": "serving-h100-8.design.json", "workload": "chat-70b"}),
            ("explain", {"design": "serving-h100-8.design.json", "workload": "chat-70b"}),
            ("suggest", {"design": "m40-server.design.json"}),
            ("survive", {"design": "hgx-h100-8.design.json", "workload": "h2d"}),
            ("simulate", {"design": "hgx-h100-8.design.json", "workloads": ["all-reduce"]}),
            ("compare", {"a": "hgx-h100-8.design.json", "b": "m40-server.design.json"}),
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

    decided(body)


def test_a_served_load_is_sized(decided: Talks) -> None:
    async def body(call: Call) -> None:
        opened = await call("open_design", design="serving-h100-8.design.json")
        served = next(w for w, kind in opened["workload_kinds"].items() if kind == "serving")
        assert "answer" in await call("size", design="serving-h100-8.design.json", workload=served)
        refused = await call("size", design="hgx-h100-8.design.json", workload="all-reduce")
        assert "serves nothing" in refused["error"]

    decided(body)


def test_pasted_results_are_judged(decided: Talks) -> None:
    """A GPU whose triad reads 1.2 of 3.35 TB/s fails."""

    async def body(call: Call) -> None:
        text = "# cuda-stream --device 3\nTriad       1200000     0.1 0.1 0.1\n"
        stated = await call("accept", design="hgx-h100-8.design.json", results=text, full=True)
        assert [r["passed"] for r in stated["document"]["results"]] == [False]
        assert "gpu3" in stated["document"]["results"][0]["test"]

    decided(body)


def test_tools_say_whether_they_write(decided: Talks) -> None:
    async def body(call: Call) -> None:
        tools = {t.name: t for t in (await call.client.list_tools()).tools}  # type: ignore[attr-defined]
        writing = {name for name, t in tools.items() if t.annotations and not t.annotations.read_only_hint}
        assert writing == {"edit", "report", "import_machine", "suggest"}
        table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\nGPU1\tNV12\t X \t0-31\n"
        refused = await call("import_machine", text=table, save_as="x.design.json", dry_run=False)
        assert "writing was not allowed" in refused["error"]
        assert "error" in await call("import_machine", text="nothing that is known")

    decided(body)


def test_questions_and_documents(decided: Talks) -> None:
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

    decided(body)
