"""Numbers of parts and links are kept narrow, and their products are not: nothing changes where they are narrower yet.

A cluster of 98,304 accelerators has half a million parts: numbers fit into 32 bits, a number times how many there are
does not, and numpy wraps around without a word. In 16 bits a unit of 32 servers reaches what the cluster reaches in 32:
it has two thousand parts, and any product of their numbers that is not widened first is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from designer.analysis.study import analyze
from designer.cli.documents import analysis_document
from designer.cli.main import run
from designer.design import elaborate
from designer.design.document import Design
from designer.engine.network import frame
from designer.engine.routes import folding, hop_loads
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.properties.test_classes_of_resources import clusters, shrunk


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """Nothing of another width is known before or after."""
    forget()
    yield
    forget()


def of_width(kind: type[np.integer[Any]], answer: Any) -> Any:
    """What is answered while numbers are kept in so many bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elaborate, "NUMBER", kind)
        patch.setattr(frame, "NUMBER", kind)
        forget()
        try:
            return answer()
        finally:
            forget()


def large() -> Design:
    """A unit of 16 servers: products of its numbers need more than 16 bits, its channels do not."""
    whole = open_design("su-h100-32")
    return whole.model_copy(update=shrunk(whole, {"servers": 16}))


def answered(design: Design) -> str:
    """All that is found out of a design, as the JSON of the program has it."""
    found = analyze(design, curves=False)
    findings = [*found.findings, *(f for w in found.workloads for f in w.findings)]
    return json.dumps(analysis_document(found, findings, None), sort_keys=True)


def test_the_unit_is_large_enough_to_overflow_and_small_enough_to_be_numbered() -> None:
    net = elaborate.elaborate(large())
    most = np.iinfo(np.int16).max
    assert net.n_parts**2 > most
    assert net.n_parts * len(net.part_defs) > most
    assert 2 * net.n_links < most


@pytest.mark.parametrize("folds", [True, False])
def test_analyses_are_the_same_in_16_bits(folds: bool) -> None:
    """Collectives, transfers and training; in classes, and every flow by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_LIMIT", 0 if folds else 10**9)
        patch.setattr(hop_loads, "FOLDED_LIMIT", 0 if folds else 10**9)
        narrow = of_width(np.int16, lambda: answered(large()))
        assert narrow == of_width(np.int64, lambda: answered(large()))


@settings(max_examples=8, deadline=None)
@given(design=clusters())
def test_designs_with_exceptions_are_the_same_in_16_bits(design: Design) -> None:
    assert of_width(np.int16, lambda: answered(design)) == of_width(np.int64, lambda: answered(design))


@pytest.mark.parametrize("command", ["check", "summary"])
def test_commands_say_the_same_in_16_bits(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    def said() -> str:
        run([command, "su-h100-32", "--json"])
        return capsys.readouterr().out

    narrow = of_width(np.int16, said)
    assert len(narrow) > 2
    assert narrow == of_width(np.int64, said)


def test_the_bill_of_materials_is_the_same_in_16_bits(tmp_path: Path) -> None:
    def bill() -> str:
        out = tmp_path / "bill.csv"
        assert run(["bom", "su-h100-32", "-o", str(out)]) == 0
        text = out.read_text(encoding="utf-8")
        out.unlink()
        return text

    assert of_width(np.int16, bill) == of_width(np.int64, bill)
