"""Rail-optimised: the i-th NIC of every server to leaf i; more leaves than rails make units of servers.

With R NICs a server and U·R leaves, the servers are cut into U blocks, and block u uses leaves u·R to u·R+R−1.
Sources: NVIDIA DGX SuperPOD reference architecture RA-11333-001.
"""

import numpy as np

from designer.design.joining import Indices, Pattern, Selection, present
from designer.errors import DocumentError


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """NIC r of server s to leaf ``unit(s) * R + r``."""
    servers, rails = a.index.shape
    leaves = b.flat
    if len(leaves) % rails:
        raise DocumentError(
            f"{rails} NICs a server need a multiple of {rails} leaves, here {len(leaves)}",
            remedy=f"use {rails} leaves for each unit of servers",
        )
    units = len(leaves) // rails
    unit = np.arange(servers) * units // servers
    return present(a.places, leaves[(unit[:, None] * rails + np.arange(rails)).ravel()])


PATTERN = Pattern("rails", "Rails", join, "NIC i of every server to leaf i")
