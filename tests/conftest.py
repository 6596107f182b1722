"""Every test runs offscreen, in a home of its own, and repeats exactly."""

from __future__ import annotations

import gc
import os
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.real import real_folder

# Before anything loads Qt: no window on the developer's screen unless a run asks for one.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Nor is what is printed broken to the width of the terminal the tests were started in.
os.environ.pop("COLUMNS", None)
os.environ.setdefault("PYTEST_QT_API", "pyside6")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

# A fixed budget, the same examples every time: a few in each run, many in the long one.
for name, budget in (("ci", 20), ("long", 100)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=True,
        print_blob=True,
        max_examples=budget,
        suppress_health_check=[HealthCheck.too_slow],
    )
# For finding new failures: HYPOTHESIS_PROFILE=search tries many more, different every time.
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_PROFILE)
if _PROFILE == "ci" and hasattr(providers, "is_local_module_file"):
    # Hypothesis reads the source of all loaded modules for constants to try: ten seconds in every process, and other
    # examples in each, for it depends on what was loaded before. The profiles that search for more do so.
    providers.is_local_module_file = lambda path: False

_HOME = tempfile.TemporaryDirectory(prefix="designer-tests-")


def _move_home(home: Path) -> None:
    """Nobody's settings are read or written. Qt and the XDG rules look at these once, at their first use."""
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_RUNTIME_DIR": home / "run",
    }
    for variable, place in places.items():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[variable] = str(place)


_move_home(Path(_HOME.name))


def pytest_unconfigure() -> None:
    _HOME.cleanup()


def pytest_configure(config: pytest.Config) -> None:
    """Loading the program and its tests makes no garbage worth looking for, and looking took a third of that time."""
    if not config.getoption("numprocesses", None):
        # the process that only hands out tests to others never collects any
        gc.disable()


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through it for garbage after each window test took most of their time."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """When all is over, pytest looks for garbage five times: what has been looked through once is left out."""
    gc.collect()
    gc.freeze()


@cache
def _group(file: Path) -> str:
    """The group of workers' tests that a file names in its ``pytestmark``, else nothing."""
    found = re.search(r'^pytestmark = .*xdist_group\("([^"]+)"\)', file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found is not None else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Sends the tests of a file, and the files of a group, to one worker, where they share what they read and make;
    xdist looks for the group behind the name of each test, where newer versions of pytest do not write it.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return _group(config.rootpath / file) or file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The top of the checkout under test."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real topology dumps; skips where they are not at hand."""
    folder = real_folder()
    if folder is None:
        pytest.skip("no real dumps: put them in ../shared/real beside the checkout, or name them in DESIGNER_REAL")
    return folder
