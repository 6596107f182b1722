"""Power, racks and height units."""
