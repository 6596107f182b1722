"""The form of a workload: groups, models searched or one's own, units, the kind that fits, a title that follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from designer.design.document import Design, Part, VirtualMachine, WorkloadSpec
from designer.gui.completing import OfferedList
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.dialogs.workload_fields import ListedChoice, ModelField, SettingText
from designer.gui.viewmodels import workload_choices, workloads
from designer.interchange.templates import open_design
from designer.units import DIMENSIONS, EXAMPLE
from designer.workload.kind import workload_kinds

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def made(qtbot: QtBot, spec: WorkloadSpec | None = None, design: Design | None = None) -> WorkloadDialog:
    dialog = WorkloadDialog(spec, design=design)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    return dialog


def offered(offers: OfferedList | None) -> list[str]:
    """What a field offers, where it does."""
    assert offers is not None
    assert offers.isVisible()
    return [str(offers.model().index(row, 0).data()) for row in range(offers.model().rowCount())]


def usable(dialog: WorkloadDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


@pytest.mark.parametrize("kind", sorted(workload_kinds()))
def test_every_setting_stands_in_one_group(qtbot: QtBot, kind: str) -> None:
    groups = workload_choices.grouped(kind, workloads.entries(kind, {}))
    names = [entry.name for _, lines in groups for entry in lines]
    assert sorted(names) == sorted(s.name for s in workload_kinds()[kind].settings)
    assert groups[0][0] == "What"
    dialog = made(qtbot)
    dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
    assert list(dialog.heads) == [title for title, _ in groups]
    # what the form was filled with comes back: the defaults, so nothing is set
    needed = {s.name: "" for s in workload_kinds()[kind].settings if s.default is None}
    assert workloads.typed(kind, dialog.texts()) == needed


def test_groups_of_a_training(qtbot: QtBot) -> None:
    """What is closed says what in it is not as by default; a group with such a value opens by itself."""
    spec = WorkloadSpec(id="w", kind="training", settings={"tensor": 8, "dataset": "imagenet-1k"})
    dialog = made(qtbot, spec)
    assert {title: head.isChecked() for title, head in dialog.heads.items()} == {
        "What": True,
        "Data": True,
        "Parallel": True,
        "Software": False,
        "Run": False,
    }
    dialog.heads["Parallel"].setChecked(False)
    assert not dialog.fields["tensor"].isVisible()
    assert dialog._summaries["Parallel"].text() == "tensor parallel 8"


def test_a_model_is_found_by_words_of_its_title(qtbot: QtBot) -> None:
    dialog = made(qtbot)
    dialog.kind.setCurrentIndex(dialog.kind.findData("training"))
    field = dialog.fields["model"]
    assert isinstance(field, ModelField)
    line = field.list.lineEdit()
    assert line is not None
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "70b llama 3")
    assert offered(field.list.offers) == ["Llama 3 70B"]
    QTest.keyClick(field.list, Qt.Key.Key_Down)
    QTest.keyClick(field.list, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert field.spelled == "llama-3-70b"
    assert "70.6 B parameters, 80 layers" in field.stated.text()
    assert dialog.title.text() == "Training Llama 3 70B"


def test_ones_own_model_and_what_is_wrong_with_it(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = made(qtbot)
    dialog.kind.setCurrentIndex(dialog.kind.findData("training"))
    field = dialog.fields["model"]
    assert isinstance(field, ModelField)
    file = tmp_path / "mine" / "config.json"
    file.parent.mkdir()
    for content, words in (
        ("{", "config.json: "),
        ('{"model_type": "mamba"}', "config.json: "),
        ("[]", "config.json: "),
        (json.dumps({**CONFIG, "hidden_size": "wide"}), "hidden_size"),
    ):
        file.write_text(content, encoding="utf-8")
        field.take(str(file))
        assert words in field.stated.text(), content
        assert "—" in field.stated.text(), "it says what to do"
        assert not usable(dialog)
    field.take(str(tmp_path / "nothing.json"))
    assert "not a file" in field.stated.text()
    field.take("lama-3-8b")
    assert "did you mean llama-3-8b" in field.stated.text()
    file.write_text(json.dumps(CONFIG), encoding="utf-8")
    field.take(str(file))
    assert usable(dialog)
    assert "2 layers" in field.stated.text()
    assert dialog.title.text() == "Training mine"
    assert dialog.texts()["model"] == str(file)


def test_empty_fields_show_a_value_with_its_unit(qtbot: QtBot) -> None:
    dialog = made(qtbot)
    seen = set[str]()
    for at in range(dialog.kind.count()):
        dialog.kind.setCurrentIndex(at)
        for name, field in dialog.fields.items():
            entry = dialog._entries[name]
            if isinstance(field, SettingText) and entry.dimension in DIMENSIONS:
                assert EXAMPLE[entry.dimension] in field.placeholderText()
                seen.add(entry.dimension)
    assert {"size", "rate", "duration", "frequency", "ratio"} <= seen


def test_the_kind_that_fits_is_offered(qtbot: QtBot) -> None:
    """GPUs: training, then serving; machines: a move; neither: a transfer."""
    gpus = Design(name="a", parts={"gpu0": Part(id="gpu0", kind="gpu")})
    assert made(qtbot, design=gpus).kind_name == "training"
    trained = gpus.model_copy(update={"workloads": {"t": WorkloadSpec(id="t", kind="training")}})
    assert made(qtbot, design=trained).kind_name == "serving"
    hosts = Design(
        name="b",
        parts={"h": Part(id="h", kind="server")},
        vms={"vm": VirtualMachine(id="vm", vcpus=2, memory="4 GiB")},
    )
    dialog = made(qtbot, design=hosts)
    assert dialog.kind_name == "vmotion"
    assert not dialog.misfit.isVisible()
    dialog.kind.setCurrentIndex(dialog.kind.findData("training"))
    assert dialog.misfit.text() == "There are no accelerators in this design yet."
    assert made(qtbot, design=Design(name="c")).kind_name == "transfer"
    assert made(qtbot, WorkloadSpec(id="w", kind="collective"), gpus).kind_name == "collective"


def test_the_title_follows_until_one_types_ones_own(qtbot: QtBot) -> None:
    dialog = made(qtbot, design=open_design("hgx-h100-8"))
    dialog.kind.setCurrentIndex(dialog.kind.findData("collective"))
    assert dialog.title.text() == "All-reduce over all GPUs, 1 GiB"
    size = dialog.fields["size"]
    assert isinstance(size, SettingText)
    size.setText("2 GiB")
    assert dialog.title.text() == "All-reduce over all GPUs, 2 GiB"
    dialog.title.setFocus()
    dialog.title.selectAll()
    QTest.keyClicks(dialog.title, "Mine")
    size.setText("4 GiB")
    assert dialog.title.text() == "Mine"
    kept = made(qtbot, WorkloadSpec(id="w", kind="collective", title="Nightly"))
    field = kept.fields["size"]
    assert isinstance(field, SettingText)
    field.setText("8 GiB")
    assert kept.title.text() == "Nightly"
    followed = made(qtbot, WorkloadSpec(id="w", kind="collective", title="All-reduce over all GPUs, 1 GiB"))
    field = followed.fields["size"]
    assert isinstance(field, SettingText)
    field.setText("8 GiB")
    assert followed.title.text() == "All-reduce over all GPUs, 8 GiB"


def test_fields_offer_what_the_design_has(qtbot: QtBot) -> None:
    design = open_design("vsphere-cluster-4")
    offered = workload_choices.offered(design, "evacuation", "hosts")
    assert "hosts[*]/server" in offered
    assert set(workload_choices.offered(design, "vmotion", "vms")) == set(design.vms)
    assert "gpus" in workload_choices.offered(design, "transfer", "to")
    title = workload_choices.suggested_title(design, "evacuation", {"hosts": "hosts[0]/server"})
    assert title == "Empty ESXi host 1"


def test_the_field_in_hand_is_explained_and_a_sweep_can_be_asked_for(qtbot: QtBot) -> None:
    dialog = made(qtbot, WorkloadSpec(id="w", kind="training", settings={"micro_batch": 4}))
    field = dialog.fields["micro_batch"]
    assert isinstance(field, SettingText)
    dialog.activateWindow()
    field.setFocus()
    QApplication.processEvents()
    assert dialog.hint.text() == "Microbatch: samples that run at once on a data-parallel rank"
    field.sweep_wanted.emit()
    assert dialog.sweep == "micro_batch"
    assert dialog.result() == WorkloadDialog.DialogCode.Accepted


def test_a_data_set_that_is_none_is_refused(qtbot: QtBot) -> None:
    dialog = made(qtbot, WorkloadSpec(id="w", kind="training"))
    field = dialog.fields["dataset"]
    assert isinstance(field, ListedChoice)
    field.show_value("imagenet")
    assert "there is no data set 'imagenet'" in dialog.problem.text()
    assert not usable(dialog)
    field.show_value("imagenet-1k")
    assert usable(dialog)
    assert dialog.texts()["dataset"] == "imagenet-1k"


def test_enter_takes_the_form_while_ids_are_offered(qtbot: QtBot) -> None:
    dialog = made(qtbot, WorkloadSpec(id="w", kind="transfer"), open_design("hgx-h100-8"))
    field = dialog.fields["to"]
    assert isinstance(field, SettingText)
    dialog.activateWindow()
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "gpu")
    assert "gpus" in offered(field.offers)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert dialog.result() == WorkloadDialog.DialogCode.Accepted
    assert dialog.texts()["to"] == "gpu"


def test_what_is_offered_goes_with_its_field_and_a_click_beside_it_closes_it(qtbot: QtBot) -> None:
    dialog = made(qtbot, WorkloadSpec(id="w", kind="transfer"), open_design("hgx-h100-8"))
    dialog.resize(500, 400)
    field = dialog.fields["to"]
    assert isinstance(field, SettingText)
    assert field.offers is not None
    dialog.heads["Run"].setChecked(True)
    QApplication.processEvents()
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "gpu")
    bar = dialog.area.verticalScrollBar()
    assert bar.maximum() > 20
    was = field.offers.y()
    bar.setValue(bar.value() + 20)
    assert field.offers.y() == was - 20
    qtbot.mouseClick(dialog, Qt.MouseButton.LeftButton, pos=dialog.rect().bottomLeft() + QPoint(4, -4))
    assert field.offers.isHidden()
    assert dialog.isVisible()


def test_what_is_offered_closes_where_its_field_is_scrolled_out_of_sight(qtbot: QtBot) -> None:
    dialog = made(qtbot, WorkloadSpec(id="w", kind="serving"), open_design("hgx-h100-8"))
    dialog.resize(500, 500)
    field = dialog.fields["group"]
    assert isinstance(field, SettingText)
    QApplication.processEvents()
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "gpu")
    assert "gpus" in offered(field.offers)
    bar = dialog.area.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert field.offers is not None
    assert field.offers.isHidden()


def test_every_setting_of_a_kind_with_groups_of_its_own_is_in_one() -> None:
    """A setting that no group names would be in the first, which is open and one goes through by Tab."""
    for kind, groups in workload_choices._OWN_GROUPS.items():
        named = [name for names in groups.values() for name in names]
        assert sorted(named) == sorted(setting.name for setting in workload_kinds()[kind].settings)


def test_kinds_stand_in_the_order_of_their_titles(qtbot: QtBot) -> None:
    dialog = WorkloadDialog(None)
    qtbot.addWidget(dialog)
    titles = [dialog.kind.itemText(n) for n in range(dialog.kind.count())]
    assert titles == sorted(titles, key=str.casefold)
    assert dialog.kind_name in workload_kinds()
