"""A running machine next to its drawing: recordings, and a real Prometheus server fed by a small exporter."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from designer.analysis.study import run_workload
from designer.cli.main import run
from designer.decisions.watching import Counter, watch, watch_over
from designer.design.document import Design
from designer.engine.network import build_network
from designer.errors import AnalysisError, ExchangeError, FormatError
from designer.interchange.counters import Reading as R
from designer.interchange.counters import Recording, ask, ask_over, dumps, load, load_all
from designer.interchange.generating import generate
from designer.interchange.native.writer import save

#: all devices run at this share of what is predicted: pauses between steps
_SHARE = 0.8


@pytest.fixture(scope="module")
def pod() -> Design:
    return generate("rail-optimized", {"nodes": "4", "unit": "4"}, {"server": "dgx-h100", "switch": "qm9700"})


@pytest.fixture(scope="module")
def predicted(pod: Design) -> dict[tuple[str, str, str], float]:
    """Traffic of each NIC by counter, host and device, straight from the loads of its cable."""
    network = build_network(pod)
    loads = run_workload(network, pod.workloads["all-reduce"])[1]
    assert loads is not None
    net, found = network.net, dict[tuple[str, str, str], float]()
    for i in range(net.n_links):
        a = net.part(int(net.link_a[i]))
        if a.kind == "nic" and net.link(i).kind == "infiniband":
            host = net.path(int(net.link_a[i])).split("/")[0].replace("[", "-").replace("]", "")
            found["nic_transmit", host, a.attributes["vendor_name"]] = float(loads.load[2 * i])
            found["nic_receive", host, a.attributes["vendor_name"]] = float(loads.load[2 * i + 1])
    return found


def _measured(predicted: dict[tuple[str, str, str], float], slow: tuple[str, str] = ("", "")) -> list[Counter]:
    rows = [
        Counter(name, host, device, value * _SHARE * (0.5 if (host, device) == slow else 1.0))
        for (name, host, device), value in predicted.items()
    ]
    for host in range(4):
        rows += [Counter("gpu_power", f"servers-{host}", str(gpu), 610.0 + gpu) for gpu in range(8)]
    return rows


def test_a_sound_machine_is_as_its_drawing(pod: Design, predicted: dict[tuple[str, str, str], float]) -> None:
    """All at 80 % of the prediction: the common share is 80 %, every ratio to its equals is one."""
    found = watch(pod, "all-reduce", _measured(predicted))
    assert found.common["nic_transmit"] == pytest.approx(_SHARE)
    assert all(r.ratio == pytest.approx(1.0, abs=0.01) for r in found.rows)
    assert not found.odd
    assert len([r for r in found.rows if r.name == "nic_transmit"]) == 32


def test_a_slow_link_is_named(pod: Design, predicted: dict[tuple[str, str, str], float]) -> None:
    """One NIC sends and receives half of what its equals do: ratio 0.5, its cable and nothing else."""
    found = watch(pod, "all-reduce", _measured(predicted, ("servers-2", "mlx5_4")))
    assert {r.path for r in found.odd} == {"servers[2]/nic2"}
    assert all(r.ratio == pytest.approx(0.5) for r in found.odd)
    assert all(r.link.startswith("rails") for r in found.odd)


def test_a_throttled_gpu_is_far_from_its_equals(pod: Design, predicted: dict[tuple[str, str, str], float]) -> None:
    rows = [
        c if (c.host, c.device) != ("servers-1", "3") else Counter(c.name, c.host, c.device, 350.0)
        for c in _measured(predicted)
    ]
    odd = watch(pod, "all-reduce", rows).odd
    assert [r.path for r in odd] == ["servers[1]/gpu3"]
    assert odd[0].predicted is None


def test_other_names_of_hosts(pod: Design, predicted: dict[tuple[str, str, str], float]) -> None:
    rows = [Counter(c.name, f"host{c.host[-1]}", c.device, c.value) for c in _measured(predicted)]
    with pytest.raises(AnalysisError, match="no counter is of a host"):
        watch(pod, "all-reduce", rows)
    names = {f"host{k}": f"servers-{k}" for k in range(4)}
    assert len(watch(pod, "all-reduce", rows, names).rows) == len(rows)
    extra = watch(pod, "all-reduce", [*rows, Counter("gpu_power", "backup", "0", 50.0)], names)
    assert extra.unknown == ("backup 0",)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    recording = Recording(
        1_700_000_000.0, "5m", (R("nic_transmit", "a", "mlx5_0", 1.5e9), R("gpu_power", "a", "0", 610.0))
    )
    (tmp_path / "r.json").write_text(dumps(recording))
    assert load(tmp_path / "r.json") == recording


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": "other"}', '{"format": "designer-counters/1", "readings": [["x", "a", "b", 1]]}']
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(FormatError):
        load(tmp_path / "r.json")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://127.0.0.1:9", "prometheus:9090"])
def test_what_is_no_server_is_refused(url: str) -> None:
    with pytest.raises(ExchangeError):
        ask(url)


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def exporter_of(rows: list[Counter]) -> Iterator[int]:
    """Counters that grow at the measured rates, one page a host, as node_exporter and dcgm-exporter name them."""
    begin = time.monotonic()
    names = {
        "nic_transmit": "node_infiniband_port_data_transmitted_bytes_total",
        "nic_receive": "node_infiniband_port_data_received_bytes_total",
    }

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            passed, lines = time.monotonic() - begin, []
            for c in rows:
                if f"/{c.host}" == self.path:
                    if c.name in names:
                        lines.append(f'{names[c.name]}{{device="{c.device}",port="1"}} {c.value * passed:.0f}')
                    else:
                        lines.append(f'DCGM_FI_DEV_POWER_USAGE{{gpu="{c.device}",Hostname="{c.host}"}} {c.value}')
            data = ("\n".join(lines) + "\n").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def prometheus_of(folder: Path, exporter: int) -> Iterator[str]:
    """A server that scrapes the four hosts of the exporter every second."""
    jobs = "".join(
        f"  - job_name: h{k}\n    metrics_path: /servers-{k}\n    static_configs:\n"
        f"      - targets: ['127.0.0.1:{exporter}']\n        labels: {{instance: 'servers-{k}:9100'}}\n"
        for k in range(4)
    )
    (folder / "p.yml").write_text(f"global:\n  scrape_interval: 1s\nscrape_configs:\n{jobs}")
    port = _free()
    words = [f"--config.file={folder / 'p.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    with subprocess.Popen(
        ["prometheus", *words, f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def wait_for(url: str, readings: int) -> None:
    """Wait until every page was scraped, and then as long as the window: rates of fewer scrapes are extrapolated."""
    for _ in range(60):
        time.sleep(0.5)
        try:
            if len(ask(url, "5s").readings) == readings:
                break
        except ExchangeError:
            continue
    time.sleep(6)


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no Prometheus server (Debian: prometheus) is here")
def test_a_prometheus_server_is_asked(
    pod: Design,
    predicted: dict[tuple[str, str, str], float],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A server scrapes an exporter whose NIC mlx5_4 of servers-2 runs at half rate; the command names it, and its
    recording gives the same answer without the server."""
    save(pod, tmp_path / "pod.design.json")
    rows = _measured(predicted, ("servers-2", "mlx5_4"))
    record = tmp_path / "r.json"
    with exporter_of(rows) as exporter, prometheus_of(tmp_path, exporter) as url:
        wait_for(url, len(rows))
        words = ["watch", str(tmp_path / "pod.design.json"), "--prometheus", url, "--window", "5s"]
        assert run([*words, "--save", str(record), "--json"]) == 1
    stated = json.loads(capsys.readouterr().out)
    assert set(stated["odd"]) == {"servers[2]/nic2"}
    assert stated["common"]["nic_transmit"] == pytest.approx(_SHARE, rel=0.2)
    assert run(["watch", str(tmp_path / "pod.design.json"), "--record", str(record)]) == 1
    assert "servers[2]/nic2" in capsys.readouterr().out


