"""The pytest plugin: collects ``*.checks.toml``, one test per promise, and offers the fixture ``design``.

A test that names a design with ``@pytest.mark.design("machine.design.json")`` gets it as ``design``; a path is looked
for next to the test file first. Installed with designer, it is found by pytest itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from designer.checks.world import World
    from designer.design.document import Design
    from designer.testing.files import Suite

_SUFFIX = ".checks.toml"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "design(name): the design file or template id that the fixture `design` opens")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ChecksFile | None:
    """Files of design tests."""
    if file_path.name.endswith(_SUFFIX):
        return ChecksFile.from_parent(parent, path=file_path)
    return None


class ChecksFile(pytest.File):
    """One ``*.checks.toml``."""

    def collect(self) -> Iterator[ChecksItem]:
        """One test per promise."""
        from designer.errors import DesignerError
        from designer.testing.files import open_suite

        try:
            suite = open_suite(self.path)
        except DesignerError as error:
            raise self.CollectError(str(error)) from None
        worlds: dict[tuple[str, ...], World] = {}
        for promise in suite.promises:
            yield ChecksItem.from_parent(self, name=promise.name, suite=suite, promise=promise, worlds=worlds)


class Broken(Exception):
    """A promise does not hold; its text is the whole report."""


class ChecksItem(pytest.Item):
    """One promise."""

    def __init__(self, *, suite: Suite, promise: Any, worlds: dict[tuple[str, ...], World], **others: Any) -> None:
        super().__init__(**others)
        self.suite, self.promise, self.worlds = suite, promise, worlds

    def runtest(self) -> None:
        """Work the promise out."""
        from designer.checks.runner import State, judge
        from designer.checks.world import World
        from designer.errors import DesignerError
        from designer.interchange.overrides import overridden

        own = self.suite.own_set.get(self.promise.name, ())
        if own not in self.worlds:
            try:
                self.worlds[own] = World(overridden(self.suite.design, own), self.suite.findings)
            except DesignerError as error:
                raise Broken(str(error)) from None
        outcome = judge(self.worlds[own], self.promise)
        if outcome.state is not State.HELD:
            raise Broken(outcome.message)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """What does not hold, without a traceback of ours."""
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it is placed."""
        return self.path, self.suite.lines.get(self.promise.name, 1) - 1, f"{self.path.name}: {self.promise.name}"


@pytest.fixture
def design(request: pytest.FixtureRequest) -> Design:
    """The design that the marker ``design`` names."""
    from designer.interchange.templates import open_any

    marker = request.node.get_closest_marker("design")
    if marker is None or len(marker.args) != 1:
        pytest.fail('name the design: @pytest.mark.design("machine.design.json")', pytrace=False)
    name = str(marker.args[0])
    design_file = Path(request.path).parent / name
    return open_any(str(design_file) if design_file.exists() else name).design
