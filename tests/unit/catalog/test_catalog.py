"""The catalog: read lazily, found, described; link kinds; one file of sources per area."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog import loader
from designer.catalog.describe import ValueRow, briefs, describe
from designer.catalog.loader import Aliases, Catalog, likeness, load_catalog, normal, read_part_file
from designer.catalog.parttype import PartType, SourceRecord, fitting_links, link_kind, link_kinds, part_kinds
from designer.catalog.sources import load_sources
from designer.errors import CatalogError
from designer.fields import Quantity
from designer.sources import Status
from designer.units import parse_rate

# The catalog reads lazily, finds, suggests, and says what is wrong with a bad file and where.

GOOD = """
id = "gpu/acme/x100"
kind = "gpu"
title = "Acme X100"
vendor = "Acme"

[values]
memory_capacity = { value = "80 GiB", source = "ds", status = "primary" }
nvlink_links = { value = 4, source = "ds", status = "primary" }

[sources.ds]
title = "X100 data sheet"
status = "primary"
"""


def _write(folder: Path, id: str, text: str) -> Path:
    path = folder / f"{id}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    _write(tmp_path, "gpu/acme/x100", GOOD)
    return tmp_path


def test_importing_reads_nothing() -> None:
    code = (
        "import sys\n"
        "def watch(event, args):\n"
        "    if event in ('open', 'os.listdir', 'os.scandir') and 'assets' in str(args[0]):\n"
        "        raise SystemExit(f'{event} {args[0]}')\n"
        "sys.addaudithook(watch)\n"
        "import designer.catalog.loader, designer.catalog.describe, designer.catalog.sources\n"
        "designer.catalog.loader.load_catalog()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_get_reads_one_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    real = loader.read_part_file
    monkeypatch.setattr(loader, "read_part_file", lambda path, id: read.append(path) or real(path, id))
    catalog = Catalog()
    first = catalog.get("gpu/nvidia/h100-sxm5")
    assert catalog.get("gpu/nvidia/h100-sxm5") is first
    assert [p.name for p in read] == ["h100-sxm5.toml"]


def test_ids_and_entries_do_not_parse_part_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "read_part_file", lambda *_: pytest.fail("parsed a part file"))
    catalog = Catalog()
    assert "gpu/nvidia/h100-sxm5" in catalog.ids("gpu")
    assert all(i.startswith("nic/") for i in catalog.ids("nic"))
    assert list(catalog.ids()) == sorted(catalog.ids())
    entry = next(e for e in catalog.entries("gpu") if e.id == "gpu/nvidia/h100-sxm5")
    assert (entry.title, entry.vendor) == ("NVIDIA H100 SXM5 80 GB", "NVIDIA")
    assert catalog.find("h100")


def test_entries_agree_with_the_parts() -> None:
    catalog = load_catalog()
    for entry, part in zip(catalog.entries(), catalog.all(), strict=True):
        assert (entry.id, entry.kind, entry.title, entry.vendor) == (part.id, part.kind, part.title, part.vendor)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("h100-sxm5", "gpu/nvidia/h100-sxm5"),
        ("H100 SXM", "gpu/nvidia/h100-sxm5"),
        ("gpu/nvidia/h100-pcie", "gpu/nvidia/h100-pcie"),
        ("10de:20b2", "gpu/nvidia/a100-80-sxm4"),
        ("connectx 7", "nic/nvidia/connectx-7"),
        ("qm9700", "switch/nvidia/qm9700"),
        ("vsan esa", "storage/vmware/vsan-esa"),
        ("mi300x", "gpu/amd/mi300x"),
    ],
)
def test_find_puts_the_meant_part_first(query: str, first: str) -> None:
    assert load_catalog().find(query)[0].id == first


def test_find_narrows_with_words_and_kind() -> None:
    catalog = load_catalog()
    assert len(catalog.find("")) == len(catalog.ids())
    few, many = catalog.find("nvidia a100 pcie"), catalog.find("nvidia a100")
    assert {e.id for e in few} < {e.id for e in many}
    assert {e.kind for e in catalog.find("nvidia", kind="switch")} == {"switch"}
    assert catalog.find("no such part at all") == ()


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("gpu/nvidia/a30", "gpu/nvidia/a30"),
        ("a30", "gpu/nvidia/a30"),
        ("10de:20b2", "gpu/nvidia/a100-80-sxm4"),
        ("0x10DE:0x20B2", "gpu/nvidia/a100-80-sxm4"),
        ("NVIDIA A100-SXM4-80GB", "gpu/nvidia/a100-80-sxm4"),
        ("NVIDIA A100 80GB PCIe", "gpu/nvidia/a100-80-pcie"),
        ("NVIDIA H100 80GB HBM3", "gpu/nvidia/h100-sxm5"),
        ("Tesla V100-SXM3-32GB-H", "gpu/nvidia/v100-sxm3-32"),
        ("GRID A100X-40C", "gpu/nvidia/a100-40-sxm4"),
        ("1002:740c", "gpu/amd/mi250x-gcd"),
        ("gfx942", "gpu/amd/mi300x"),
        ("gcn908", "gpu/amd/mi100"),
        ("sm80", "gpu/nvidia/a100-80-sxm4"),
        ("15b3:1021", "nic/nvidia/connectx-7"),
        ("MT4123", "nic/nvidia/connectx-6"),
        ("AuthenticAMD 143 49", "cpu/amd/epyc-rome"),
        ("AMD EPYC 7742 64-Core Processor", "cpu/amd/epyc-rome"),
        ("AMD EPYC 7763 64-Core Processor", "cpu/amd/epyc-milan"),
        ("AMD EPYC 9654 96-Core Processor", "cpu/amd/epyc-genoa"),
        ("Intel(R) Xeon(R) Platinum 8480C", "cpu/intel/xeon-spr"),
        ("Intel(R) Xeon(R) Platinum 8174 CPU @ 3.10GHz", "cpu/intel/xeon-skx"),
        ("Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz", "cpu/intel/xeon-e5v4"),
        ("MF0;ib-leaf-01:MQM9700/U1", "switch/nvidia/qm9700"),
        ("ib-switch 0xd2f0", "switch/nvidia/qm8700"),
        ("NFS", "storage/generic/nfs-single-mount"),
    ],
)
def test_names_of_dumps_and_people_resolve(name: str, id: str) -> None:
    assert load_catalog().resolve(name) == id


def test_unknown_names_do_not_resolve() -> None:
    catalog = load_catalog()
    assert catalog.resolve("10de:ffff") is None
    assert catalog.resolve("") is None
    assert catalog.resolve("Acme Quantum Brain") is None
    assert catalog.resolve("connectx-7", kind="gpu") is None
    assert catalog.resolve("QEMU Virtual CPU version 2.5+") is None


@pytest.mark.parametrize(
    ("kind", "name", "id"),
    [
        ("gpu", "h100-sxm4", "gpu/nvidia/h100-sxm5"),
        ("gpu", "NVIDIA A100-SXM4-81GB", "gpu/nvidia/a100-80-sxm4"),
        ("nic", "ConnectX7", "nic/nvidia/connectx-7"),
        ("switch", "qm9701", "switch/nvidia/qm9700"),
    ],
)
def test_nearest_suggests_what_was_meant(kind: str, name: str, id: str) -> None:
    assert load_catalog().nearest(kind, name)[0] == id


def test_unknown_id_is_refused_with_a_suggestion() -> None:
    with pytest.raises(CatalogError) as caught:
        load_catalog().get("gpu/nvidia/h100-sxm6")
    assert "gpu/nvidia/h100-sxm5" in (caught.value.remedy or "")
    with pytest.raises(CatalogError) as caught:
        load_catalog().get("toaster/acme/one")
    assert "nic" in (caught.value.remedy or "")


@pytest.mark.parametrize("id", ["gpu/../../pyproject", "/etc/passwd", "gpu//x", "", "gpu", "aliases", "gpu/nvidia/.."])
def test_ids_do_not_leave_the_catalog(id: str) -> None:
    assert id not in load_catalog()
    with pytest.raises(CatalogError):
        load_catalog().get(id)


def test_a_users_folder_adds_and_overrides(mine: Path) -> None:
    _write(mine, "gpu/nvidia/a30", GOOD.replace("gpu/acme/x100", "gpu/nvidia/a30"))
    (mine / "aliases.toml").write_text('[names]\n"big one" = "gpu/acme/x100"\n', encoding="utf-8")
    catalog = Catalog(mine)
    assert catalog.get("gpu/acme/x100").number("memory_capacity") == 80 * 2**30
    assert catalog.get("gpu/nvidia/a30").title == "Acme X100"
    assert load_catalog().get("gpu/nvidia/a30").title == "NVIDIA A30"
    assert catalog.resolve("Big One") == "gpu/acme/x100"
    assert catalog.resolve("10de:20b2") == "gpu/nvidia/a100-80-sxm4"
    assert len(catalog.ids()) == len(load_catalog().ids()) + 1
    assert catalog.find("acme")[0].id == "gpu/acme/x100"


def test_the_last_of_several_folders_wins(mine: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    _write(other, "gpu/acme/x100", GOOD.replace("Acme X100", "Acme X100 again"))
    assert Catalog((mine, other)).get("gpu/acme/x100").title == "Acme X100 again"
    assert Catalog((other, mine)).get("gpu/acme/x100").title == "Acme X100"


BAD = [
    ("memory_capacity = {", "memory_capacity = ", None, "line"),
    ('"80 GiB"', '"80"', "values.memory_capacity", "unit"),
    ('"80 GiB"', '"80 GB/s"', "values.memory_capacity", "rate"),
    ('"80 GiB"', "80", "values.memory_capacity", "unit"),
    ('"80 GiB"', '"-80 GiB"', "values.memory_capacity", "negative"),
    ("value = 4", 'value = "four"', "values.nvlink_links", "count"),
    ("value = 4", "value = -4", "values.nvlink_links", "count"),
    ("value = 4", "value = 4.5", "values.nvlink_links.value", ""),
    ("memory_capacity", "memory_capasity", "values.memory_capasity", "no such value"),
    ('source = "ds"', 'source = "gossip"', "values.memory_capacity", "gossip"),
    ('status = "primary" }', 'status = "certain" }', "values.memory_capacity.status", "primary"),
    ('vendor = "Acme"', 'seller = "Acme"', "seller", "not permitted"),
    ('title = "Acme X100"', "", "title", "required"),
    ('id = "gpu/acme/x100"', 'id = "gpu/acme/x200"', "id", "path"),
    ('kind = "gpu"', 'kind = "nic"', "kind", "nic"),
    ("[sources.ds]", "[sources.ds]\nweight = 3", "sources.ds.weight", "not permitted"),
]


@pytest.mark.parametrize(("old", "new", "place", "says"), BAD, ids=[f"{b[0]} -> {b[1]}" for b in BAD])
def test_a_bad_file_says_what_and_where(tmp_path: Path, old: str, new: str, place: str | None, says: str) -> None:
    assert old in GOOD
    path = _write(tmp_path, "gpu/acme/x100", GOOD.replace(old, new, 1))
    with pytest.raises(CatalogError) as caught:
        Catalog(tmp_path).get("gpu/acme/x100")
    error = caught.value
    assert error.file == str(path)
    assert error.remedy
    assert says.casefold() in str(error).casefold()
    if place is None:
        assert "line" in (error.place or "")
    else:
        assert error.place == place


def test_unknown_kind_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "toaster/acme/one", 'id = "toaster/acme/one"\nkind = "toaster"\ntitle = "T"\n')
    with pytest.raises(CatalogError, match="toaster"):
        read_part_file(path)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "gpu/acme/x100", GOOD)
    path.write_bytes(b"\xff\xfe\x00bad")
    with pytest.raises(CatalogError, match="UTF-8"):
        read_part_file(path)
    path.write_text("# " + "x" * (loader.LARGEST_FILE + 1), encoding="utf-8")
    with pytest.raises(CatalogError, match="too large"):
        read_part_file(path)
    with pytest.raises(CatalogError, match="read"):
        read_part_file(tmp_path / "gpu/acme/none.toml")


def test_one_bad_file_does_not_hide_the_others(mine: Path) -> None:
    _write(mine, "gpu/acme/broken", "this is no TOML")
    catalog = Catalog(mine)
    assert {"gpu/acme/broken", "gpu/acme/x100"} <= {e.id for e in catalog.find("acme")}
    with pytest.raises(CatalogError):
        catalog.get("gpu/acme/broken")


def test_bad_alias_tables_are_refused() -> None:
    with pytest.raises(CatalogError, match="section"):
        Aliases([{"names": "x"}])
    with pytest.raises(CatalogError, match="part id"):
        Aliases([{"names": {"x": 3}}])


def test_aliases_are_a_mapping() -> None:
    aliases = Aliases([{"names": {"A 100": "gpu/a"}, "patterns": {"^B\\d": "gpu/b"}}, {"names": {"a100": "gpu/c"}}])
    assert aliases["a-100"] == "gpu/c"
    assert aliases["b7 something"] == "gpu/b"
    assert list(aliases) == ["A 100", "a100"]
    assert len(aliases) == 2
    assert aliases.patterns == (("^B\\d", "gpu/b"),)
    assert aliases.get("zzz") is None


@given(st.text(max_size=40))
def test_normal_is_stable_and_blind_to_case(name: str) -> None:
    once = normal(name)
    assert likeness(name, name) == (1.0 if once else 0.0)
    if name.isascii():
        assert normal(name.upper()) == normal(name.lower())


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_lies_between_none_and_all(a: str, b: str) -> None:
    assert 0.0 <= likeness(a, b) <= 1.0


@given(st.text(max_size=60))
def test_any_text_may_be_looked_up(text: str) -> None:
    catalog = load_catalog()
    found = catalog.resolve(text)
    assert found is None or found in catalog
    assert {e.id for e in catalog.find(text)} <= set(catalog.ids())


# Rows of a part type for people.


def _rows(id: str) -> dict[str, ValueRow]:
    return {r.name: r for r in describe(load_catalog().get(id))}


def test_rows_carry_value_unit_source_and_status() -> None:
    row = _rows("gpu/nvidia/h100-sxm5")["memory_bandwidth"]
    assert (row.title, row.text, row.unit, row.value) == ("Memory bandwidth", "3.35 TB/s", "B/s", 3.35e12)
    assert row.source == "S05"
    assert "accelerators" in row.source_title
    assert row.status is Status.SECONDARY
    assert row.band == ""


def test_rates_spelled_in_bits_show_both() -> None:
    assert _rows("nic/nvidia/connectx-7")["bandwidth_per_direction"].text == "50 GB/s (400 Gb/s)"


def test_bands_are_shown_and_given_in_si() -> None:
    row = _rows("storage/generic/nfs-single-mount")["client_read_bandwidth"]
    assert row.band == "1.5 GB/s – 2.5 GB/s"
    assert (row.low, row.value, row.high) == (1.5e9, 2e9, 2.5e9)


def test_a_half_open_band_ends_at_the_value() -> None:
    row = _rows("switch/nvidia/qm8700")["hop_latency"]
    assert row.band == "90 ns – 130 ns"
    assert row.low is None


def test_counts_flags_and_names() -> None:
    rows = _rows("nvswitch/nvidia/nvswitch-gen3")
    assert (rows["ports"].text, rows["ports"].unit, rows["ports"].value) == ("64", "", 64.0)
    assert rows["in_switch_reduction"].text == "yes"
    form = _rows("gpu/nvidia/h100-sxm5")["form"]
    assert (form.text, form.value) == ("SXM5", None)


@pytest.mark.parametrize("kind", sorted(part_kinds()))
def test_every_part_of_a_kind_has_a_row_per_value_in_the_order_of_the_kind(kind: str) -> None:
    order = [f.name for f in part_kinds()[kind].fields]
    for part in load_catalog().all(kind):
        rows = describe(part)
        assert [r.name for r in rows] == [n for n in order if n in part.values]
        assert all(r.text and "{" not in r.text for r in rows)


def test_parts_of_an_unknown_kind_are_shown_as_they_stand() -> None:
    part = PartType(
        id="toaster/acme/one",
        kind="toaster",
        title="Toaster",
        values={"slot_count": Quantity(value=2, source="x"), "glow": Quantity(value=True)},
        sources={"x": SourceRecord(title="box")},
    )
    rows = describe(part)
    assert [(r.title, r.text, r.source_title) for r in rows] == [("slot count", "2", "box"), ("glow", "yes", "")]


def test_a_value_that_cannot_be_read_is_shown_as_written() -> None:
    part = PartType(id="gpu/a/b", kind="gpu", title="B", values={"memory_capacity": Quantity(value="eighty")})
    (row,) = describe(part)
    assert (row.text, row.value) == ("eighty", None)


# Sources are one file per area, keys are unique, records are checked.


def test_hardware_and_link_sources_are_there() -> None:
    sources = load_sources()
    assert sources["S01"].status is Status.PRIMARY
    assert "NCCL" in sources["S01"].title
    assert sources["path-latencies"].title
    assert sources["assumed"].status is Status.ASSUMED
    assert all(key == source.key for key, source in sources.items())


def _folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_key_may_stand_in_one_file_only(tmp_path: Path) -> None:
    record = '[x]\ntitle = "X"\nstatus = "primary"\n'
    with pytest.raises(CatalogError, match="also in") as caught:
        load_sources(_folder(tmp_path, a=record, b=record))
    assert caught.value.place == "x"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[x]\nstatus = "primary"\n', "x.title"),
        ('[x]\ntitle = "X"\nstatus = "sure"\n', "x.status"),
        ('[x]\ntitle = "X"\nweight = 1\n', "x.weight"),
        ('x = "y"\n', "x"),
        ("[x\n", None),
    ],
)
def test_bad_records_say_where(tmp_path: Path, text: str, place: str | None) -> None:
    with pytest.raises(CatalogError) as caught:
        load_sources(_folder(tmp_path, a=text))
    assert caught.value.place == place
    assert caught.value.file


# Link kinds: physical, ordered by use, refused when unknown.


@pytest.mark.parametrize("name", sorted(link_kinds()))
def test_link_kind_is_physical(name: str) -> None:
    kind = link_kind(name)
    assert 10e-9 < kind.latency.value < 10e-6
    assert 1e9 < parse_rate(kind.default_rate) < 1e12


def test_gen4_x16_is_the_default_of_pcie() -> None:
    assert parse_rate(link_kind("pcie").default_rate) == pytest.approx(16e9 * 16 / 8 * 128 / 130)


def test_unknown_link_kind_is_refused() -> None:
    with pytest.raises(CatalogError, match="warp"):
        link_kind("warp")


def test_usual_links_come_first() -> None:
    assert fitting_links("gpu", "nvswitch")[0] == "nvlink"
    assert fitting_links("cpu", "gpu")[0] == "pcie"
    assert fitting_links("nic", "switch")[0] == "ethernet"
    assert fitting_links("drive", "rack") == ()


def test_a_card_without_room_shows_rates_in_the_units_of_the_data_sheet() -> None:
    catalog = load_catalog()

    def texts(id: str) -> tuple[str, ...]:
        part = catalog.get(id)
        return briefs(part.kind, part.values)

    assert texts("nic/nvidia/connectx-7") == ("400 Gb/s", "400 Gb/s")
    assert texts("nic/nvidia/connectx-7-2p") == ("2 × 200 Gb/s", "400 Gb/s")
    assert texts("cpu/intel/xeon-spr")[0] == "60 cores, Gen5"
    assert texts("gpu/nvidia/h100-sxm5") == ()
