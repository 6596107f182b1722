"""Where virtual GPUs, MIG instances and NVSwitch groups fit. Integers in, places out.

Sizes and starts of time-sliced profiles are placement units, one per GB of the profile names; MIG counts slices.
"""

from __future__ import annotations

from designer.formulas._vsphere import Release, read_release
from designer.formulas.placement._shapes import (
    AssignmentPolicy,
    BoardLike,
    GpuLike,
    MigLike,
    Mode,
    PartitionLike,
    ProfileLike,
    Resident,
)

__all__ = [
    "AssignmentPolicy",
    "BoardLike",
    "GpuLike",
    "MigLike",
    "Mode",
    "PartitionLike",
    "ProfileLike",
    "Release",
    "Resident",
    "read_release",
]