def test_the_command_wants_one_source(pod: Design, tmp_path: Path) -> None:
    save(pod, tmp_path / "pod.design.json")
    assert run(["watch", str(tmp_path / "pod.design.json")]) == 2
    assert run(["watch", str(tmp_path / "pod.design.json"), "--record", "a", "--prometheus", "http://b"]) == 2


def _hour(predicted: dict[tuple[str, str, str], float], folder: Path) -> Path:
    """Three times of a recording: a link that is sound, at half, and sound again."""
    each = [_measured(predicted, slow) for slow in (("", ""), ("servers-2", "mlx5_4"), ("", ""))]
    instants = [
        Recording(1.7e9 + 60 * k, "1m", tuple(R(c.name, c.host, c.device, c.value) for c in rows))
        for k, rows in enumerate(each)
    ]
    path = folder / "hour.json"
    path.write_text(dumps(*reversed(instants)))
    return path


def test_a_recording_of_several_times_is_replayed_in_their_order(
    pod: Design, predicted: dict[tuple[str, str, str], float], tmp_path: Path
) -> None:
    path = _hour(predicted, tmp_path)
    instants = load_all(path)
    assert [one.time - 1.7e9 for one in instants] == [0, 60, 120]
    assert load(path).time == instants[-1].time
    assert load(path, at=1.7e9 + 70).time == 1.7e9 + 60
    found = watch_over(
        pod, "all-reduce", [[Counter(r.name, r.host, r.device, r.value) for r in o.readings] for o in instants]
    )
    assert [{row.path for row in one.odd} for one in found] == [set(), {"servers[2]/nic2"}, set()]


def test_the_command_says_when_a_link_was_odd(
    pod: Design, predicted: dict[tuple[str, str, str], float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(pod, tmp_path / "pod.design.json")
    asked = ["watch", str(tmp_path / "pod.design.json"), "--workload", "all-reduce"]
    asked += ["--record", str(_hour(predicted, tmp_path))]
    assert run(asked) == 0, "the last time is as it should be"
    out = capsys.readouterr().out
    assert "servers[2]/nic2, 50% of its equals" in out
    assert run([*asked, "--json"]) == 0
    over = json.loads(capsys.readouterr().out)["instants"]
    assert [one["odd"][:1] for one in over] == [[], ["servers[2]/nic2"], []]
    assert run([*asked, "--at", str(1.7e9 + 55)]) == 1, "what is odd at a time is an exit code of 1"


@pytest.mark.parametrize(("span", "step"), [(60.0, 0.0), (60.0, 120.0), (1e9, 1.0)])
def test_instants_that_are_none_or_too_many_are_refused(span: float, step: float) -> None:
    with pytest.raises(ExchangeError, match="in steps of"):
        ask_over("http://127.0.0.1:9", "1m", span, step)
