"""PCIe trees: uplinks, locality, peer-to-peer."""
