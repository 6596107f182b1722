"""Measurements of a machine in one file: the script that makes it, and the outputs of tools in it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from designer.errors import ExchangeError

#: what `calibrate` calls a file of several outputs
MEASURED: Final = "measured"
_SECTION: Final = re.compile(r"^=== designer: ([a-z-]+)\n(.*?)^=== end\n", re.MULTILINE | re.DOTALL)

SCRIPT: Final = r"""#!/bin/sh
# Measures one server for `designer calibrate DESIGN FILE --tool measured`.
# Usage: [FIO_FILE=/data/large.file] sh measure.sh [FILE]      (about five minutes; FILE is measured.txt)
# Runs those of nvbandwidth, nccl-tests (all_reduce_perf), fio and PyTorch that are in PATH. It only reads:
# fio reads FIO_FILE, which must exist and be larger than memory is to be seen (64 GiB is good).
# `designer calibrate --cases FILE` keeps what was measured for `designer validate`.
set -u
file=${1:-measured.txt}
if [ -e "$file" ]; then echo "$file exists already: name another file" >&2; exit 2; fi
have() { command -v "$1" >/dev/null 2>&1; }
section() {
    name=$1; shift
    echo "$name: $*" >&2
    if output=$("$@" 2>/dev/null); then
        printf '=== designer: %s\n%s\n=== end\n' "$name" "$output" >>"$file"
    else
        echo "$name failed and is left out" >&2
    fi
}
printf '# measured on %s, %s\n' "$(uname -srm)" "$(date -u +%Y-%m-%d)" >"$file"
if have nvidia-smi; then
    nvidia-smi --query-gpu=name,driver_version,power.limit --format=csv,noheader | sed 's/^/# /' >>"$file"
    gpus=$(nvidia-smi --list-gpus | grep -c .)
else
    gpus=${GPUS:-8}
fi
if have nvbandwidth; then
    section nvbandwidth nvbandwidth -t host_to_device_memcpy_ce
fi
if have all_reduce_perf; then
    section nccl-tests all_reduce_perf -b 1M -e 8G -f 2 -g "$gpus"
fi
if have fio && [ -f "${FIO_FILE:-}" ]; then
    drive() {
        name=$1; shift
        section fio fio --name="$name" --readonly --filename="$FIO_FILE" --ioengine=libaio --direct=1 \
            --runtime=30 --time_based --output-format=json "$@"
    }
    drive stream --rw=read --bs=1M --iodepth=32
    drive one-request --rw=randread --bs=4k --iodepth=1
    drive operations --rw=randread --bs=4k --iodepth=32 --numjobs=8 --group_reporting
elif have fio; then
    echo "fio is left out: FIO_FILE names no file" >&2
fi
if have python3 && python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    section products python3 -c '
import torch
for n in (1024, 2048, 4096, 8192, 16384):
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(5): a @ b
    start.record()
    for _ in range(20): a @ b
    end.record(); torch.cuda.synchronize()
    print(n, n, n, "bf16", start.elapsed_time(end) / 20 * 1e-3)
'
fi
echo "wrote $file" >&2
"""


class Section(NamedTuple):
    """What one tool printed."""

    tool: str
    text: str


def sections(text: str) -> tuple[Section, ...]:
    """The outputs in a file of measurements.

    Raises
    ------
    ExchangeError
        If there are none.
    """
    found = tuple(Section(*parts) for parts in _SECTION.findall(text))
    if not found:
        raise ExchangeError("no output of a tool", remedy="run the script of designer measure and give its whole file")
    return found
