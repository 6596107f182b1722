"""XML from anywhere: bounded, without entities, refused with a place."""

from __future__ import annotations

import pytest

from designer.errors import ExchangeError
from designer.interchange.foreign.xml import MAX_DEPTH, MAX_ELEMENTS, parse_xml


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
