"""Memory of all threads is taken from one arena of the C library, where it lets one choose."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

ARENAS = """
import ctypes, sys, threading, time
from designer.gui.workers import share_arena
if sys.argv[1] == "shared":
    share_arena()
library = ctypes.CDLL(None)
def take():
    held = [bytearray(600) for _ in range(1000)]
    time.sleep(0.1)
threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(library.fopen(sys.argv[2].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
print(open(sys.argv[2]).read().count("<heap nr="))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"), reason="glibc tells of its arenas"
)
def test_threads_share_one_arena(tmp_path: Path) -> None:
    def arenas(how: str) -> int:
        given = [sys.executable, "-c", ARENAS, how, f"{tmp_path}/told.xml"]
        return int(subprocess.run(given, capture_output=True, text=True, check=True).stdout)

    assert arenas("apart") > 1
    assert arenas("shared") == 1
