"""The design document: frozen, complete, without references to anything outside itself.

A design is a *block* (parts, links, groups, wirings) with a title, the part types it uses, virtual machines,
workloads, assertions and notes. A group repeats a block; a wiring joins members of groups by a pattern. Nothing here
changes: an edit is a function from design to design (``designer.design.edits``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, PlainSerializer, model_validator

from designer.catalog.parttype import PartType, SourceRecord
from designer.design.name_pattern import check_pattern
from designer.displayed import Displayed
from designer.errors import DocumentError
from designer.fields import (
    DataRate,
    DataRateOrZero,
    DataSize,
    Frequency,
    Frozen,
    Quantity,
    Share,
    SomeData,
    SomeMass,
    SomePower,
    SomeTime,
)
from designer.sources import Status

#: more replicas than this in one group are refused, as is a design of more than MAX_PARTS parts after elaboration
MAX_REPLICAS = 1_000_000
MAX_PARTS = 4_000_000
#: corners of a link drawn by hand
MAX_BENDS = 64
#: no rack is taller
MAX_RACK_UNITS = 100
#: what nearly every id is made of: stated by one look at it
_USUAL_ID = re.compile(r"[A-Za-z0-9_.:#()-]{1,200}", re.ASCII).fullmatch
_FORBIDDEN_IN_ID = frozenset("/[]*{}\"'`<>|\\")


def check_id(text: str) -> str:
    """`text` if it can be an id: 1 to 200 printable characters, none of ``/ [ ] * { } < > |``, no blank ends."""
    if _USUAL_ID(text):
        return text
    if not text or len(text) > 200 or text != text.strip() or not text.isprintable():
        raise ValueError(f"{text[:40]!r} cannot be an id: use 1 to 200 printable characters without blanks at the ends")
    if not _FORBIDDEN_IN_ID.isdisjoint(text):
        bad = sorted(_FORBIDDEN_IN_ID & set(text))
        raise ValueError(f"{text[:40]!r} cannot be an id: {' '.join(bad)} are not allowed")
    return text


def check_day(text: str) -> str:
    """`text` if it is a day, ``2027-01-31``."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no day: write it as 2027-01-31") from None


Id = Annotated[str, AfterValidator(check_id)]
#: a path to a part: an id, or through groups ``pods[0]/servers[3]/gpu0``; in wirings ``servers[*]/nic*``
PartPath = Annotated[str, Field(min_length=1, max_length=1000)]
_Item = TypeVar("_Item", bound="Named")
_Thing = TypeVar("_Thing", bound=Frozen)


class Named(Frozen):
    """Something with an id that is unique in its list."""

    id: Id


def _by_id(items: object) -> object:
    """A list of things with ids as a mapping; a mapping must be keyed by the ids of its values."""
    if isinstance(items, Mapping):
        for key, item in items.items():
            if getattr(item, "id", key) != key:
                raise ValueError(f"{key!r} is the key of {item.id!r}")
        return items
    if not isinstance(items, list | tuple):
        raise ValueError("must be a list")
    keyed: dict[str, Any] = {}
    for item in items:
        key = item.get("id") if isinstance(item, dict) else getattr(item, "id", None)
        if not isinstance(key, str):
            raise ValueError("every item needs an id")
        if key in keyed:
            raise DocumentError(f"the id {key!r} exists twice", remedy="give one of them another id")
        keyed[key] = item
    return keyed


def _sorted_values(items: Mapping[str, Any]) -> list[Any]:
    return [items[key] for key in sorted(items)]


_AsList = (BeforeValidator(_by_id), PlainSerializer(_sorted_values, return_type=list[Any]))


class Position(Frozen):
    """Place on the canvas in scene units (pixels at 1:1), relative to the top left corner of the container."""

    x: int
    y: int


class Size(Frozen):
    """Extent on the canvas in scene units."""

    width: int = Field(ge=8, le=1_000_000)
    height: int = Field(ge=8, le=1_000_000)


class Part(Named):
    """The use of a part type in a design; ``parent`` is the id of the part that contains it."""

    kind: str = Field(min_length=1, max_length=60)
    type: str = ""
    name: str = Field(default="", max_length=10_000)
    parent: Id | None = None
    # a mapping given as the default would be copied deeply, part by part
    overrides: Mapping[str, Quantity] = Field(default_factory=dict[str, Quantity])
    attributes: Mapping[str, str] = Field(default_factory=dict[str, str])
    position: Position | None = None
    size: Size | None = None
    collapsed: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        """Name for people."""
        return self.name or self.id


