"""Access control of PCIe switches on: peer traffic goes up to the root."""

from designer.decisions.fault import misset

FAULT = misset(
    "ACS on",
    "access control sends peer traffic to the root",
    "switch off access control (ACS) on the PCIe switches",
    "pcie_acs",
    False,
)
