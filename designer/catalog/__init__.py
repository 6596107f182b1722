"""What can be bought: part kinds, link kinds, and the catalog of part types."""