class LinkValues(Frozen):
    """What a link and a wiring have in common: a bundle of ``count`` equal parallel links and their speed.

    The raw capacity of one link per direction is ``bandwidth_per_direction``; where that is missing, a PCIe link takes
    it from generation and lanes, and any other from its kind's default, marked assumed.
    """

    kind: str = Field(min_length=1, max_length=60)
    count: int = Field(default=1, ge=1, le=100_000)
    bandwidth_per_direction: DataRate | None = None
    generation: int | None = Field(default=None, ge=1, le=7)
    lanes: int | None = Field(default=None, ge=1, le=64)
    status: Status = Status.SECONDARY
    source: str = ""
    attributes: Mapping[str, str] = Field(default_factory=dict[str, str])
    note: str = ""


class Link(Named, LinkValues):
    """A bundle of ``count`` equal links between two parts; each end is a part id or a path to a member of a group.

    ``bends`` are the corners of a way drawn by hand, from a to b, as positions in the innermost container of both ends;
    without them the canvas finds a way.
    """

    a: PartPath
    b: PartPath
    a_port: str = ""
    b_port: str = ""
    bends: Annotated[tuple[Position, ...], Field(max_length=MAX_BENDS)] = ()


class Wiring(Named, LinkValues):
    """Links by a pattern between selected parts: ``a`` and ``b`` are paths with ``[*]`` and ``*`` in them."""

    pattern: str
    a: PartPath
    b: PartPath


#: a part or link with its fields is 2.7 kB; measured on imports of 7,000 of them
_NUMBERS_OF_AN_ITEM: Final = 340


class Block(Frozen):
    """Parts and how they are joined; the content of a design and of a group."""

    parts: Annotated[Mapping[str, Part], *_AsList] = {}
    links: Annotated[Mapping[str, Link], *_AsList] = {}
    groups: Annotated[Mapping[str, Group], *_AsList] = {}
    wirings: Annotated[Mapping[str, Wiring], *_AsList] = {}

    @property
    def extent(self) -> int:
        """Its memory in numbers of 8 bytes, about; blocks inside its groups have their own. See ``designer.memo``."""
        items = len(self.parts) + len(self.links) + len(self.groups) + len(self.wirings)
        return items * _NUMBERS_OF_AN_ITEM


class Group(Named):
    """A block repeated ``replicas`` times; ``exceptions`` give single members, by index, a block of their own.

    Parameters
    ----------
    naming
        Pattern of the names that its members have in exports and comparisons, such as ``node{001}``; see
        ``designer.design.name_pattern``. Without one they are called by the id of the group.
    """

    name: str = ""
    naming: Annotated[str, AfterValidator(check_pattern)] = ""
    replicas: int = Field(ge=1, le=MAX_REPLICAS)
    content: Block
    exceptions: Mapping[int, Block] = {}
    parent: Id | None = None
    position: Position | None = None
    collapsed: bool = True
    note: str = ""

    @property
    def label(self) -> str:
        """Name for people."""
        return self.name or self.id

    def member(self, index: int) -> Block:
        """The block of member `index`."""
        return self.exceptions.get(index, self.content)


#: what a host runs: a vSphere release, or KVM
HypervisorRelease = Literal["7.0", "7.0 U1", "7.0 U2", "7.0 U3", "8.0", "8.0 U1", "8.0 U2", "8.0 U3", "9.0", "kvm"]


class VmDevice(Frozen):
    """A device given to a virtual machine: a part, a vGPU or MIG profile, an SR-IOV function, a device group.

    Parameters
    ----------
    part
        The part it is, or the GPU a virtual GPU sits on; chosen automatically where it is missing.
    profile
        Name of a vGPU or MIG profile, as vSphere writes it (``grid_a100d-20c``) or short (``20C``).
    count
        How many equal ones; of a device group the number of its GPUs.
    placement
        Placement ID on the GPU, first MIG slice, or partition of a device group; chosen where it is missing.
    memory_used
        Frame buffer or device state in use; all of the profile where it is not given.
    """

    kind: Literal["passthrough", "dynamic_directpath", "vgpu", "mig_vgpu", "sriov", "device_group", "dpu"]
    part: PartPath | None = None
    profile: str = Field(default="", max_length=100)
    count: int = Field(default=1, ge=1, le=64)
    placement: int | None = Field(default=None, ge=0, le=10_000)
    memory_used: SomeData | None = None


