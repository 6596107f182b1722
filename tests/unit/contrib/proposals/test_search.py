"""Proposals for a goal: bills and bounds by hand, the search against every design worked out, what cannot be."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from designer.analysis.study import analyze
from designer.contrib.proposals.pareto import Found, Settings, Worth
from designer.contrib.proposals.question import Question, families, least_work, peak_rate
from designer.contrib.proposals.reading import read_wanted
from designer.contrib.proposals.search import Kept, propose
from designer.design.document import Design, Part, with_changes
from designer.errors import Cancelled, FormatError
from designer.families.training.tasks import TrainStep
from designer.fields import Quantity
from designer.findings import Severity
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design
from designer.report.tables.cost import read_prices
from designer.rules.runner import check

TRAIN = ["model=llama-2-7b", "dataset=c4-en", "global_batch=256"]
SMALL = ["server=dgx-a100,dgx-h100", "nodes=1,2,4", "network=none,leaf-spine 1:1,rail-optimized 1:1", "storage=drives"]
PRICES = read_prices(
    "part,currency,price\nserver/nvidia/dgx-a100,USD,150000\nserver/nvidia/dgx-h100,USD,300000\n"
    "switch/nvidia/qm9700,USD,30000\nswitch/nvidia/qm8700,USD,20000\ncable/infiniband/400Gb/s,USD,1000\n"
    "cable/infiniband/200Gb/s,USD,500\n"
)


def accounted(found: Found) -> int:
    """Designs that a search says something about: the best, and those that lost to them."""
    return len(found.front) + sum(one.count for one in found.lost)


def leaves(question: Question) -> list[Settings]:
    """Every design of a question."""
    found: list[Settings] = []
    waiting: list[Settings] = [()]
    while waiting:
        chosen = waiting.pop()
        choice = question.following(chosen)
        if choice is None:
            found.append(chosen)
        else:
            waiting += [(*chosen, value) for value in choice.values]
    return found


def test_the_bill_of_four_servers_by_hand() -> None:
    """Four DGX H100 under one leaf: 4 × 8 NICs are 32 cables, one QM9700, no spine above a single leaf. At 300,000 a
    server, 30,000 a switch and 1,000 a cable: 1,200,000 + 30,000 + 32,000 = 1,262,000. Rated 4 × 10.2 kW = 40.8 kW
    and 1.72 kW of the switch: 42.52 kW; a rack of 40 kW takes three of them: two racks, and one for the switch."""
    question = Question(read_wanted("train", TRAIN, prices=PRICES, choose=SMALL))
    settings = ("training-cluster", "dgx-h100", "4", "leaf-spine 1:1", "sharded", "drives")
    best = question.best(settings)
    assert not isinstance(best, str)
    assert (best["money"], best["power_rated"], best["racks"]) == (1_262_000, 42_520, 3)
    assert question.design(settings).groups["leaves"].replicas == 1


def test_the_bill_of_rails_by_hand() -> None:
    """Two DGX H100 on eight rails: eight leaves of 2 cables down and 2 up, 16 links up on one spine of 64 ports. 16 and
    16 cables and nine switches: 600,000 + 9 × 30,000 + 32 × 1,000 = 902,000."""
    question = Question(read_wanted("train", TRAIN, prices=PRICES, choose=SMALL))
    best = question.best(("training-cluster", "dgx-h100", "2", "rail-optimized 1:1", "sharded", "drives"))
    assert not isinstance(best, str)
    assert best["money"] == 902_000


def test_the_least_time_by_hand() -> None:
    """Llama 2 7B has 32 layers of 4 × 4096² + 3 × 4096 × 11008 + 2 × 4096 = 202,383,360 weights: 6,476,267,520. A
    million samples of 4096 tokens, forward and two backward, 2 FLOP a weight: 6 × 6.476e9 × 4.096e9 = 1.5916e20. Eight
    H100 of 989.4 TFLOP/s (dense, bf16): 7.915e15 FLOP/s, so 20,108 s at least."""
    wanted = read_wanted("train", ["model=llama-2-7b", "samples=1000000", "dataset=c4-en"], choose=SMALL)
    question = Question(wanted)
    assert isinstance(question.operation, TrainStep)
    work = least_work(question.operation, "here")
    assert work == pytest.approx(6 * 6_476_267_520 * 4096 * 1e6)
    from designer.engine.network import build_network
    from designer.interchange.templates import open_design

    peak = peak_rate(build_network(open_design("dgx-h100")), question.operation, "here")
    assert work / peak == pytest.approx(20_108, rel=2e-3)


def test_no_bound_is_beyond_what_comes_out() -> None:
    question = Question(read_wanted("train", TRAIN, prices=PRICES, choose=SMALL))
    names = [m.name for m in question.measures]
    for settings in leaves(question):
        fresh = Question(question.wanted)
        bounds = [fresh.best(settings[:k]) for k in range(len(settings) + 1)]
        worth = question.worth(settings)
        for bound in bounds:
            if not worth.refused:
                assert not isinstance(bound, str)
                assert all(bound[n] <= worth.values[n].value * (1 + 1e-9) for n in names if n in bound)


def test_the_search_leaves_what_every_design_worked_out_leaves() -> None:
    wanted = read_wanted("train", TRAIN, within="40 d", power="35 kW", prices=PRICES, choose=SMALL)
    found = propose(wanted)
    question = Question(wanted)
    kept: list[tuple[Settings, list[float]]] = []
    compared = [m.name for m in question.measures if m.counts]
    for settings in leaves(question):
        worth = question.worth(settings)
        if not worth.refused and all(worth.values[x.measure].value <= x.amount for x in question.limits):
            kept.append((settings, [worth.values[name].value for name in compared]))
    best = {
        one
        for one, row in kept
        if not any(other != row and all(a <= b for a, b in zip(other, row, strict=True)) for _, other in kept)
    }
    assert {p.settings for p in found.best} == best
    assert best
    assert accounted(found.found) == found.found.space == len(leaves(question))
    assert found.found.worked_out < found.found.space


def test_each_is_drawn_opens_and_says_the_same(tmp_path: Path) -> None:
    found = propose(read_wanted("train", TRAIN, within="60 d", power="25 kW", prices=PRICES, choose=SMALL))
    assert found.best
    for number, one in enumerate(found.best):
        file = tmp_path / f"{number}.design.json"
        save(one.design, file)
        again = analyze(load(file).design, curves=False).workloads[0]
        assert again.metrics["time_to_train"].value == pytest.approx(one.worth.values["time_to_train"].value)
        assert one.binding
        assert not one.broken


def test_what_cannot_be_names_what_stands_in_the_way() -> None:
    """One server of 10.2 kW takes days; in an hour within 12 kW is none: time is far off, power is what one lifts."""
    found = propose(read_wanted("train", TRAIN, within="4 d", power="12 kW", prices=PRICES, choose=SMALL))
    assert not found.best
    assert found.nearest
    assert "cannot be kept" in found.impossible
    assert found.nearest[0].value > found.nearest[0].limit.amount
    hopeless = propose(read_wanted("train", TRAIN, within="1 s", power="1 W", prices=PRICES, choose=SMALL))
    assert "whatever else is given up" in hopeless.impossible


def test_a_budget_needs_prices_of_all_parts() -> None:
    with pytest.raises(FormatError, match="a budget needs prices"):
        read_wanted("train", TRAIN, budget=1e6, choose=SMALL)
    some = read_prices("part,currency,price\nserver/nvidia/dgx-h100,USD,300000\n")
    found = propose(read_wanted("train", TRAIN, prices=some, budget=1e6, choose=SMALL))
    # one server needs neither switch nor cable; of all others something is missing
    assert {p.settings[1:3] for p in found.best} == {("dgx-h100", "1")}
    assert any("the price list does not hold" in one.text for one in found.found.lost)
    loose = propose(read_wanted("train", TRAIN, prices=some, budget=1e6, unpriced=True, choose=SMALL))
    assert len(loose.best) > len(found.best)


def test_stopped_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    wanted = read_wanted("train", TRAIN, within="60 d", prices=PRICES, choose=SMALL)
    whole = {p.settings for p in propose(wanted).best}
    counter = itertools.count()
    with pytest.raises(Cancelled):
        propose(wanted, keep=file, cancelled=lambda: next(counter) > 8)
    with file.open("a", encoding="utf-8") as out:
        out.write('{"settings": ["cut o')
    assert {p.settings for p in propose(wanted, keep=file).best} == whole
    with pytest.raises(FormatError, match="another goal"):
        propose(read_wanted("train", [*TRAIN, "sequence=2048"], prices=PRICES, choose=SMALL), keep=file)
    file.write_text("something else\n", encoding="utf-8")
    with pytest.raises(FormatError, match="holds no search"):
        propose(wanted, keep=file)
    assert file.read_text(encoding="utf-8") == "something else\n"
    with pytest.raises(FormatError, match="no plain file"):
        propose(wanted, keep=Path(os.devnull))


def test_a_load_is_served_together_or_apart() -> None:
    asked = ["model=llama-3-8b", "rate=12 1/s", "ttft_limit=1 s", "prompt=1024", "output=128", "count=400"]
    found = propose(
        read_wanted("serve", asked, choose=["server=serving-l40s-4", "nodes=1,2", "split=together,1:1", "tensor=1,2"])
    )
    assert found.best
    for one in found.best:
        assert one.worth.values["ttft_p95"].value <= 1.0
        assert one.worth.values["requests_within_limits"].value >= 0.95
    assert accounted(found.found) == found.found.space == 6
    assert any(
        "prompt_group" in w.settings
        for s in leaves(Question(found.wanted))
        if s[3] == "1:1"
        for w in Question(found.wanted).design(s).workloads.values()
    )


def test_no_answer_comes_sooner_than_one_that_meets_no_other_request() -> None:
    """One replica, asked so seldom that nothing queues, is no slower than any design with more of them under load."""
    asked = ["model=llama-2-7b", "rate=6 1/s", "prompt=1024", "output=64", "count=120"]
    servers = "server=dell-r750xa,serving-l40s-4"
    wanted = read_wanted("serve", asked, choose=[servers, "nodes=1,2,4", "split=together,1:1", "tensor=1,2"])
    question = Question(wanted)
    compared = [m.name for m in question.measures if m.counts]
    rows: dict[Settings, list[float]] = {}
    for settings in leaves(question):
        bounds = [question.best(settings[:k]) for k in range(2, len(settings) + 1)]
        worth = question.worth(settings)
        if worth.refused:
            continue
        rows[settings] = [worth.values[name].value for name in compared]
        assert all(not isinstance(b, str) and 0 < b["ttft_p95"] <= worth.values["ttft_p95"].value for b in bounds)
    best = {
        one
        for one, row in rows.items()
        if not any(other != row and all(a <= b for a, b in zip(other, row, strict=True)) for other in rows.values())
    }
    found = propose(wanted)
    assert {p.settings for p in found.best} == best
    assert found.found.worked_out < len(rows)
    assert accounted(found.found) == found.found.space


def test_a_limit_below_what_any_replica_reaches_is_not_called_certain() -> None:
    """The bound is an estimate with a band of its own: what it rules out may hold at the end of that band."""
    wanted = read_wanted(
        "serve",
        ["model=llama-2-7b", "rate=2 1/s", "prompt=1024", "output=16", "count=50"],
        limits=["ttft_p95=1 ms"],
        choose=["server=dell-r750xa", "nodes=1,2,4", "split=together", "tensor=1"],
    )
    found = propose(wanted)
    assert not found.best
    assert found.found.worked_out == 0
    assert [one.certain for one in found.found.lost if one.why == "limit"] == [False] * len(found.found.lost)


def test_a_host_is_emptied_in_time() -> None:
    found = propose(read_wanted("evacuate", within="10 min", choose=["nodes=4,5", "migration=25 Gb/s,100 Gb/s"]))
    assert {p.design.groups["hosts"].replicas for p in found.best} == {5}
    assert all(p.worth.values["evacuation_time"].value <= 600 for p in found.best)
    # four hosts have no room for a machine that needs a whole GPU
    assert any(one.measure == "machines_staying" for one in found.found.lost)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"settings": ["modell=x"]}, "no setting 'modell'"),
        ({"settings": ["model"]}, "no NAME=VALUE"),
        ({"within": "20"}, "20"),
        ({"choose": ["colour=red"]}, "no choice 'colour'"),
        ({"choose": ["nodes=many"]}, "no number"),
        ({"limits": ["mfuu=1"]}, "has no 'mfuu'"),
        ({"power": "5 apples"}, "apples"),
        ({"racks": 0}, "is none"),
    ],
)
def test_bad_wishes_are_refused_in_words(arguments: dict[str, object], message: str) -> None:
    settings = arguments.pop("settings", TRAIN)
    with pytest.raises(FormatError, match=message):
        propose(read_wanted("train", settings, **arguments))  # type: ignore[arg-type]


def test_every_family_answers_a_goal() -> None:
    assert {g for f in families().values() for g in f.goals} == {"training", "serving", "evacuation"}


def racked(height: int) -> Design:
    """Four hosts of two units each in a rack."""
    design = open_design("vsphere-cluster-4")
    rack = Part(id="rack0", kind="rack", overrides={"height": Quantity(value=height)})
    hosts = with_changes(design.groups["hosts"], parent="rack0")
    parts = {**design.parts, "rack0": rack}
    return with_changes(design, parts=parts, groups={**design.groups, "hosts": hosts})


def test_a_design_that_breaks_a_rule_is_not_proposed() -> None:
    """Hosts take 2 units each: 4 take 8, 5 take 10. In a rack of 9 units the fifth does not stand, so the design that
    would be best is dropped and says which rule it breaks; in one of 10 units it is proposed."""
    asked = {"within": "10 min", "choose": ["nodes=5", "migration=100 Gb/s"]}
    fits = propose(read_wanted("evacuate", base=racked(10), **asked))  # type: ignore[arg-type]
    assert [p.design.groups["hosts"].replicas for p in fits.best] == [5]
    dropped = propose(read_wanted("evacuate", base=racked(9), **asked))  # type: ignore[arg-type]
    assert dropped.best == ()
    (lost,) = dropped.found.lost
    assert lost.why == "refused"
    assert "PWR002" in lost.text
    assert "PWR002" in dropped.impossible


def test_an_error_of_the_drawing_itself_is_told_and_rules_nothing_out() -> None:
    """Eight units of hosts in a rack of 7: that is the reader's own drawing, and a proposal makes it no better."""
    found = propose(read_wanted("evacuate", base=racked(7), within="10 min", choose=["nodes=5", "migration=100 Gb/s"]))
    assert len(found.best) == 1
    assert any("PWR002" in text for text in found.best[0].broken)


