"""Machines that cannot move: the reason, how grave it is, what would help; and bad input with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.design.document import Design, VirtualMachine, VmDevice, replaced, with_changes
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.findings import Severity
from designer.interchange.native.writer import dumps
from tests.cli.calling import call
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, rows, value, with_vms

HOST = "hosts[0]/server"


def _device(**changes: object) -> VmDevice:
    return VmDevice.model_validate({"kind": "vgpu", "profile": "20C", **changes})


def _placed(vm: VirtualMachine, design: Design | None = None) -> Placement:
    return place_vms(build_network(with_vms(design or cluster(), vm, only=True)))


def _machine(*devices: VmDevice, **changes: object) -> VirtualMachine:
    base = {"id": "m", "host": HOST, "vcpus": 8, "memory": "64 GiB", "devices": devices, **changes}
    return VirtualMachine.model_validate(base)


def _roles(design: Design, host: int, role: str) -> Design:
    """The design with another role of the vMotion NIC of one host."""
    group = design.groups["hosts"]
    nic = next(p for p in group.content.parts.values() if p.id == "vmotion_nic0")
    other = with_changes(nic, attributes={"role": role})
    content = with_changes(group.content, parts=replaced(group.content.parts, [other]))
    return with_changes(design, groups=replaced(design.groups, [with_changes(group, exceptions={host: content})]))


class TestSeverity:
    def test_nowhere_to_go_is_a_warning_while_a_host_is_emptied_and_an_error_when_asked_by_name(self) -> None:
        emptied = ask(cluster(), "evacuation", hosts=HOST)
        named = ask(cluster(), "vmotion", vms="train0")
        found = [next(f for f in result.findings if f.code == "MIG-STAYS") for result in (emptied, named)]
        assert [f.severity for f in found] == [Severity.WARNING, Severity.ERROR]
        assert value(emptied, "machines_staying") == value(named, "machines_staying") == 1

    def test_a_stun_above_the_limit_is_an_error_and_9_0_is_reported_as_a_way(self) -> None:
        limited = with_changes(cluster().vms["infer0"], stun_limit="5 s")
        result = ask(with_vms(cluster(), limited), "evacuation", hosts=HOST)
        stays = next(f for f in result.findings if f.where == ("infer0",) and f.code == "MIG-STAYS")
        assert stays.severity is Severity.ERROR
        assert "release 9.0" in stays.remedy
        assert rows(result, "ways")["Inference 0"]["pause"] < 5.5

    def test_a_guest_that_never_converges_gets_finite_ways_out(self) -> None:
        big = with_changes(cluster().vms["web0"], working_set=None)
        result = ask(with_vms(cluster(), big), "kvm_migration", vms="web0", dirty_rate="8 GB/s")
        assert "migration_time" not in result.metrics
        stated = {row[1]: row for row in result.tables["ways"].rows}
        # all its memory is dirty again after every pass: 64 GiB, and what the band of the rate adds
        longer = next(title for title in stated if title.startswith("a pause of "))
        assert set(stated) == {"auto-converge", "post-copy", longer}
        for _, _, time, worst, pause, _ in stated.values():
            assert 0 < pause < time <= worst < 3600  # type: ignore[operator]
        # post-copy sends memory once, then what was dirtied
        assert stated["post-copy"][2] >= 64 * 2**30 / 1.25e9  # type: ignore[operator]
        assert "post-copy" in result.findings[0].remedy


class TestWithoutANic:
    def test_a_host_without_a_migration_nic_is_no_target_where_others_have_one(self) -> None:
        lonely = _roles(cluster(), 3, "storage")
        result = ask(lonely, "vmotion", vms="web0", to="hosts[3]/server")
        assert rows(result)["Front end"]["how"] == "stays"
        assert "hosts[3]/server has no cabled NIC for migrations" in result.findings[0].text
        assert rows(ask(lonely, "vmotion", vms="web0"))["Front end"]["to"] in {"hosts[1]/server", "hosts[2]/server"}

    def test_nor_can_its_machines_leave(self) -> None:
        result = ask(_roles(cluster(), 0, "storage"), "vmotion", vms="web0", to="hosts[1]/server")
        assert "role = vmotion" in result.findings[0].remedy
        assert result.findings[0].severity is Severity.ERROR


class TestBadInput:
    @pytest.mark.parametrize(
        ("profile", "near", "belongs"),
        [
            ("grid_a100d-30c", "choose 20C or 40C", ""),
            ("nvidia_h100xm-80c", "choose 80C", "H100 SXM"),
            ("20Q", "choose 20C", ""),
            ("nonsense", "it offers: 4C, 8C", ""),
        ],
    )
    def test_a_profile_this_gpu_has_not_names_near_ones(self, profile: str, near: str, belongs: str) -> None:
        refusal = _placed(_machine(_device(profile=profile))).refused["m"]
        assert refusal.code == "VM-PROFILE"
        assert near in refusal.remedy
        assert belongs in refusal.remedy

    def test_a_group_of_three(self) -> None:
        refusal = _placed(_machine(_device(kind="device_group", profile="", count=3))).refused["m"]
        assert refusal.code == "VM-GROUP"
        assert "2, 4 or 8" in refusal.remedy

    def test_a_host_that_is_not_there_names_those_that_are(self) -> None:
        refusal = _placed(_machine(host="server77")).refused["m"]
        assert "hosts[0]/server" in refusal.remedy

    @pytest.mark.parametrize(
        ("hardware", "devices", "said"),
        [
            (10, (_device(),), "too old for a vgpu"),
            (19, (_device(kind="device_group", profile="", count=2),), "too old for a device group"),
            (19, (_device(profile="4C", count=5),), "at most 4 with hardware version 19"),
            (30, (_device(),), "needs more than 8.0 U3"),
        ],
    )
    def test_hardware_versions(self, hardware: int, devices: tuple[VmDevice, ...], said: str) -> None:
        vm = _machine(*devices, hardware_version=hardware)
        assert any(said in f.text and f.severity is Severity.ERROR for f in _placed(vm).findings)

    def test_a_hardware_version_that_is_new_enough_is_not_reported(self) -> None:
        found = _placed(_machine(_device(), hardware_version=21)).findings
        assert "VM-HARDWARE" not in {f.code for f in found}

    def test_larger_than_any_host(self) -> None:
        refusal = _placed(_machine(memory="9000 GiB", host=None)).refused["m"]
        assert refusal.code == "VM-TOO-BIG"
        assert "no host takes it" in refusal.text

    def test_two_sizes_on_one_gpu(self) -> None:
        pair = [_machine(_device(profile=p, part="hosts[0]/gpu0"), id=p.lower()) for p in ("20C", "40C")]
        placement = place_vms(build_network(with_vms(cluster(), *pair, only=True)))
        refusal = next(iter(placement.refused.values()))
        assert "fixed the frame buffer of this GPU" in refusal.text
        assert "vgpu_mode = mixedSize" in refusal.remedy
        group = cluster().groups["hosts"]
        server = with_changes(group.content.parts["server"], attributes={"vgpu_mode": "mixed-size"})
        content = with_changes(group.content, parts=replaced(group.content.parts, [server]))
        mixed = with_changes(cluster(), groups=replaced(cluster().groups, [with_changes(group, content=content)]))
        assert not place_vms(build_network(with_vms(mixed, *pair, only=True))).refused


class TestCommandLine:
    def test_exit_codes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for number, (kind, settings, code) in enumerate(
            (
                ("vmotion", {"vms": "web0"}, 0),
                ("vmotion", {"vms": "train0"}, 1),
                ("evacuation", {"hosts": HOST}, 0),
                ("evacuation", {"hosts": HOST, "release": "9.9"}, 2),
                ("vmotion", {"vms": "nobody"}, 2),
            )
        ):
            document = json.loads(dumps(cluster()))
            document["design"]["workloads"].append({"id": "asked", "kind": kind, "settings": settings})
            path = tmp_path / f"{number}.design.json"
            path.write_text(json.dumps(document), "utf-8")
            done = call(capsys, "analyze", path, "--workload", "asked", "--json")
            assert done.code == code, (settings, done.err)
            assert "Traceback" not in done.err
            if code < 2:
                json.loads(done.out)


class TestFrameBuffer:
    def _with_gpu_link(self, **changes: object) -> Design:
        design = cluster()
        group = design.groups["hosts"]
        links = group.content.links
        narrow = [with_changes(link, **changes) for link in links.values() if {link.a, link.b} & {"gpu0", "gpu1"}]
        assert narrow
        content = with_changes(group.content, links=replaced(links, narrow))
        group = with_changes(group, content=content)
        wiring = with_changes(design.wirings["vmotion_network"], bandwidth_per_direction="100 Gb/s")
        return with_changes(design, groups=replaced(design.groups, [group]), wirings=replaced(design.wirings, [wiring]))

    def test_it_is_a_flow_over_the_drawn_pcie_links(self) -> None:
        result = ask(cluster(), "vmotion", vms="lab0", to="hosts[3]/server")
        flow = next(f for f in result.flows if f.id == "lab0:frame-buffer")
        assert "gpu" in flow.source
        assert "gpu" in flow.target
        assert any("gpu" in channel for channel in flow.via)
        assert any(channel.startswith("vmotion_network") for channel in flow.via)

    def test_a_narrow_slot_lengthens_the_stun_and_is_named(self) -> None:
        move = {"vms": "lab0", "to": "hosts[3]/server"}
        wide, narrow = (ask(self._with_gpu_link(generation=3, lanes=lanes), "vmotion", **move) for lanes in (16, 1))
        # 24 GB over one lane of generation 3, which carries less than 1 GB/s
        assert value(narrow, "stun_time") > 24
        assert value(wide, "stun_time") < 5
        # the lane of the GPU at either end, which only together save time: 24 GB / 0.76 GB/s are 32 s of 45
        assert [bottleneck.what for bottleneck in narrow.binding] == ["channel", "channel"]
        assert all("gpu" in bottleneck.id for bottleneck in narrow.binding)
        gain = value(narrow, "migration_time") / (value(narrow, "migration_time") - value(narrow, "stun_time") / 2)
        assert narrow.binding[0].gain_together == pytest.approx(gain, rel=0.02)

    def test_what_the_slot_gives_does_not_matter_behind_a_slow_network(self) -> None:
        move = {"vms": "lab0", "to": "hosts[3]/server"}
        usual = ask(cluster(), "vmotion", **move)
        assert value(usual, "stun_time") == pytest.approx(24e9 / (0.94 * 1.25e9) + 0.6, rel=0.02)


class TestSharesAndDisks:
    def test_shares_weigh_migrations_against_what_runs_beside(self) -> None:
        design = plain_cluster(2, 2)
        copy = {"id": "copy", "kind": "transfer", "settings": {"from": "hosts[0]/memory0", "to": "hosts[1]/memory0"}}
        spec = type(cluster().workloads["h2d"]).model_validate(copy)
        beside = with_changes(design, workloads=replaced(design.workloads, [spec]))
        move = {"vms": "vm0-0", "to": "hosts[1]/server", "background": "copy"}
        even, little = (ask(beside, "vmotion", **move, shares=s, shares_beside=100) for s in (100, 25))
        alone = ask(beside, "vmotion", vms="vm0-0", to="hosts[1]/server")
        assert value(even, "rate") == pytest.approx(value(alone, "rate") / 2, rel=0.02)
        assert "MIG-SHARES" in {f.code for f in little.findings}
        assert value(little, "rate") == pytest.approx(value(alone, "rate") / 5, rel=0.02)

    @pytest.mark.parametrize("given", ["shares", "shares_beside"])
    def test_shares_of_one_side_mean_nothing(self, given: str) -> None:
        with pytest.raises(AnalysisError) as caught:
            ask(plain_cluster(2, 2), "vmotion", vms="vm0-0", **{given: 50})
        assert caught.value.place == f"workloads.asked.{'shares' if given == 'shares_beside' else 'shares_beside'}"

    def test_shares_without_traffic_beside_change_nothing(self) -> None:
        design = plain_cluster(2, 2)
        one, other = (ask(design, "vmotion", vms="vm0-0", shares=s, shares_beside=s) for s in (0, 50))
        assert value(one, "migration_time") == value(other, "migration_time")

    def test_disks_go_over_the_same_network_and_two_at_once(self) -> None:
        design = plain_cluster(3, 4)
        short, long = (ask(design, "evacuation", hosts=HOST, disks=size) for size in ("0 B", "500 GB"))
        more = value(long, "transferred") - value(short, "transferred")
        # two at once instead of four write less again on the way
        assert more == pytest.approx(4 * 500e9, rel=0.03)
        extra = value(long, "evacuation_time") - value(short, "evacuation_time")
        assert extra == pytest.approx(more / (0.94 * 25e9 / 8), rel=0.05)
        stated = rows(long, "hosts")[HOST]
        assert (stated["at once"], stated["because of"]) == (2, "host")
