"""SimGrid platforms: cabinets and host links of cluster zones, and what a property lists."""

from __future__ import annotations

from collections import Counter

import pytest

from designer.design.document import Design
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.importing import read_bytes

#: two clusters of three cabinets of ten hosts, as in the meta cluster of the SimGrid examples
CABINETS = """<?xml version='1.0'?>
<platform version="4">
<AS id="AS0" routing="Full">
  <AS id="c1" routing="Cluster">
    <cabinet id="cabinet1" prefix="host-" suffix=".c1" speed="1Gf" bw="125MBps" lat="100us" radical="1-10"/>
    <cabinet id="cabinet2" prefix="host-" suffix=".c1" speed="1Gf" bw="125MBps" lat="100us" radical="11-30"/>
    <router id="router1"/>
    <backbone id="backbone1" bandwidth="2.25GBps" latency="500us"/>
  </AS>
  <AS id="c2" routing="Cluster">
    <cabinet id="cabinet1" prefix="host-" suffix=".c2" speed="1Gf" bw="125MBps" lat="100us" radical="1-30"/>
    <router id="router2"/>
  </AS>
  <link id="link1-2" bandwidth="2.25GBps" latency="500us"/>
  <ASroute src="c1" dst="c2" gw_src="router1" gw_dst="router2"><link_ctn id="link1-2"/></ASroute>
</AS>
</platform>
"""

HOST_LINKS = """<platform version="4">
<zone id="c1" routing="Cluster">
  <router id="router1"/>
  <host id="host1" speed="1Gf"/>
  <link id="l1_UP" bandwidth="125MBps" latency="100us"/>
  <link id="l1_DOWN" bandwidth="100MBps" latency="100us"/>
  <host_link id="host1" up="l1_UP" down="l1_DOWN"/>
  <host id="host2" speed="1Gf"/>
  <link id="l2" bandwidth="125MBps" latency="100us" sharing_policy="FULLDUPLEX"/>
  <host_link id="host2" up="l2_UP" down="l2_DOWN"/>
  <host id="host3" speed="1Gf"/>
  <link id="l3" bandwidth="125MBps" latency="100us"/>
  <host_link id="host3" up="l3" down="l3"/>
</zone>
</platform>
"""


def _kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def test_every_host_of_a_cabinet_is_read() -> None:
    """Ten and twenty hosts of one cluster, thirty of the other: 60, each with one cable to its router."""
    design = read_bytes(CABINETS.encode()).design
    assert _kinds(design) == {"server": 60, "nic": 60, "switch": 2}
    assert Counter(raw_rate(link)[0] for link in design.links.values()) == {125e6: 60, 2.25e9: 1}
    router = next(part for part in design.parts.values() if part.name == "router1")
    assert router.overrides["bandwidth_per_direction"].value == "2.25 GB/s"
    assert sum(part.attributes.get("cabinet") == "cabinet2" for part in design.parts.values()) == 20


def test_hosts_of_a_cluster_zone_hang_on_their_own_links() -> None:
    """Two links of one host count once, at the slower rate; one link may be both ways of a host."""
    design = read_bytes(HOST_LINKS.encode()).design
    assert _kinds(design) == {"server": 3, "nic": 3, "switch": 1}
    assert sorted(raw_rate(link)[0] for link in design.links.values()) == [100e6, 125e6, 125e6]


def test_a_host_link_to_nothing_is_refused_with_its_line() -> None:
    with pytest.raises(ExchangeError, match="not there") as refusal:
        read_bytes(HOST_LINKS.replace('down="l3"', 'down="l4"').encode())
    assert refusal.value.place == "line 13"


def test_hosts_of_a_kind_that_is_not_read_are_counted() -> None:
    text = HOST_LINKS.replace("</zone>", '<peer id="p1" speed="1Gf" bw_in="1MBps" bw_out="1MBps" lat="1ms"/></zone>')
    (finding,) = [f for f in read_bytes(text.encode()).findings if f.code == "IMP-KIND"]
    assert "1 <peer>" in finding.text


@pytest.mark.parametrize("listed", ["", "9 x 1e9Bps infiniband", "1 x 1e400Bps ethernet", "x", "2 x 1e9Bps copper"])
def test_a_list_of_cables_that_is_not_the_link_counts_for_nothing(listed: str) -> None:
    text = f"""<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
    <link id="l" bandwidth="2GBps" latency="1us"><prop id="cables" value="{listed}"/></link>
    <route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>"""
    links = list(read_bytes(text.encode()).design.links.values())
    assert [(link.count, raw_rate(link)[0], link.kind) for link in links] == [(1, 2e9, "fabric")]
