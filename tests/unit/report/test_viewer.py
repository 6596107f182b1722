"""The drawing as one offline page."""

from __future__ import annotations

import base64
import hashlib
import re

import designer
from designer.design.document import with_changes
from designer.report.renderers.viewer import LARGEST, to_viewer, view


def test_the_page_is_whole_and_runs_only_its_own_script() -> None:
    design = designer.open_design("vsphere-cluster-4")
    page = to_viewer(design, designer.analyze(design, curves=False))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", page)
    assert 'data-state="hosts"' in page, "a group can be opened"
    assert 'data-workload="evacuate"' in page, "loads can be switched"


def test_a_cluster_of_sixteen_thousand_stays_small() -> None:
    assert len(to_viewer(designer.open_design("cluster-16384"))) < min(3_000_000, LARGEST + 300_000)


def test_names_are_shown_and_not_obeyed() -> None:
    design = designer.open_design("m40-server")
    bad = '"><script>alert(1)</script>'
    parts = [with_changes(p, name=bad) for p in design.parts.values()]
    page = to_viewer(with_changes(design, title=bad, parts=parts))
    assert page.count("<script>") == 1
    assert "alert(1)</script>" not in page
    framed = view(design)._repr_html_()
    assert framed.startswith("<iframe")
    assert "<script>" not in framed
