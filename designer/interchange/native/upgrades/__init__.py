"""One step per file from each version of the design file to the next; raw data to raw data."""
