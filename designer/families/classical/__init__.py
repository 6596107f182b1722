"""Classical algorithms as rooflines: arithmetic and bytes of each pass over the data."""
