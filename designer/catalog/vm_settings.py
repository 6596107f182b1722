"""Settings of virtual machines that rules ask for: each with its title, its dimension and what it means.

A machine may carry other settings too, as an import finds them; these can be given in a form.
"""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Field

VM_SETTINGS: Final = (
    Field("firmware", "Firmware", "text", help="efi or bios"),
    Field("guest", "Guest", "text", help="such as 64-bit Linux"),
    Field("mmio", "Memory window of devices", "size", help="pciPassthru.64bitMMIOSizeGB"),
    Field("model", "Model it serves", "text", help="id of a shipped model, such as llama-3-70b"),
    Field("weights_format", "Format of its weights", "text", help="bf16, fp8, int8, int4 and so on; bf16 if missing"),
    Field("tokens_held", "Tokens held at once", "count", help="of all requests together, with their keys and values"),
    Field("cpu_load", "Load of its CPUs", "ratio", help="share of its virtual CPUs in use; all of them if missing"),
    Field("active_memory", "Memory it works in", "size", help="all its memory if missing"),
    Field("cpu_affinity", "Pinned to cores", "text", help="such as 0-15"),
    Field("cpu_hot_add", "CPU hot add", "flag"),
    Field("hot_add", "Hot add of devices", "flag"),
    Field("suspend", "Is to be suspended", "flag"),
    Field("snapshots", "Snapshots are to be taken", "flag"),
    Field("fault_tolerance", "Fault tolerance", "flag"),
    Field("remote_media", "Remote media attached", "flag"),
    Field("unified_memory", "Unified memory", "flag"),
    Field("debugger", "GPU debugger", "flag"),
    Field("profiler", "GPU profiler", "flag"),
    Field("hotmigrate", "Hot migration of virtual GPUs", "flag", help="vgpu.hotmigrate.enabled"),
    Field("vmotion_encryption", "Encryption while it moves", "text", help="disabled, opportunistic or required"),
    Field("stun_tolerance", "Stun it tolerates", "duration", help="before the application inside gives up"),
    Field("remote_gpu", "GPUs over the network", "text", help="the product that lends them, such as bitfusion"),
)


def vm_setting(name: str) -> Field | None:
    """The setting called `name`, or None."""
    return next((field for field in VM_SETTINGS if field.name == name), None)