class VirtualMachine(Named):
    """A virtual machine and where it runs.

    Parameters
    ----------
    host
        The server it runs on; a place is looked for where it is missing.
    memory_reservation
        Memory kept for it alone; with devices all of it, by itself since 8.0.
    hardware_version
        Of the virtual machine; the newest of its release where it is missing.
    release
        What its host runs, if the host does not say.
    dirty_rate, page_rate
        Memory written while it runs, stated as a rate or in pages of 4 KiB per second.
    working_set
        What can be dirty at most; all its memory where it is missing.
    filled_memory
        Memory it has ever written and that is not zero: what a migration sends; all its memory where it is missing.
    stun_limit
        Longest pause allowed when it moves; 100 s where it is missing.
    gpu_duty
        Share of the time it keeps its GPUs busy, such as ``0.4``.
    """

    name: str = ""
    host: PartPath | None = None
    vcpus: int = Field(default=1, ge=1, le=10_000)
    memory: SomeData = "4 GiB"
    memory_reservation: DataSize | None = None
    hardware_version: int | None = Field(default=None, ge=4, le=99)
    release: HypervisorRelease | None = None
    devices: tuple[VmDevice, ...] = ()
    dirty_rate: DataRateOrZero | None = None
    page_rate: Frequency | None = None
    working_set: DataSize | None = None
    filled_memory: SomeData | None = None
    stun_limit: SomeTime | None = None
    gpu_duty: Share | None = None
    settings: Mapping[str, JsonValue] = {}
    note: str = ""

    @property
    def label(self) -> str:
        """Name for people."""
        return self.name or self.id


class WorkloadSpec(Named):
    """Something to run on the design: a workload kind and its settings, which that kind checks."""

    kind: str = Field(min_length=1, max_length=60)
    title: str = ""
    settings: Mapping[str, JsonValue] = {}
    note: str = ""


class Assertion(Named):
    """A promise the design must keep: a metric of a workload compared with a value, or an expression.

    Parameters
    ----------
    expression
        What must hold, in the language of design tests; where it is given, nothing else is.
    """

    workload: Id | None = None
    metric: str = ""
    comparison: Literal["<=", ">=", "<", ">", "=="] = ">="
    value: str = ""
    expression: str = Field(default="", max_length=2000)
    note: str = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Assertion:
        parts = (self.workload is not None, bool(self.metric), bool(self.value))
        if any(parts) if self.expression else not all(parts):
            raise ValueError("an assertion needs a workload, a metric and a value, or an expression alone")
        return self

    @property
    def text(self) -> str:
        """The promise in words of the language of design tests."""
        return self.expression or f'{self.metric}("{self.workload}") {self.comparison} {self.value}'


class Waiver(Named):
    """A finding of a rule that was looked at and accepted.

    Parameters
    ----------
    code
        The rule's code.
    where
        The places of the finding; without any the waiver covers the rule everywhere.
    author
        Who accepted it, as text.
    expires
        Last day on which it holds, as ``2027-01-31``; without one it holds for good.
    """

    code: str = Field(min_length=1, max_length=60)
    where: tuple[PartPath, ...] = ()
    reason: str = Field(min_length=1, max_length=2000)
    author: str = Field(min_length=1, max_length=200)
    expires: Annotated[str, AfterValidator(check_day)] | None = None


class RackPlace(Frozen):
    """Where a unit is in a rack.

    Parameters
    ----------
    unit
        The lowest rack unit it takes, counted from 1 at the floor.
    feed
        The power feed it hangs on, ``A`` to ``D``; without one it shares all of them.
    """

    unit: int = Field(ge=1, le=MAX_RACK_UNITS)
    feed: Literal["", "A", "B", "C", "D"] = ""