@pytest.mark.parametrize(
    ("goal", "settings", "choices"),
    [
        ("evacuate", [], ["nodes=4,5", "migration=25 Gb/s,100 Gb/s"]),
        ("serve", ["rate=2 1/s"], ["server=serving-l40s-4", "nodes=1,2", "split=together,1:1", "tensor=1,2"]),
    ],
)
def test_every_design_has_a_name_of_its_own(goal: str, settings: list[str], choices: list[str]) -> None:
    question = Question(read_wanted(goal, settings, choose=choices))
    names = [question.design(s).name for s in leaves(question)]
    assert len(names) > 1
    assert len(names) == len(set(names))


def test_no_proposal_breaks_a_rule() -> None:
    for found in (
        propose(read_wanted("train", TRAIN, choose=[*SMALL[:1], "nodes=1", *SMALL[2:]])),
        propose(read_wanted("serve", ["model=llama-3-8b", "rate=2 1/s", "count=400"], choose=["nodes=1,2"])),
    ):
        assert found.best
        for proposal in found.best:
            assert [f for f in check(proposal.design).findings if f.severity is Severity.ERROR] == []


def test_a_kept_search_is_of_the_model_as_it_was(tmp_path: Path) -> None:
    """The file of a search holds what the model file said: other layers are another search."""
    model, kept = tmp_path / "config.json", tmp_path / "kept"
    config = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32}
    small = ["server=dgx-h100", "nodes=1", "storage=drives"]

    def best(layers: int, file: Path) -> float:
        model.write_text(json.dumps({**config, "vocab_size": 32000, "num_hidden_layers": layers}), "utf-8")
        wanted = read_wanted("train", [f"model={model}", "dataset=c4-en", "global_batch=256"], choose=small)
        return propose(wanted, keep=file).best[0].worth.values["time_to_train"].value

    before = best(32, kept)
    with pytest.raises(FormatError, match="models that changed"):
        best(16, kept)
    assert best(16, tmp_path / "other") < 0.7 * before
    assert best(32, kept) == before


