"""Every code a finding may have, with its title and how severe it may be; the codes of rules are in their files.

One line a code: the code, its severities, its title. ``docs/findings.md`` is made from this table.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

_TABLE: Final = """
ANALYSIS               error          The design cannot be analyzed
ASSERT-BROKEN          error          A test of the design is broken
ASSERT-UNEVALUATED     error          A test of the design cannot be evaluated
BUILT-ABSENT           error          Planned equipment is missing from the dump
BUILT-BY-CABLES        info           Built equipment is matched by its cables, not by name
BUILT-DEGRADED         error          A built cable is slower than planned
BUILT-EXTRA            warning        Cables were built that are not in the design
BUILT-GUESSED          warning        Built equipment is matched by a guess
BUILT-MISSING          error          A planned cable was not built
BUILT-MISWIRED         error          A cable leads to the wrong place
BUILT-OTHER-NETWORK    info           Cables of another network cannot be in the dump
BUILT-UNPLANNED        warning        Equipment was built that is not in the design
CHANNELS-CUT           info           Only the busiest channels are listed
CKPT-TOO-OFTEN         error          Checkpoints follow each other faster than they are written
CLOCK-COLD             info           From when on an engine that starts cold answers
CLOCK-LONG             warning        The simulation ended early, with its budget of events used up
CLOCK-MEMORY           error          Workloads want more memory together than a part has
CLOCK-MET              info           A workload was slowed by another one
CLOCK-SATURATED        error          More work arrives than can be done
CLOCK-SHIFT            info           Starting a workload later would make all of them faster
CLOCK-SHORT            warning        The simulated time is too short for some figures
CLOCK-SLOWED           info           A workload takes longer with the others running
CLOCK-STUCK            error          A task cannot go on in the time simulated
COLL-OTHER-NETWORK     warning        Traffic of accelerators runs over a network meant for something else
COLL-PLAN              info           Another algorithm or protocol would take less
COLL-SHARP-OFF         warning,info   Reduction in the switches is not counted
DATA-UNSURE            info           The speed of some links is not certain
DOC-CIRCLE             error          A part contains itself
DOC-DANGLING           error          Something refers to a part that does not exist
DOC-EXCEPTION          error          An exception of a group names a member it does not have
DOC-KIND               warning        The kind of a part or link is unknown
DOC-MISFIT             error          A link joins parts whose ports do not fit
DOC-PORTS              error          A part has more links than ports or lanes
DOC-REFERENCE          warning        A setting refers to something that does not exist
DOC-SELF               error          Both ends of a link are the same part
DOC-SIZE               error          The design is too large
DOC-TYPE               warning        The type of a part is missing or does not fit its kind
DOC-VALUE              warning,error  A value does not fit its part
DOC-WIRING             error          The pattern of a wiring does not fit the numbers of its parts
DOC-WORKLOAD           error          A setting of a workload cannot be read
FLOW-HASHED            info           Traffic is hashed to single paths
FLOW-NO-WAY            error          Some flows have no path
FLOW-STEADY            info           Rates are steady: queueing is not modelled
FMT-UNKNOWN            warning        The file holds something unknown that will not be kept
GAP-CONTENTS           warning        The contents of servers are not in the design
GAP-IDLE               warning        A link speed was read while the machine was idle
GAP-NVLINK             warning        The NVLinks of GPUs are not in the imported file
GAP-SPEED              info           Speeds of links are assumed
GAP-VIRTUAL            warning        A link speed is that of a virtual machine
GAP-XGMI               warning        The xGMI links of GPUs are not in the imported file
HA-SHAPE               warning        A failed host leaves no place for some machines
IMP-AGGREGATION        info           Aggregation nodes belong to their switches
IMP-ASSUMED-C2C        warning        The speed of a chip-to-chip link is assumed
IMP-ASSUMED-GPU        warning        The type of the GPUs is assumed
IMP-ASSUMED-LINK       warning        The speed of accelerator links is assumed
IMP-ASSUMED-MEMORY     info           The bandwidth of memory is assumed
IMP-ASSUMED-PCIE       warning        The speed of PCIe links is assumed
IMP-ASSUMED-RATE       warning        The rate of network links is assumed
IMP-ASSUMED-SOCKET-LINK warning       The links between sockets are assumed
IMP-ASSUMED-TRUNK      warning        The links between NVSwitches are assumed
IMP-BLOCK              info           A block of nodes is drawn as one switch
IMP-BOTH-ENDS          info           Cables written from both ends are drawn once
IMP-BUS-ID             info           A bus id has an unusual form
IMP-BY-CLASS           warning        GPUs were counted by their PCI class
IMP-CLASS-CONFLICT     warning        Classes of distance contradict each other
IMP-CLASSES            info           The tree is derived from classes of distance
IMP-CONTENTS           info           The file says nothing of the inside of servers
IMP-CONTRADICTION      warning        Affinity columns and classes contradict each other
IMP-COUNT              warning        A link has an impossible count
IMP-CPU-NVLINK         warning        The NUMA domain of an NVLink to the CPU is a guess
IMP-CPU-TYPE           info           CPUs have no part type
IMP-DANGLING           warning        Links to objects outside the file were left out
IMP-DARK-PORTS         info           Some ports are down
IMP-DAX                info           Memory opened as a device was left out
IMP-DEGRADED           warning        The file remarks on the state of a link
IMP-DERIVED-FABRIC     info,warning   An NVSwitch fabric is derived from lists of peers
IMP-DERIVED-NUMA       info           A NUMA domain is derived from classes of distance
IMP-DERIVED-NVSWITCH   info           The generation of NVSwitches follows from the GPUs
IMP-DERIVED-SOCKETS    info           Sockets are derived from NUMA domains
IMP-DERIVED-SWITCH     info           PCIe switches are derived from classes of distance
IMP-DIMENSIONS         info           Parts are derived from the dimensions of a network
IMP-DISPLAY            info           A display controller was left out
IMP-DUPLICATE          warning,info   An id exists more than once
IMP-EDGES              warning        Edges of no known kind were left out
IMP-ENCODING           info           The file is not UTF-8
IMP-ENDS-DIFFER        warning        The two ends of a cable state different rates
IMP-FUSED              info           Several ports were fused to one device
IMP-GIB                info           Bandwidths are counted in powers of two
IMP-GPU-MEMORY         info           NUMA nodes that are memory of GPUs were left out
IMP-GPU-TYPE           info           The type of the GPUs follows from the file
IMP-HEIGHT             info           A height was rounded up to whole units
IMP-HOST               info           Adapters without a server were given one each
IMP-HOST-BRIDGES       info           Host bridges of one NUMA domain are not drawn apart
IMP-IDLE               warning        A link speed was read while the device was idle
IMP-IGNORED            info           Elements that are not part of the format were ignored
IMP-JUNK               info           Text around the document was ignored
IMP-DRAWN              info           Changes made in a diagram were done to its design
IMP-DRAWN-LOST         warning        Changes made in a diagram could not be done
IMP-KIND               warning        Nodes of no known kind were left out
IMP-LINES              warning        Lines were not understood
IMP-LINK-SPEED         warning        A link speed cannot be read
IMP-LOOP               info           Cables from a part to itself were left out
IMP-LOOPS              info           Loopback cables were left out
IMP-MISSING            warning        Switches are named but not described
IMP-MORE-PORTS         warning        Parts have more links than their types have ports
IMP-NO-CLASS           warning        PCI devices without a class were taken as NICs
IMP-NO-DISKS           info           Storage controllers without drives were left out
IMP-NO-GDR             info           The GPUs report no GPUDirect RDMA
IMP-NO-GPU             info,warning   The file holds no GPU
IMP-NO-IO              warning        The file holds no devices
IMP-NO-NUMA            info           A NUMA id is missing
IMP-NVLINK-DOMAIN      info           NVLink domains are kept as attributes
IMP-ONE-END            info           Cables are listed at one end only
IMP-OTHER-CABLES       info           Cables that join no two interfaces were left out
IMP-OTHER-DEVICE       info           Devices of other kinds were left out
IMP-PCILINK            info           Direct links between PCIe switches were left out
IMP-PLACE              warning        The place of some devices is not in the file
IMP-PORT-SPEED         warning        A port speed is beyond any port
IMP-PORT-TYPES         info           Ports of other types are kept as attributes
IMP-ROLES              info           The roles of devices follow from their names
IMP-SAME-PORT          info           Interfaces of one port were counted once
IMP-SELF-LINK          warning        GPUs list links to themselves
IMP-SHARED-GPU         info           Several ranks share one GPU
IMP-SHARED-LINKS       info           Shared links are drawn as switches
IMP-SHARED-PORT        warning        Interfaces share one PCI device
IMP-SIDE-PATH          info           The PCIe link parallel to a chip-to-chip link is not drawn
IMP-SLOW-LINK          warning        A link is slower than most between such parts
IMP-SLOW-UPLINK        warning,info   An uplink is slower than what hangs below
IMP-SOCKET-DISTANCES   info           Links between sockets follow from latencies
IMP-STRAY-TEXT         info           Text between the tags was ignored
IMP-SUPPLIES           warning        Power ports and bays for supplies differ in number
IMP-SWITCH-TO-SWITCH   warning        An NVSwitch is linked to a network switch
IMP-SWITCH-TYPE        info           The type of switches follows from their names
IMP-SYSTEM-DEVICES     info           System devices were left out
IMP-TEMPLATE           info           The record is written by hand and may be wrong
IMP-TREE-ONLY          info           The file holds a tree without counts of cables
IMP-TRIMMED            info           The file holds only what one communicator used
IMP-TWICE              warning        The record lists something more than once
IMP-TWO-PARENTS        warning        A switch has two switches above it
IMP-TYPE               info           GPUs have no part type
IMP-UNEQUAL-ENDS       warning        The two ends list different numbers of links
IMP-UNEVEN-FABRIC      warning        GPUs do not list all peers of their NVSwitch fabric
IMP-UNSEEN-SWITCH      info           NVSwitches outside the machine are drawn as one
IMP-VIRTUAL            info           Virtual interfaces were left out
IMP-VIRTUAL-FUNCTION   info           Virtual functions of NICs were left out
IMP-VIRTUAL-LINK       warning        A link speed is that of a virtual machine
IMP-XGMI-COUNT         warning        The number of xGMI links is assumed
IMP-XGMI-FAR           info           Pairs of GPUs without an xGMI link of their own
JOBS-AS-RECORDED       info           Run times are those of the cluster that was recorded
JOBS-LEFT-OUT          info           Jobs of a list are left out
JOBS-NO-ROOM           warning        Jobs of a list have no room on the drawn cluster
JOBS-WAITING           warning        Jobs still wait when a replay ends
JRN-TAIL               warning        The end of the journal is damaged
LAYOUT-RANK            info           A place in the ranking of layouts
LINK-DEGRADED          warning        A part is connected more slowly than its twin
MIG-BESIDE             warning        Migrations slow down another workload
MIG-BY-HAND            info           Machines with virtual GPUs move one at a time
MIG-DEVICE-STATE       warning        State of devices takes longer than the pause that is aimed at
MIG-DIRTY              warning        Memory is written faster than it is copied
MIG-DISTANCE           error          The hosts are too far apart for a migration
MIG-FRAMEBUFFER        info           The used frame buffer is not known
MIG-NO-ROLE            warning        No NIC has the role of a migration network
MIG-SHARES             info           Shares are weighed on the whole path
MIG-SLOWED             warning        A machine is slowed down while it moves
MIG-STAYS              error,warning  A machine cannot move
MIG-UNUSED             info           A setting of a migration changes nothing as it is asked for
MIGRATE-FELT           info           Users of a served model feel the move of its machine
MIGRATE-STAYS          warning        A machine stays where it is
MODEL-ASSUMED          warning        What a model's configuration does not say was taken for granted
NVLINK-MISSING         warning        A GPU has fewer NVLinks than its twin
POOL-FULL              warning        Jobs come faster than they are done
POOL-REST              info           Some accelerators are left out of the pools
SCHEDULE-NEVER         warning        A workload of a timetable never gets an accelerator
SERVE-APART            info           A model named as sharing GPUs with another one shares none
SERVE-CONTEXT          warning        Requests are longer than the model was made for
SERVE-COUNTED          info           What a benchmark script counts that a served model is measured as
SERVE-DEVICE           info           The kernels of this accelerator were not measured
SERVE-DRAFTER          info           What drafts tokens, and the memory that it takes
SERVE-DRAFTS           warning,info   Up to how many requests at once drafted tokens pay
SERVE-EAGER            warning        Launches outside captured graphs are not all known
SERVE-EXPERTS          info           An expert width has no experts to share out
SERVE-FORMAT           warning        A format of experts is asked of a model that has none
SERVE-IDLE             info           Some accelerators do not serve
SERVE-IMAGES           info           What an image of a request takes
SERVE-LIMIT            error          A limit of the service is not met
SERVE-MIXED            warning        Accelerators of several kinds serve
SERVE-MORE             info           How much a served model uses, and what more would bring
SERVE-NEAR             warning        The load is near what the replicas can answer
SERVE-OPERATED         info           Widths, memory, steps or slots were chosen to hold limits
SERVE-PROCESSORS       info           Serving engines were measured on accelerators, not on processors
SERVE-PUBLISHED        warning,info   Weights are served as the model is published
SERVE-READERS          info           More readers would load the model faster
SERVE-REFUSED          warning        Long requests are refused
SERVE-RELEASE          warning        The release of the serving engine is not known
SERVE-SATURATED        error          More requests arrive than can be answered
SERVE-SCALED           info           How many replicas follow the load, and what they cost
SERVE-TIER             warning        Keys and values beyond the GPU help little
SERVE-TRACE            info           The requests of a file were changed
SERVE-TURNS            info           Models take turns on the same accelerators
SERVE-UNUSED           info           A setting of a served model changes nothing as it is asked for
STORE-ASSUMED          info           Rates of a storage system are assumed from its ports
STORE-FULL             error          A store does not hold all versions that are kept
STORE-LATE             error          A new version comes before the last one is stored
TRAIN-BATCH            warning        The batch is too large for the dataset
TRAIN-BESIDE           info           A retraining that runs with a workload takes some of its pace
TRAIN-CADENCE          warning        Retraining takes longer than the time to the next one
TRAIN-CHECKPOINT       warning        A checkpoint takes longer to write than the time to the next one
TRAIN-CHOSEN           info           Sharding or recomputation is chosen so that the model fits
TRAIN-DATASET          warning        The dataset does not hold what the model reads
TRAIN-IDLE             warning        Some accelerators do not train
TRAIN-MEMORY           error          The model does not fit in memory
TRAIN-MIXED            warning        Accelerators of several kinds train together
TRAIN-PRECISION        warning        The accelerator lacks the number format
TRAIN-PROGRAM          warning        The training program is not known
TRAIN-TIGHT            warning        The model fits in memory only with little fragmentation
VM-CPUS                error          A host has too few virtual CPUs left
VM-DEVICE              error          A device cannot be given to a machine
VM-FRACTIONS           error          Parts of GPUs cannot be combined in this release
VM-GROUP               error          A device group cannot be made
VM-HARDWARE            error          The hardware version does not fit
VM-HOST                error          There is no host for a machine
VM-LIMIT               error          A machine is beyond a limit of the release
VM-MEMORY              error          A host has too little memory left
VM-MODULES             info           The module ids of GPUs are assumed
VM-NO-ROOM             error          No GPU has room for a profile
VM-NUMA                info           A GPU is on another socket than the CPUs of its machine
VM-NUMA-MEMORY         warning        A machine has more memory than one NUMA node
VM-NUMA-UNEVEN         warning        A machine has uneven virtual NUMA nodes
VM-NVLINK-CUT          warning        NVLink is off between GPUs of different device groups
VM-NVLINK-OFF          warning        NVLink is off between the GPUs of a machine
VM-NVSWITCH            error          A part of an NVSwitch board cannot be passed through
VM-PROFILE             error          A GPU has no such profile
VM-RAM                 warning        A machine has little memory for its virtual GPUs
VM-RESERVE             error          The memory of a machine must be reserved
VM-TOO-BIG             error          A machine is larger than its host
VM-WHICH               warning        A GPU is shared and a workload does not say in which machine it runs
WAIVER-EXPIRED         warning        A waiver has run out
"""


class Code(NamedTuple):
    """What a code represents."""

    title: str
    #: how severe it may be, the most usual first
    severities: tuple[str, ...]


def _read() -> dict[str, Code]:
    found: dict[str, Code] = {}
    for line in _TABLE.strip().splitlines():
        code, severities, title = line.split(maxsplit=2)
        assert code not in found, f"the code {code} occurs twice"
        found[code] = Code(title, tuple(severities.split(",")))
    return found


#: every code that is not a rule's, by name
CODES: Final = MappingProxyType(_read())
