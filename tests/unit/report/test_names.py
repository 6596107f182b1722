"""Names in the place of paths, as the terminal prints them."""

from __future__ import annotations

import re

import designer
from designer.design.edits.parts import ChangeParts
from designer.report.assembly import compose_report
from designer.report.names import Naming
from designer.report.renderers.markdown import to_markdown


def test_paths_become_names_and_words_stay() -> None:
    """Members count from 1 for people; what is a plain word in prose is left, at the end of a link it is a part."""
    named = Naming(designer.open_design("su-h100-32"))
    assert named("servers[0]/gpu0 waits for servers[31]/nic7") == "DGX H100 1, GPU 0 waits for DGX H100 32, NIC 7"
    assert named("storage takes 1.3 s") == "storage takes 1.3 s"
    assert named.way("storage → storage_leaves[0]/switch (infiniband ×4)").startswith("Storage → Storage leaf")
    assert named.way("servers[0]/gpu0 ↔ servers[0]/nvsw0") == "DGX H100 1, GPU 0 ↔ DGX H100 1, NVSwitch 0"
    assert named.way("latency of the steps: nvls") == "latency of the steps: nvls"
    assert named("servers[99]/gpu0, nobody/at/all") == "servers[99]/gpu0, nobody/at/all"


def test_a_name_of_two_parts_is_followed_by_its_path() -> None:
    design = designer.open_design("hgx-h100-8")
    equal = ChangeParts(("gpu0", "gpu1"), {"name": "Accelerator"}).apply(design)
    assert Naming(equal)("gpu0 and gpu2") == "Accelerator [gpu0] and GPU 2"


def test_names_of_others_do_no_harm() -> None:
    design = ChangeParts(("gpu0",), {"name": "\x1b[31mred\n\u202eevil" + "x" * 9000}).apply(
        designer.open_design("hgx-h100-8")
    )
    stated = Naming(design)("gpu0 waits")
    assert "\x1b" not in stated
    assert "\n" not in stated
    assert "\u202e" not in stated
    assert len(stated) < 200


def test_one_host_has_one_name_in_a_whole_report() -> None:
    """Members are counted from one in names and from nought in paths: both in one report would empty the wrong host."""
    design = designer.open_design("vsphere-cluster-4")
    spec = design.workloads["evacuate"].model_copy(update={"title": "Empty hosts[0]"})
    design = design.model_copy(update={"workloads": {**design.workloads, "evacuate": spec}})
    stated = to_markdown(compose_report([design]))
    assert re.findall(r"\w*hosts\[\d\]\S*", stated) == []
    assert "Empty ESXi host 1" in stated
    assert "Training 0 cannot restart" in stated
    assert "train0" not in stated
