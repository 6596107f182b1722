"""An example of an extension: one object of each sort that a package can add to designer."""

from pathlib import Path

#: part files, at <kind>/<vendor>/<part>.toml
CATALOG = Path(__file__).parent / "catalog"
