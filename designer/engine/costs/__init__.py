"""What a task takes on this drawing: resources with use per unit, caps, latency, band and sources.

A task names the module that prices it, which holds one ``COST`` or several ``COSTS``: ``workload.program.Move`` is
priced by ``costs/move.py``. The clock never sees a formula, and a workload kind never sees a link.
"""

from designer.engine.costs.pricing import Cost, CostKind, Expansion, Price, Priced, Prices, every_work
from designer.engine.costs.resources import ResourceTable

__all__ = ["Cost", "CostKind", "Expansion", "Price", "Priced", "Prices", "ResourceTable", "every_work"]
