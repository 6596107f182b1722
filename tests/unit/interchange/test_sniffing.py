"""Finding out what a file is takes no longer for a file made to be slow."""

from __future__ import annotations

import time

import pytest

from designer.interchange.importing import importers

HEAD = 64 * 1024
MONSTERS = (
    "\n",
    " ",
    "\t\n",
    "a",
    "a: ",
    "1 ",
    '"',
    "<",
    "[1]",
    "- ",
    "==(",
    ":a",
    "topology:\n",
    "Nodes 1\n",
    "SwitchName",
    "graph {",
    "CA 1 1 0x",
    "manufacturer:\n",
    '"model" : ',
    "\\\n",
)


@pytest.mark.parametrize("name", sorted(importers()))
def test_sniffing_is_linear(name: str) -> None:
    sniff = importers()[name].sniff
    for piece in MONSTERS:
        head = (piece * HEAD)[:HEAD]
        begin = time.process_time()
        sniff(head)
        # a quadratic search of so much text takes 20 s and more
        assert time.process_time() - begin < 2.0, piece
