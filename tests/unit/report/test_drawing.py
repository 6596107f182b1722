"""Pictures without Qt: colours, glyphs, text that fits, display lists and their renderers."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Annotation, Design, Part, Position
from designer.design.elaborate import elaborate
from designer.design.geometry import Geometry, lay_out
from designer.drawing.fonts import fitted_text, lines_of, text_width
from designer.drawing.icons import EXTENT, glyph
from designer.drawing.levels import ENTER, HYSTERESIS, Level, level_at
from designer.drawing.loads import loads_of
from designer.drawing.theme import DASH, Palette, palette, palettes, rgb, themed
from designer.engine.results import Bottleneck
from designer.errors import CatalogError, ExchangeError
from designer.interchange.templates import open_any
from designer.report.drawing.compose import Options, compose
from designer.report.drawing.elements import Glyph, Label, Panel, Picture, Stroke
from designer.report.drawing.pdf import to_pdf
from designer.report.drawing.png import dashes, flat_curve, to_png
from designer.report.drawing.svg import to_svg
from designer.resources import assets
from tests.designs import one_server, one_unit

pytestmark = pytest.mark.without_qt

_SVG = "{http://www.w3.org/2000/svg}"


def _light(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    shares = [c / 255 for c in rgb(colour)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark", "contrast"])
def colours(request: pytest.FixtureRequest) -> Palette:
    return palette(request.param)


def test_there_are_three_palettes_and_no_other_is_invented() -> None:
    assert set(palettes()) == {"light", "dark", "contrast"}
    with pytest.raises(CatalogError):
        palette("neon")


def test_utilisation_reads_without_colour(colours: Palette) -> None:
    steps = [_light(colours.utilisation(s)) for s in np.linspace(0, 1, 41)]
    falling = all(a > b for a, b in pairwise(steps))
    rising = all(a < b for a, b in pairwise(steps))
    assert falling or rising
    assert abs(steps[-1] - steps[0]) > 0.4
    assert colours.utilisation(-1) == colours.utilisation(0)
    assert colours.utilisation(7) == colours.utilisation(1) == colours.scale[-1]


def test_text_is_readable_on_every_ground(colours: Palette) -> None:
    surface = colours.surface
    for ground in ("canvas", "container", "container_alternate", "card", "note", "frame"):
        assert _contrast(surface["text"], surface[ground]) >= 4.5
        assert _contrast(surface["text_muted"], surface[ground]) >= 4.5
    assert _contrast(surface["badge_text"], surface["badge"]) >= 4.5
    assert _contrast(surface["bound_text"], surface["bound"]) >= 4.5


def test_high_contrast_is_high() -> None:
    colours = palette("contrast")
    surface = colours.surface
    for ground in ("canvas", "container", "container_alternate", "card", "note", "frame"):
        assert _contrast(surface["text"], surface[ground]) >= 12
        assert _contrast(surface["text_muted"], surface[ground]) >= 7
        assert _contrast(surface["card_border"], surface[ground]) >= 7
        for ink in ("selection", "bound", "warning", "error", "assumed", "container_border"):
            assert _contrast(surface[ink], surface[ground]) >= 4.5, (ink, ground)
    for accent in (*colours.kinds.values(), *colours.links.values()):
        assert _contrast(accent, surface["card"]) >= 4.5
    for share in (0, 0.25, 0.5, 1):
        assert _contrast(colours.utilisation(share), surface["canvas"]) >= 3


def test_every_kind_of_part_has_a_glyph_and_an_accent_of_its_own(colours: Palette) -> None:
    for kind in part_kinds().values():
        assert (assets() / "icons" / f"{kind.icon}.toml").is_file(), kind.name
        assert kind.name in colours.kinds
        assert _contrast(colours.kind(kind.name), colours.surface["card"]) >= 3
    shapes = {kind: glyph(kind) for kind in part_kinds()}
    assert len({str(shape) for shape in shapes.values()}) == len(shapes)
    assert glyph("nothing known") == glyph("unknown")
    assert set(link_kinds()) <= set(colours.links)


def test_glyphs_stay_in_their_square() -> None:
    for kind in part_kinds():
        for outline in glyph(kind):
            for _, values in outline.commands:
                assert all(0 <= v <= EXTENT for v in values), kind


def test_levels_change_late_when_coming_back() -> None:
    near = ENTER[Level.NEAR]
    assert level_at(near) is Level.NEAR
    assert level_at(near * 0.99) is Level.MIDDLE
    assert level_at(near * 0.99, Level.NEAR) is Level.NEAR
    assert level_at(near * HYSTERESIS * 0.99, Level.NEAR) is Level.MIDDLE
    assert level_at(0.01, Level.NEAR) is Level.FAR


@given(st.text(max_size=80), st.floats(0, 400), st.booleans())
def test_fitted_text_fits(text: str, width: float, keep: bool) -> None:
    assert text_width(fitted_text(text, 12, width, keep_number=keep), 12) <= width or not text.strip()
    for line in lines_of(text, 12, width, 3):
        assert text_width(line, 12) <= width


def test_shortened_names_keep_their_number() -> None:
    assert fitted_text("PCIe switch 17", 13, 70, bold=True, keep_number=True).endswith("…17")
    assert fitted_text("gpu0", 13, 200) == "gpu0"
    assert lines_of("DDR5-4800, 8 channels", 12, 110, 1) == ["DDR5-4800, 8 ch…"]


def _picture(geometry: Geometry, name: str = "light", **changes: object) -> Picture:
    return compose(geometry, palette(name), Options(**changes))  # type: ignore[arg-type]


def test_a_picture_names_every_part_and_draws_every_connection() -> None:
    geometry = lay_out(one_server())
    picture = _picture(geometry, legend=False)
    texts = {e.text for e in picture.elements if isinstance(e, Label)}
    assert {f"gpu{n}" for n in range(8)} <= texts
    assert sum(isinstance(e, Stroke) for e in picture.elements) >= geometry.n_connections
    assert sum(isinstance(e, Glyph) for e in picture.elements) == (~geometry.is_container).sum()


def test_nothing_sticks_out_of_a_picture() -> None:
    picture = _picture(lay_out(one_unit(), frozenset({(("servers", None),)})), title="A title", subtitle="and why")
    right, bottom = picture.x + picture.width, picture.y + picture.height
    for e in picture.elements:
        if isinstance(e, Panel):
            assert picture.x <= e.x
            assert e.x + e.width <= right
            assert picture.y <= e.y
            assert e.y + e.height <= bottom
        elif isinstance(e, Label):
            start = e.x - {"start": 0, "middle": 0.5, "end": 1}[e.anchor] * text_width(e.text, e.size, e.bold)
            assert picture.x <= start
            assert start + text_width(e.text, e.size, e.bold) <= right
            assert picture.y < e.y <= bottom


def test_text_on_cards_stays_on_its_card() -> None:
    long = "an unusually long name for a graphics processor, number 3"
    geometry = lay_out(Design.model_validate({"name": "d", "parts": [Part(id="g", kind="gpu", name=long)]}))
    picture = _picture(geometry, legend=False)
    card = next(e for e in picture.elements if isinstance(e, Panel))
    label = next(e for e in picture.elements if isinstance(e, Label))
    assert label.x + text_width(label.text, label.size, label.bold) <= card.x + card.width
    assert label.text.endswith("3")


def test_a_name_of_two_lines_is_reported_in_full() -> None:
    name = "Storage leaves, servers"
    geometry = lay_out(Design.model_validate({"name": "d", "parts": [Part(id="s", kind="switch", name=name)]}))
    texts = [e.text for e in _picture(geometry, legend=False).elements if isinstance(e, Label)]
    assert texts[:2] == ["Storage leaves,", "servers"]


def test_svg_is_well_formed_the_same_twice_and_says_what_is_drawn() -> None:
    picture = _picture(lay_out(one_server()), title="One server")
    text = to_svg(picture)
    assert text == to_svg(picture)
    root = fromstring(text)
    assert root.find(f"{_SVG}title").text == "One server"  # type: ignore[union-attr]
    words = {e.text for e in root.iter(f"{_SVG}text")}
    assert {"gpu0", "NVLink", "One server"} <= words
    used = {e.attrib["href"][1:] for e in root.iter(f"{_SVG}use")}
    assert used == {e.attrib["id"] for e in root.iter() if "id" in e.attrib}


def test_pictures_take_any_text() -> None:
    hostile = "<script>&'\"\x00\x0b\ufffe]]>\u05d0\U0001f600"
    note = Annotation(id="n", text=hostile, position=Position(x=0, y=0))
    part = Part(id="g", kind="gpu", name=hostile)
    design = Design.model_validate({"name": "d", "annotations": [note], "parts": [part]})
    picture = _picture(lay_out(design), title=hostile)
    root = fromstring(to_svg(picture))
    assert not list(root.iter(f"{_SVG}script"))
    assert to_png(picture, 0.5).startswith(b"\x89PNG")
    assert to_pdf(picture).startswith(b"%PDF-")


def test_svg_can_carry_its_fonts() -> None:
    text = to_svg(_picture(lay_out(one_server())), embed_fonts=True)
    assert text.count("@font-face") == 2
    fromstring(text)


def test_png_has_the_wanted_size_and_is_not_empty() -> None:
    image = pytest.importorskip("PIL.Image")
    picture = _picture(lay_out(one_server()), "dark")
    made = image.open(io.BytesIO(to_png(picture, 0.5)))
    assert made.size == (round(picture.width / 2), round(picture.height / 2))
    assert len(made.getcolors(1 << 20)) > 50
    assert made.getpixel((0, 0)) == rgb(palette("dark").surface["canvas"])


def test_a_huge_picture_becomes_a_smaller_png() -> None:
    image = pytest.importorskip("PIL.Image")
    picture = Picture((Panel(0, 0, 400_000, 300, fill="#112233"),), 0, 0, 400_000, 300, "#ffffff")
    made = image.open(io.BytesIO(to_png(picture, 4)))
    assert made.size[0] <= 16_000


def test_pdf_is_one_page_the_same_twice() -> None:
    pytest.importorskip("reportlab")
    picture = _picture(lay_out(one_unit(), frozenset()))
    data = to_pdf(picture)
    assert data.startswith(b"%PDF-")
    assert data == to_pdf(picture)
    assert data.count(b"/Type /Page\n") == 1
    assert b"Inter" in data


def test_a_selection_is_drawn_with_what_it_contains_and_the_connections_among_it() -> None:
    geometry = lay_out(one_unit(), frozenset({(("servers", None),)}))
    picture = _picture(geometry, chosen=frozenset({"servers[*]/gpu0", "servers[*]/nvsw0"}), legend=False)
    assert {e.text for e in picture.elements if isinstance(e, Label)} == {"gpu0", "nvsw0"}
    links = set(palette("light").links.values())
    assert sum(isinstance(e, Stroke) and e.colour in links for e in picture.elements) == 1
    whole = _picture(geometry, chosen=frozenset({"servers"}), legend=False)
    assert sum(isinstance(e, Stroke) and e.colour in links for e in whole.elements) == 61
    with pytest.raises(ExchangeError):
        _picture(geometry, chosen=frozenset({"servers[*]/nobody"}))


def _loaded(full: str) -> tuple[Geometry, Picture, list[str]]:
    design = one_unit(servers=4)
    net = elaborate(design)
    load, share = np.zeros(2 * net.n_links), np.zeros(2 * net.n_links)
    ids = [f"{net.link_path(i)}:ab" for i in range(net.n_links)]
    number = 2 * ids.index(full)
    load[number], share[number] = 40e9, 0.97
    geometry = lay_out(design, frozenset({(("servers", 0),)}))
    loads = loads_of(geometry, load, share, (Bottleneck("channel", full, full, ""),))
    picture = compose(geometry, palette("light"), Options(), loads)
    return geometry, picture, [e.text for e in picture.elements if isinstance(e, Label)]


def test_a_binding_link_has_a_badge_with_its_numbers_and_its_colour() -> None:
    geometry, picture, texts = _loaded("servers[0]/cpu0--psw0:ab")
    # 40 GB/s are 97 % of what the link can achieve
    assert "40 / 41.2 GB/s" in texts
    strokes = [e for e in picture.elements if isinstance(e, Stroke)]
    full = themed(palette("light")).heat[-1]
    assert sum(e.colour == full and e.opacity == 1 for e in strokes) >= 1
    assert texts.count("limits") == 1
    assert len(strokes) >= 2 * geometry.n_connections


def test_a_part_that_binds_by_itself_has_a_badge_at_its_card() -> None:
    design = one_unit(servers=4)
    net = elaborate(design)
    geometry, quiet = lay_out(design, frozenset({(("servers", 0),)})), np.zeros(2 * net.n_links)
    binding = (Bottleneck("compute", "servers[0]/gpu0", "", "", equal=32), Bottleneck("limit", "overhead", "", ""))
    loads = loads_of(geometry, quiet, quiet, binding)
    assert [geometry.refs[i].id for i in np.flatnonzero(loads.box_bottleneck)] == ["gpu0"]
    picture = compose(geometry, palette("light"), Options(), loads)
    assert [e.text for e in picture.elements if isinstance(e, Label)].count("limits ×32") == 1
    # in a closed group its card has the badge
    closed = loads_of(lay_out(design), quiet, quiet, binding)
    assert [lay_out(design).refs[i].id for i in np.flatnonzero(closed.box_bottleneck)] == ["servers"]
    # as it has for a link inside
    inner = Bottleneck("channel", "servers[0]/cpu0--psw0:ab", "", "")
    hidden = loads_of(lay_out(design), quiet, quiet, (inner,))
    assert [lay_out(design).refs[i].id for i in np.flatnonzero(hidden.box_bottleneck)] == ["servers"]


def test_the_fullest_link_speaks_for_a_bundle() -> None:
    design = one_unit(servers=4)
    net = elaborate(design)
    share = np.zeros(2 * net.n_links)
    rail = 2 * [net.link_path(i) for i in range(net.n_links)].index("rails[9]")
    share[rail] = 1.0
    geometry = lay_out(design, frozenset())
    loads = loads_of(geometry, share * 50e9, share)
    connection = next(w for w in range(geometry.n_connections) if geometry.connection_links(w)[1][0].id == "rails")
    assert loads.used[connection].tolist() == [1.0, 0.0]
    assert loads.load[connection, 0] == 50e9


def test_a_connection_drawn_from_the_other_end_has_its_directions_swapped() -> None:
    parts = [Part(id="a", kind="gpu"), Part(id="b", kind="gpu")]
    links = [
        {"id": "one", "a": "a", "b": "b", "kind": "nvlink"},
        {"id": "two", "a": "b", "b": "a", "kind": "nvlink"},
    ]
    design = Design.model_validate({"name": "d", "parts": parts, "links": links})
    share = np.array([0.0, 0.0, 0.7, 0.1])
    loads = loads_of(lay_out(design), share * 25e9, share)
    assert loads.used.tolist() == [[0.1, 0.7]]


@given(st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), min_size=2, max_size=6))
def test_dashes_lie_on_their_line_and_cover_their_share_of_it(points: list[tuple[float, float]]) -> None:
    def length(line: list[tuple[float, float]]) -> float:
        return float(np.linalg.norm(np.diff(np.array(line), axis=0), axis=1).sum())

    drawn = sum(length(piece) for piece in dashes(points))
    assert drawn <= length(points) + 1e-6
    assert abs(drawn - DASH[0] / sum(DASH) * length(points)) <= DASH[1] + 1e-6


def test_curves_start_and_end_where_they_should() -> None:
    corners = ((0.0, 0.0), (0.0, 50.0), (100.0, 50.0), (100.0, 100.0))
    line = flat_curve(corners)
    assert line[0] == corners[0]
    assert line[-1] == pytest.approx(corners[-1])
    assert len(line) > 5


@pytest.mark.parametrize("bold", [False, True])
def test_widths_are_those_of_the_font_file(bold: bool) -> None:
    """At a size of its own design units every advance is a whole number, and a line is the sum of its characters."""
    units = 2816.0
    for character in "AVWMil .,0123456789µ→×–":
        width = text_width(character, units, bold)
        assert width == pytest.approx(round(width), abs=1e-6)
        assert 0 < width <= units * 1.1
    assert text_width("AV", units, bold) == text_width("A", units, bold) + text_width("V", units, bold)
    assert text_width("M", 2 * units, bold) == pytest.approx(2 * text_width("M", units, bold))


def test_virtual_machines_stand_in_exported_pictures_as_on_the_canvas() -> None:
    design = open_any("vsphere-cluster-4").design
    geometry, colours = lay_out(design), palette("light")
    shown = {e.text for e in compose(geometry, colours).elements if isinstance(e, Label)}
    assert all(vm.label in shown for vm in design.vms.values())
    without = compose(geometry, colours, Options(machines=False))
    assert not any(vm.label == e.text for vm in design.vms.values() for e in without.elements if isinstance(e, Label))
    # 30 more of each are too many to name: every tray states how many it has
    many = {
        f"{vm.id}-{k}": vm.model_copy(update={"id": f"{vm.id}-{k}"}) for vm in design.vms.values() for k in range(30)
    }
    crowd = compose(lay_out(design.model_copy(update={"vms": many})), colours)
    counts = [e.text for e in crowd.elements if isinstance(e, Label) and re.fullmatch(r"\d+ (VMs|not placed)", e.text)]
    assert sum(int(text.split()[0]) for text in counts) == len(many)