def test_a_kept_line_that_was_changed_by_hand_is_not_believed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    wanted = read_wanted("train", TRAIN, choose=["server=dgx-h100", "nodes=4", "storage=drives"])
    best = propose(wanted, keep=kept).best
    head, *lines = kept.read_text("utf-8").splitlines()
    number, line = next((k, line) for k, line in enumerate(map(json.loads, lines)) if line["values"])
    line["values"]["time_to_train"][0] = 0.001
    kept.write_text("\n".join([head, *lines[:number], json.dumps(line), *lines[number + 1 :], ""]), "utf-8")
    with pytest.raises(FormatError, match=rf"line {number + 2}: .*changed by hand"):
        propose(wanted, keep=kept)
    # what a kill cut off is worked out again
    kept.write_text("\n".join([head, *lines])[:-20], "utf-8")
    assert [p.settings for p in propose(wanted, keep=kept).best] == [p.settings for p in best]
    assert kept.read_text("utf-8").splitlines() == [head, *lines]


def test_two_searches_in_one_file_keep_the_lines_of_both(tmp_path: Path) -> None:
    wanted = read_wanted("train", TRAIN, choose=["server=dgx-h100", "nodes=1,2", "storage=drives"])
    question = Question(wanted)
    first, second = Kept(tmp_path / "kept", question), Kept(tmp_path / "kept", question)
    for k in range(10):
        first.add(("a", str(k)), Worth(refused="one"))
        second.add(("b", str(k)), Worth(refused="other"))
    assert len(Kept(tmp_path / "kept", question).known) == 20
