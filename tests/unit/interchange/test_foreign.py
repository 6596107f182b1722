"""Readers that importers share: processors, host lists, links of sockets, XML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.foreign.cpus import (
    CpuModel,
    NumaHint,
    cpu_model,
    memory_share,
    processor,
    processor_for,
    sockets_of,
    unknown_processor,
)
from designer.interchange.foreign.hostlist import compress, expand
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.sockets import join_sockets
from designer.interchange.foreign.xml import MAX_DEPTH, MAX_ELEMENTS, parse_xml
from designer.sources import Status

# Sockets and memory shares derived from NUMA domains.

HASWELL, BROADWELL = processor("cpu/intel/xeon-e5v3"), processor("cpu/intel/xeon-e5v4")


SANDY_BRIDGE, IVY_BRIDGE = processor("cpu/intel/xeon-e5v1"), processor("cpu/intel/xeon-e5v2")


SKYLAKE, SKYLAKE_1 = processor("cpu/intel/xeon-scalable"), processor("cpu/intel/xeon-skx")


CASCADE_LAKE, ICELAKE = processor("cpu/intel/xeon-clx"), processor("cpu/intel/xeon-icx")


SAPPHIRE, EMERALD = processor("cpu/intel/xeon-spr"), processor("cpu/intel/xeon-emr")


GRANITE, FOREST = processor("cpu/intel/xeon-gnr-ap"), processor("cpu/intel/xeon-srf")


NAPLES, ROME, MILAN = processor("cpu/amd/epyc-naples"), processor("cpu/amd/epyc-rome"), processor("cpu/amd/epyc-milan")


GENOA, TURIN, MI300A = processor("cpu/amd/epyc-genoa"), processor("cpu/amd/epyc-turin"), processor("cpu/amd/mi300a-cpu")


GRACE, POWER, POWER9 = processor("cpu/nvidia/grace"), processor("cpu/ibm/power"), processor("cpu/ibm/power9")


ARM, HYGON, ZHAOXIN = processor("cpu/arm/arm"), processor("cpu/hygon/hygon"), processor("cpu/zhaoxin/zhaoxin")


UNKNOWN_INTEL, UNKNOWN_AMD = processor("cpu/intel/unknown"), processor("cpu/amd/unknown")


UNKNOWN = unknown_processor()


@pytest.mark.parametrize(
    ("vendor", "family", "model", "found"),
    [
        ("GenuineIntel", "6", "85", SKYLAKE),
        ("GenuineIntel", "6", "106", ICELAKE),
        ("GenuineIntel", "6", "143", SAPPHIRE),
        ("GenuineIntel", "6", "207", EMERALD),
        ("GenuineIntel", "6", "173", GRANITE),
        ("GenuineIntel", "6", "175", FOREST),
        ("AuthenticAMD", "23", "49", ROME),
        ("AuthenticAMD", "143", "49", ROME),
        ("AuthenticAMD", "175", "1", MILAN),
        ("AuthenticAMD", "25", "17", GENOA),
        ("AuthenticAMD", "175", "144", MI300A),
        ("AuthenticAMD", "191", "2", TURIN),
        ("", "", "", UNKNOWN),
        ("  Shanghai  ", "7", "59", ZHAOXIN),
        ("GenuineIntel", "6", "45", SANDY_BRIDGE),
        ("GenuineIntel", "6", "62", IVY_BRIDGE),
        ("GenuineIntel", "6", "63", HASWELL),
        ("GenuineIntel", "6", "79", BROADWELL),
        ("GenuineIntel", "15", "107", UNKNOWN_INTEL),
        ("GenuineIntel", "6", "999", UNKNOWN_INTEL),
        ("GenuineIntel", "6", "", UNKNOWN_INTEL),
        ("AuthenticAMD", "", "", UNKNOWN_AMD),
    ],
)
def test_models(vendor: str, family: str, model: str, found: CpuModel) -> None:
    assert cpu_model(vendor, family, model) is found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", SANDY_BRIDGE),
        ("Intel(R) Xeon(R) CPU E5-2650 0", SANDY_BRIDGE),
        ("Intel(R) Xeon(R) CPU E5-2670 v2", IVY_BRIDGE),
        ("Intel(R) Xeon(R) CPU E5-2699 v3", HASWELL),
        ("Intel(R) Xeon(R) CPU E5-2686 v4", BROADWELL),
        ("Intel(R) Xeon(R) Platinum 8174 CPU", SKYLAKE_1),
        ("Intel(R) Xeon(R) Platinum 8275CL CPU", CASCADE_LAKE),
        ("Intel(R) Xeon(R) Gold 6448Y", SAPPHIRE),
        ("AMD EPYC 7742 64-Core Processor", ROME),
        ("AMD EPYC 7601 32-Core Processor", NAPLES),
        ("AMD EPYC 7R13 Processor", MILAN),
        ("AMD EPYC 9654 96-Core Processor  ", GENOA),
        ("AMD EPYC 9575F 64-Core Processor", TURIN),
        ("Intel(R) Xeon(R) 6780E", FOREST),
        ("Intel(R) Xeon(R) 6980P", GRANITE),
        ("Intel(R) Xeon(R) CPU E5-2670 v3", HASWELL),
    ],
)
def test_a_name_tells_what_numbers_do_not(name: str, found: CpuModel) -> None:
    assert cpu_model("AMD" if "AMD" in name else "Intel", "", "", name=name) is found


def test_three_generations_of_one_number_are_reported_apart_by_name_and_guessed_without() -> None:
    assert cpu_model("GenuineIntel", "6", "85", name="Intel(R) Xeon(R) Platinum 8174 CPU @ 3.10GHz") is SKYLAKE_1
    assert SKYLAKE.guess
    assert SKYLAKE.type == CASCADE_LAKE.type


@pytest.mark.parametrize(
    ("vendor", "arch", "name", "found"),
    [
        ("", "ppc64", "POWER9 (raw), altivec supported", POWER9),
        ("", "ppc64le", "", POWER),
        ("IBM", "", "", POWER),
        ("ARM", "aarch64", "", ARM),
        ("", "aarch64", "", ARM),
        ("NVIDIA", "aarch64", "", GRACE),
        ("HygonGenuine", "x86_64", "Hygon C86 7185 32-core Processor", HYGON),
    ],
)
def test_makers_without_cpuid_numbers(vendor: str, arch: str, name: str, found: CpuModel) -> None:
    assert cpu_model(vendor, "", "", arch, name) is found


def test_a_family_has_what_its_part_says() -> None:
    """8 channels of DDR4-3200 are 204.8 GB/s; four xGMI links of 16 lanes at 18 GT/s carry 36 GB/s each way."""
    assert (ROME.memory, ROME.socket_link, ROME.socket_links, ROME.socket_rate) == (
        "204.8 GB/s",
        "infinity_fabric",
        4,
        "36 GB/s",
    )
    assert (POWER9.socket_link, POWER9.socket_links, POWER9.socket_rate) == ("x_bus", 1, "32 GB/s")
    assert (GRACE.memory, GRACE.socket_link, GRACE.socket_rate) == ("512 GB/s", "c2c", "450 GB/s")
    assert processor_for("9.0") is GRACE
    assert processor_for("8.0") is None


def test_no_type_of_a_later_year() -> None:
    """A part of 2012 is not taken for one of 2016: what the catalog lacks has no type."""
    assert IVY_BRIDGE.type == UNKNOWN_INTEL.type == UNKNOWN_AMD.type == ""


def _hints(model: CpuModel, *numbers: int, cores: int = 0) -> list[NumaHint]:
    return [NumaHint(n, ((1 << cores) - 1) << (n * cores) if n >= 0 else 0, model=model) for n in numbers]


@pytest.mark.parametrize(
    ("hints", "sockets"),
    [
        (_hints(SAPPHIRE, 1, 0), [1, 0]),
        (_hints(ROME, 3, 1, 7, 5), [0, 0, 1, 1]),
        (_hints(ROME, 0, 1, 2, 3, cores=24), [0, 0, 1, 1]),
        (_hints(ROME, 0, 1, 2, 3, cores=8), [0, 0, 0, 0]),
        (_hints(SAPPHIRE, 0, 1, 2, 3), [0, 0, 1, 1]),
        (_hints(POWER, 0, 8), [0, 1]),
        (_hints(GRACE, 0, 1), [0, 1]),
        (_hints(ROME, -1), [0]),
        (_hints(ROME, -1, -1), [0, 0]),
        ([], []),
        (_hints(UNKNOWN, 0), [0]),
    ],
)
def test_sockets(hints: list[NumaHint], sockets: list[int]) -> None:
    assert sockets_of(hints) == sockets


def test_a_quarter_of_a_socket_has_a_quarter_of_its_memory() -> None:
    assert memory_share(_hints(ROME, 3, 1, 7, 5)) == "51.2 GB/s"
    assert memory_share(_hints(ROME, 0, 1)) == "204.8 GB/s"
    assert memory_share(_hints(SAPPHIRE, 0)) == "307.2 GB/s"


@given(st.lists(st.integers(-1, 40), min_size=1, max_size=20), st.sampled_from([ROME, SAPPHIRE, POWER, UNKNOWN]))
def test_sockets_are_numbered_from_zero_without_gaps(numbers: list[int], model: CpuModel) -> None:
    chosen = sockets_of(_hints(model, *numbers))
    assert len(chosen) == len(numbers)
    assert sorted(set(chosen)) == list(range(len(set(chosen))))
    memory_share(_hints(model, *numbers))


# Bracket lists of names, read and written.


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[001-003,020]", ["n001", "n002", "n003", "n020"]),
        ("a,b", ["a", "b"]),
        ("", []),
        ("j-[1-2]-[01-02]", ["j-1-01", "j-1-02", "j-2-01", "j-2-02"]),
        ("s[8-10]x", ["s8x", "s9x", "s10x"]),
    ],
)
def test_reading(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[3-1]", "n[a-b]", "n[1-999999]", "n[[1]]", "n[1-1000][1-1000]"])
def test_refusals(text: str) -> None:
    with pytest.raises(ExchangeError):
        expand(text)


@given(st.lists(st.from_regex(r"[a-z-]{1,3}[0-9]{0,4}", fullmatch=True), max_size=40))
def test_what_is_written_reads_back(names: list[str]) -> None:
    assert sorted(expand(compress(names))) == sorted(set(names))


# Links between sockets are those the CPUs have: their own rate, shared among the sockets they join.


def _joined(model: CpuModel, sockets: int) -> list[tuple[int, float]]:
    machine = MachineDrawing("x", "a dump", "nccl-topology")
    cpus = [machine.add("cpu") for _ in range(sockets)]
    join_sockets(machine, cpus, model)
    assert all(link.status is Status.ASSUMED for link in machine.links.values())
    return [(link.count, raw_rate(link)[0]) for link in machine.links.values()]


@pytest.mark.parametrize(
    ("id", "sockets", "links"),
    [
        # four UPI links of 16 GT/s x 2 B = 32 GB/s, all to the one neighbour: 128 GB/s each way
        ("cpu/intel/xeon-spr", 2, [(4, 32e9)]),
        # six links shared among three neighbours: two to each, six pairs
        ("cpu/intel/xeon-cpx", 4, [(2, 20.8e9)] * 6),
        # three links among three neighbours
        ("cpu/intel/xeon-skx", 4, [(1, 20.8e9)] * 6),
        # four xGMI links of 16 lanes at 18 GT/s = 36 GB/s
        ("cpu/amd/epyc-rome", 2, [(4, 36e9)]),
        # the chip-to-chip link of two Graces
        ("cpu/nvidia/grace", 2, [(1, 450e9)]),
    ],
)
def test_links_of_the_part(id: str, sockets: int, links: list[tuple[int, float]]) -> None:
    assert _joined(processor(id), sockets) == links


def test_unknown_cpus_have_the_usual_links() -> None:
    assert _joined(unknown_processor(), 2) == [(3, 20.8e9)]


def test_what_nccl_plans_is_no_rate_of_a_link() -> None:
    """NCCL plans 10 GB/s between Skylake sockets; three links of 20.8 GB/s carry 62.4 GB/s."""
    ((count, rate),) = _joined(processor("cpu/intel/xeon-skx"), 2)
    assert count * rate == pytest.approx(62.4e9)


# XML from anywhere: bounded, without entities, refused with a place.


def test_tree_with_lines_and_texts() -> None:
    parsed = parse_xml('\n<?xml version="1.0"?>\n<a x=" 1 ">\n 7<b/>text<c/>\n</a>', "f")
    assert (parsed.root.tag, parsed.root.line, parsed.root.get("x")) == ("a", 3, "1")
    assert [child.tag for child in parsed.root.children] == ["b", "c"]
    assert parsed.stray == 1
    assert [e.tag for e in parsed.root.walk()] == ["a", "b", "c"]


def test_what_stands_around_is_counted() -> None:
    parsed = parse_xml("$ cat <file>\n```xml\n<!-- note --><a>1</a>\n```", "f", ("a",))
    assert parsed.root.tag == "a"
    assert parsed.before > 0
    assert parsed.after == 3


def test_doctype_is_let_through_and_nothing_is_fetched(tmp_path: object) -> None:
    text = '<?xml version="1.0"?><!DOCTYPE a SYSTEM "http://127.0.0.1:9/never.dtd"><a>&unknown;</a>'
    assert parse_xml(text, "f").root.tag == "a"


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]><a>&y;</a>'


OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


PARAMETER = '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><a/>'


UNPARSED = '<!DOCTYPE a [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "f" NDATA n>]><a/>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE, PARAMETER, UNPARSED])
def test_entities_are_refused(text: str) -> None:
    with pytest.raises(ExchangeError, match="declares the entity") as refusal:
        parse_xml(text, "f")
    assert refusal.value.place is not None
    assert refusal.value.place.startswith("line 1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<a>" * 100_000 + "</a>" * 100_000, "nested more than"),
        ("<a>" * (MAX_DEPTH + 1), "nested more than"),
        ("<a>" + "<b/>" * (MAX_ELEMENTS + 5) + "</a>", "more than 200,000 elements"),
        ("<a>" + "<b/>" * 1_000_000 + "</a>", "more than 200,000 elements"),
        (f'<a x="{"y" * 5_000_000}"/>', "longer than"),
        (f'<a x="{"y" * 70_000}"/>', "70,000 characters"),
        ("<a " + " ".join(f'x{n}="1"' for n in range(300)) + "/>", "300 attributes"),
        ("<a " + " ".join(f'x{n}="1"' for n in range(200_000)) + "/>", "longer than"),
        ('<a x="1" x="2"/>', "duplicate attribute"),
        ("<a><b></a>", "closed by another tag"),
        ("<a><b x='1'>", "ends inside <b>"),
        ("<a/><a/>", "second <a>"),
        ("no markup at all", "no XML"),
        ("<?xml version='1.0'?>", "no element found|no XML element"),
        ("<a>\x01</a>", "not well-formed"),
        ("<a x='<'/>", "not well-formed"),
    ],
    ids=lambda v: v[:20] if isinstance(v, str) else None,
)
def test_refusals_name_the_place(text: str, reason: str) -> None:
    with pytest.raises(ExchangeError, match=reason) as refusal:
        parse_xml(text, "f.xml")
    assert refusal.value.file == "f.xml"
