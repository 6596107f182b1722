"""Tables behind the report, one a file; they can be written as CSV and XLSX as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.report.tables.cost import Price
    from designer.report.tables.order import Media
    from designer.report.tables.table_sheet import TableSheet


def tables_of(
    design: Design, prices: Mapping[str, Price] | None = None, media: Media = "any", spares: float | None = None
) -> dict[str, TableSheet]:
    """All tables of a design by name; cost only with prices. `media` and `spares` as in `tables.order`.

    >>> import designer
    >>> tables_of(designer.open_design("m40-server"))["bill"].rows[0][4]
    1
    """
    from designer.report.tables import bill_of_materials, cables, cost, order, power, racks, supply

    found = {
        "bill": bill_of_materials.sheet(design),
        "power": power.sheet(design),
        "racks": racks.sheet(design),
        "supply": supply.sheet(design),
        "cables": cables.sheet(design),
        "cabling": order.sheet(design, media, spares),
    }
    if prices is not None:
        found["cost"] = cost.sheet(design, prices, media=media, spares=spares)
    return found
