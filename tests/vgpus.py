"""GPU types that can be shared, by the short names tests give them."""

from __future__ import annotations

from designer.catalog.vgpu import VgpuType, load_vgpu_types


def vgpu_type(name: str) -> VgpuType:
    """The shipped GPU type with an id, or with the prefix of its profiles."""
    types = load_vgpu_types()
    return types[name] if name in types else next(each for each in types.values() if each.prefix == name)