class Elevation(Named):
    """What is where in a rack, apart from how the drawing groups it.

    Parameters
    ----------
    part
        The rack as drawn, whose units are in it and whose values are its limits; without one the rack is not drawn
        and its limits are here.
    height
        Rack units.
    power
        What it can feed while one of its feeds is lost.
    feeds
        How many power feeds it has, two where it is not given.
    weight_capacity
        What it can carry.
    units
        Paths of the units whose place is fixed.
    """

    name: str = Field(default="", max_length=10_000)
    part: PartPath | None = None
    height: int | None = Field(default=None, ge=1, le=MAX_RACK_UNITS)
    power: SomePower | None = None
    feeds: int | None = Field(default=None, ge=1, le=4)
    weight_capacity: SomeMass | None = None
    units: Mapping[PartPath, RackPlace] = {}
    note: str = ""

    @property
    def label(self) -> str:
        """Name for people."""
        return self.name or self.id


class Annotation(Named):
    """A note in front of all parts, or a frame behind them; among their like those of higher ``order`` are in front."""

    text: str = Field(max_length=20_000)
    position: Position
    size: Size | None = None
    style: Literal["note", "frame"] = "note"
    order: int = Field(default=0, ge=-1_000_000_000, le=1_000_000_000)


class Policy(Frozen):
    """How traffic chooses its way."""

    gpudirect: bool = True
    rail_affinity: bool = True
    numa_local: bool = True
    #: over equal paths flows spread evenly, are hashed to one of them each, or go packet by packet where there is room
    ecmp: Literal["split", "hash", "adaptive"] = "split"
    hash_seed: int = 0
    #: queue pairs of a flow, each of which is hashed for itself
    hash_flows: int = Field(default=1, ge=1, le=64)
    #: GPUs may pass data on for pairs without a direct accelerator link, as NCCL does for send and receive
    relay_through_gpu: bool = False
    #: access control services send peer-to-peer traffic up to the root complex
    pcie_acs: bool = False
    #: farthest peers over PCIe that collectives write to directly, as NCCL_P2P_LEVEL says (PXB, PHB, SYS); others stop
    #: in host memory. ``auto`` as the library does: below one switch on Intel hosts, everywhere on others
    peer_level: Literal["auto", "switch", "socket", "system"] = "auto"
    #: tier of host memory that buffers lie in; ``auto`` for DRAM where there is some
    memory_tier: Literal["auto", "dram", "hbm", "cxl", "pmem"] = "auto"


class Design(Block, Displayed):
    """A whole design."""

    name: str = Field(min_length=1, max_length=200)
    title: str = ""
    intent: str = ""
    description: str = ""
    part_types: Annotated[Mapping[str, PartType], *_AsList] = {}
    sources: Mapping[str, SourceRecord] = {}
    vms: Annotated[Mapping[str, VirtualMachine], *_AsList] = {}
    workloads: Annotated[Mapping[str, WorkloadSpec], *_AsList] = {}
    assertions: Annotated[Mapping[str, Assertion], *_AsList] = {}
    waivers: Annotated[Mapping[str, Waiver], *_AsList] = {}
    racks: Annotated[Mapping[str, Elevation], *_AsList] = {}
    annotations: Annotated[Mapping[str, Annotation], *_AsList] = {}
    policy: Policy = Policy()
    default_workload: str = ""
    catalog_version: str = ""

    def type_of(self, part: Part) -> PartType | None:
        """The part type of `part` as this design carries it, or None."""
        return self.part_types.get(part.type)

    def quantity(self, part: Part, name: str) -> Quantity | None:
        """The value `name` of a part: its override, else its type's."""
        if name in part.overrides:
            return part.overrides[name]
        part_type = self.part_types.get(part.type)
        return part_type.values.get(name) if part_type else None


Block.model_rebuild()


def with_changes(thing: _Thing, **changes: object) -> _Thing:
    """`thing` with fields changed, validated again through its constructor (``model_copy`` would not check)."""
    fields: dict[str, Any] = {name: getattr(thing, name) for name in type(thing).model_fields}
    return type(thing).model_validate({**fields, **changes})


def replaced(
    mapping: Mapping[str, _Item], items: Iterable[_Item] = (), removed: Iterable[str] = ()
) -> dict[str, _Item]:
    """A copy of `mapping` with `items` put in by their ids and the `removed` ids taken out."""
    copy = dict(mapping)
    for key in removed:
        copy.pop(key, None)
    for item in items:
        copy[item.id] = item
    return copy
