"""The list of templates, and opening by file or template id."""

from __future__ import annotations

from pathlib import Path

import pytest

import designer
from designer.design.query import summarize
from designer.errors import FormatError
from designer.interchange import templates
from designer.interchange.native import json_text
from designer.interchange.native.writer import save
from designer.interchange.templates import find_template, list_templates, open_any
from tests.designs import one_server, pods


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two templates, and files that are none."""
    save(one_server(title="One server", intent="Begin here"), tmp_path / "one.design.json")
    save(pods(2), tmp_path / "pods.design.json")
    (tmp_path / "broken.design.json").write_text("{", encoding="utf-8")
    (tmp_path / "README.md").write_text("no template", encoding="utf-8")
    return tmp_path


def test_templates_are_listed_with_counts_after_elaboration(folder: Path) -> None:
    found = {t.id: t for t in list_templates(folder)}
    assert set(found) == {"one", "pods"}
    assert (found["one"].title, found["one"].intent, found["one"].gpus) == ("One server", "Begin here", 8)
    parts = summarize(pods(2))["parts"]
    assert (found["pods"].gpus, found["pods"].servers) == (parts["gpu"], parts["server"])
    assert found["pods"].title == "pods"


def test_files_are_looked_into_once_until_they_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_templates(folder)
    read: list[str] = []

    def counted(text: str) -> object:
        read.append(text)
        return json_text.parse(text)

    monkeypatch.setattr(templates, "parse", counted)
    list_templates(folder)
    assert len(read) == 1, "only the broken one is tried again"
    save(one_server(title="Changed"), folder / "one.design.json")
    assert {t.title for t in list_templates(folder)} == {"Changed", "pods"}


def test_a_template_is_opened_by_id_and_a_file_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_any("pods", folder).design == pods(2)
    assert open_any(folder / "pods.design.json").design == pods(2)
    assert find_template("one", folder) == folder / "one.design.json"
    monkeypatch.chdir(folder)
    (folder / "pods").mkdir()
    with pytest.raises(FormatError, match="folder"):
        open_any("pods", folder)


@pytest.mark.parametrize("name", ["nothing", "../one", "", "a/b", "x\0y", "nothing.design.json", "-"])
def test_what_is_neither_is_one_clear_error(folder: Path, name: str) -> None:
    with pytest.raises(FormatError) as caught:
        open_any(name, folder)
    assert caught.value.remedy


def test_the_public_door_opens_and_saves(tmp_path: Path) -> None:
    path = tmp_path / "x.design.json"
    designer.save_design(one_server(), path)
    design = designer.open_design(path)
    assert design == one_server()
    assert designer.summarize(design)["parts"]["gpu"] == 8
    assert designer.to_networkx(design).number_of_nodes() == len(design.parts)
    assert set(designer.__all__) <= set(dir(designer))
