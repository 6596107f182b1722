"""Packages shipped with the program: formats few people use, and proposals of designs.

Nothing below imports them. They are listed here as an installed package lists its entry points, so that a checkout that
is not installed finds them too, and ``designer.registry`` loads both in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: by group: name and ``module:object``
ENTRY_POINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "designer.importers": {
        "astra-sim": "designer.contrib.astra_sim:IMPORTER",
        "infragraph": "designer.contrib.infragraph.importer:IMPORTER",
        "netq": "designer.contrib.netq:IMPORTER",
        "simai": "designer.contrib.simai:IMPORTER",
        "simgrid": "designer.contrib.simgrid:IMPORTER",
        "topograph": "designer.contrib.topograph:IMPORTER",
        "ufm": "designer.contrib.ufm:IMPORTER",
    },
    "designer.exporters": {
        "astra-sim": "designer.contrib.astra_sim:EXPORTER",
        "astra-sim-system": "designer.contrib.astra_sim:SYSTEM_EXPORTER",
        "chakra": "designer.contrib.chakra:EXPORTER",
        "infragraph": "designer.contrib.infragraph.exporter:EXPORTER",
        "simgrid": "designer.contrib.simgrid:EXPORTER",
    },
    "designer.proposals": {
        "serving-cluster": "designer.contrib.proposals.families.serving_cluster:FAMILY",
        "training-cluster": "designer.contrib.proposals.families.training_cluster:FAMILY",
        "virtual-hosts": "designer.contrib.proposals.families.virtual_hosts:FAMILY",
    },
}
