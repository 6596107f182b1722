"""Pages of every workload of every template: their sentences, their numbers, and their lines in a terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import designer
from designer.checks.analysing import analyze
from designer.cli.pages import page_lines, text_of
from designer.decisions.suggest import best_single_change
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.interchange.templates import open_design
from designer.pages.workload import overview, page_of
from designer.present.blocks import Page, State

TEMPLATES = sorted(
    file.name.removesuffix(".design.json")
    for file in (Path(designer.__file__).parents[1] / "templates").glob("*.design.json")
)
#: words of the engine that say nothing to its users
INTERNAL = re.compile(
    r"\b(told|tells|alike|binds|binding|channels?|way|felt|apart|meeting|TP\d+|PP\d+|DP\d+|mb\d+|shard-\w+|cb\d|SP)\b"
    r"|\ba: S\d|\bS\d\d\b|  |\bNone\b|\bnan\b|\binf\b|\d e[+-]|[a-z]+_[a-z]+"
)
PATH = re.compile(r"\w+\[\d+\]|\b\w+--\w+|\b(gpu|cpu|psw|nvsw|nic|nvme|numa|switch|memory)\d+\b|[a-z]/[a-z]+\d")
ONE_OF_MANY = re.compile(r"(?<![\d,.])1 (?!min\b|h\b|s\b|ms\b|of\b|more\b|day\b|year\b)(\w+s)\b(?!/)")
QUANTITY = re.compile(r"\d (?:[kMGTP]?B(?:/s)?|TFLOP/s|ms|µs|s|min|h|days|W|kW|\w+/s)\b")


def pages_of(name: str) -> tuple[Design, list[Page]]:
    design = open_design(name)
    return design, [page_of(w, design, name) for w in analyze(design, curves=False).workloads]


@pytest.fixture(scope="module", params=TEMPLATES)
def answered(request: pytest.FixtureRequest) -> tuple[Design, list[Page]]:
    return pages_of(request.param)


def sentences(page: Page) -> list[str]:
    return [s for s in re.split(r"(?<=[.?!]) (?=[A-Z])", page.headline) if s]


def ids_of(design: Design) -> set[str]:
    known = {*design.parts, *design.groups, *design.workloads, *design.vms}
    return {name for name in known if re.search(r"[\d_-]", name)}


def test_headlines_are_short_sentences(answered: tuple[Design, list[Page]]) -> None:
    for page in answered[1]:
        assert page.headline[0].isupper() or page.headline[0].isdigit()
        assert page.headline.endswith(".")
        for sentence in sentences(page):
            assert len(sentence.split()) <= 30, sentence
        assert len(page.headline.split()) <= 40, page.headline


def test_headlines_hold_no_id_and_no_word_of_the_engine(answered: tuple[Design, list[Page]]) -> None:
    design, pages = answered
    for page in pages:
        for text in (page.headline, *(limit.title for limit in page.limits), *(f.title for f in page.figures)):
            assert INTERNAL.search(text) is None, text
            assert PATH.search(text) is None, text
            assert not {word.strip(".,;:") for word in text.split()} & ids_of(design), text


def test_headlines_have_a_number_with_a_unit_and_agree_in_number(answered: tuple[Design, list[Page]]) -> None:
    for page in answered[1]:
        assert ONE_OF_MANY.search(page.headline) is None, page.headline
        if page.state not in (State.REFUSED,):
            assert QUANTITY.search(page.headline) or "more machines fit" in page.headline, page.headline
        if page.limits:
            assert re.search(r"\b(limits|limit)\b", page.headline), page.headline
        subject = page.headline.split(". ")[-1]
        if re.search(r"\blimit\b", subject):
            assert " and " in subject or re.match(r"[\w ]+(launches|reads|streams|Readers|workers|cores)", subject), (
                subject
            )


def test_figures_say_what_the_headline_says(answered: tuple[Design, list[Page]]) -> None:
    """Each quantity of the headline is that of a figure, of a target or of a share shown below."""
    for page in answered[1]:
        assert 1 <= len(page.figures) <= 6
        shown = " ".join(
            [f"{f.text} {f.target}" for f in page.figures] + [s.text for w in page.where for s in w.shares]
        )
        shown += " ".join(f"{s.share:.0%}" for w in page.where for s in w.shares)
        for number in re.findall(
            r"\d[\d,.]*(?= (?:GB/s|MB/s|TB/s|PB/s|ms|days|tokens/s|images/s|requests/s))", page.headline
        ):
            assert number in shown, (number, page.headline, shown)


def test_headlines_write_figures_with_their_whole_unit(answered: tuple[Design, list[Page]]) -> None:
    for page in answered[1]:
        named = [f for f in page.figures if re.search(rf"(?<![\d,.]){re.escape(f.value)} ", page.headline)]
        assert named or "fit" in page.headline, page.headline
        for figure in named:
            assert re.search(rf"{re.escape(figure.text)}(?![\w/])", page.headline), (figure.text, page.headline)


def test_shares_add_up_to_the_whole(answered: tuple[Design, list[Page]]) -> None:
    for page in answered[1]:
        for stack in page.where:
            assert sum(s.share for s in stack.shares) == pytest.approx(1.0, abs=0.025), stack
            assert sum(s.limits for s in stack.shares) <= 1


@pytest.mark.parametrize("width", [80, 120])
def test_pages_take_at_most_thirty_lines_of_a_terminal(answered: tuple[Design, list[Page]], width: int) -> None:
    design, pages = answered
    for page in [*pages, overview(pages, design, "x.design.json")]:
        text = text_of(page_lines(page, width)).splitlines()
        assert len(text) <= 30, "\n".join(text)
        # a command is copied as it is: one long word of it may be wider
        assert all(len(line) <= width or "--" in line for line in text), "\n".join(text)


def test_commands_of_pages_are_commands_with_known_arguments(answered: tuple[Design, list[Page]]) -> None:
    from designer.cli.main import commands, parser_of

    for page in answered[1]:
        for change in page.changes:
            if change.command:
                assert change.command[0] in commands()
                parser_of(change.command[0]).parse_args(change.command[1:])


#: settings of kinds that need some, on a server of eight GPUs or a cluster of hosts
KINDS = {
    "checkpointing": {"model": "llama-2-7b"},
    "data_loading": {},
    "data_versions": {"store": "memory0", "source": "memory1"},
    "elastic": {"model": "resnet-50"},
    "evacuation": {"hosts": "hosts[0]/server"},
    "federated": {},
    "hyperparameter_sweep": {"model": "resnet-50"},
    "inference": {},
    "layout_search": {"model": "llama-2-7b"},
    "pooling": {},
    "product": {},
    "serving": {},
    "storage_sizing": {},
    "vmotion": {"vms": "lab0"},
    "workflow": {},
}
#: what the sentence of a kind is about
ABOUT = {
    "checkpointing": "checkpoint",
    "data_loading": "Loads",
    "data_versions": "Versions take 1.90 TB",
    "evacuation": "Empties",
    "federated": "round",
    "pooling": "pool",
    "serving": "Serves",
    "storage_sizing": "Feeds",
    "vmotion": "Moves",
    "workflow": "workflow",
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_workload_has_a_sentence_of_its_own(kind: str) -> None:
    design = open_design("vsphere-cluster-4" if kind in ("evacuation", "vmotion") else "hgx-h100-8")
    spec = WorkloadSpec(id="asked", kind=kind, title="Asked", settings=KINDS[kind])
    asked = with_changes(design, workloads=[spec], assertions=[], default_workload="")
    (result,) = analyze(asked, ["asked"], curves=False).workloads
    page = page_of(result, asked)
    assert ABOUT.get(kind, "") in page.headline
    assert re.search(r"\d", page.headline)
    assert page.figures
    for text in (page.headline, *(limit.title for limit in page.limits)):
        assert INTERNAL.search(text) is None, text
        assert PATH.search(text) is None, text
    assert all(len(sentence.split()) <= 30 for sentence in sentences(page))
    assert len(page_lines(page, 80)) <= 30


def test_limits_agree_in_number() -> None:
    from designer.present.limits import limits_it

    assert limits_it("Kernel launches and host work") == "limit it"
    assert limits_it("vMotion streams") == "limit it"
    assert limits_it("The workers that load data (8 for each GPU)") == "limit it"
    assert limits_it("GPU arithmetic") == "limits it"
    assert limits_it("The media of the drives") == "limits it"
    assert limits_it("Latency of the steps of collectives") == "limits it"


def test_codes_of_layouts_are_words() -> None:
    from designer.present.words import plain

    assert plain("TP8 PP4 DP32 mb1 SP shard-optimizer, batch 1024") == (
        "8-way tensor parallel, 4 pipeline stages, 32-way data parallel, micro-batch 1, sequence parallel, "
        "optimizer sharded (ZeRO-1), batch 1024"
    )
    assert plain("Llama 2 7B with TP1 PP1 DP8 mb1 needs 142.7 GB") == (
        "Llama 2 7B with 8-way data parallel, micro-batch 1 needs 142.7 GB"
    )


def test_a_page_is_markdown_with_the_same_figures() -> None:
    from designer.present.markdown import to_markdown

    design, pages = pages_of("hgx-h100-8")
    for page in pages:
        text = to_markdown(page, details=True)
        assert f"**{page.headline}**" in text
        assert all(figure.text in text and figure.band in text for figure in page.figures)
        assert all(limit.title in text for limit in page.limits)
        assert "All figures" in text
    shown = designer.page(design, "h2d")
    assert shown._repr_markdown_() == to_markdown(shown)
    assert designer.page(design).summary


def test_markdown_takes_no_markup_of_names() -> None:
    from designer.present.markdown import to_markdown

    text = to_markdown(Page("a | <b>", State.ANSWERED, "One\ntwo."))
    assert text.splitlines()[0] == "# a \\| &lt;b>"
    assert "**One two.**" in text


def test_the_steps_of_a_served_model_are_shown_with_all_they_consist_of() -> None:
    """The stacks of a page are the steps of the result; what limits a phase is marked in its step."""
    design = open_design("serving-h100-8")
    (result,) = analyze(design, ["chat-70b"], curves=False).workloads
    page = page_of(result, design)
    assert [stack.title for stack in page.where] == ["Prompt step", "Token step"]
    for stack, step in zip(page.where, result.steps, strict=True):
        assert [s.title for s in stack.shares if s.limits] == [
            limit.title
            for limit in page.limits
            if limit.when == {"prompts": "prompts", "decoding": "answers"}[step.phase]
        ]
        assert sum(s.share for s in stack.shares) == pytest.approx(1.0, abs=1e-3)
        assert [s.share for s in stack.shares] == pytest.approx([p.seconds / step.seconds for p in step.parts])
        assert {s.title for s in stack.shares} == {
            "GPU arithmetic",
            "GPU memory",
            "Kernel launches",
            "vLLM 0.12.0",
            "Latency",
            "NVLink",
        }
    # the page reads data, so words of reasons may change
    plain_words = [replace(one, why="") for one in (*result.binding, *result.next)]
    cut = len(result.binding)
    bare = replace(result, binding=tuple(plain_words[:cut]), next=tuple(plain_words[cut:]))
    assert page_of(bare, design).where == page.where
    assert page_of(bare, design).limits == page.limits


@pytest.mark.parametrize("template", ["su-h100-32", "hgx-h100-8"])
def test_the_parts_of_a_collective_are_all_of_its_time(template: str) -> None:
    """Links, latency and launches of the account add up to the time of the answer, without a rest."""
    (result,) = analyze(open_design(template), ["all-reduce"], curves=False).workloads
    (step,) = result.steps
    total = result.metrics["communication_time"].value
    assert sum(part.seconds for part in step.parts) == pytest.approx(total, rel=1e-9)
    (stack,) = page_of(result, open_design(template)).where
    assert sum(share.share for share in stack.shares) == pytest.approx(1.0, abs=1e-3)
    assert "Other" not in [share.title for share in stack.shares]


@pytest.mark.parametrize("scenario", [{}, {"scenario": "single-stream"}])
def test_a_batch_is_shown_with_all_it_consists_of(scenario: dict[str, str]) -> None:
    design = open_design("hgx-h100-8")
    spec = WorkloadSpec(id="asked", kind="inference", title="Asked", settings=scenario)
    asked = with_changes(design, workloads=[spec], assertions=[], default_workload="")
    (result,) = analyze(asked, ["asked"], curves=False).workloads
    page = page_of(result, asked)
    assert page.where_title == "Where the time goes"
    (stack,) = page.where
    assert sum(share.share for share in stack.shares) == pytest.approx(1.0, abs=0.01)
    # what limits is the largest part of the batch
    assert [share.title for share in stack.shares if share.limits] == [stack.shares[0].title]
    assert page.limits[0].title == stack.shares[0].title


def test_a_workload_with_neighbours_offers_a_run_of_all_of_them() -> None:
    design = open_design("hgx-h100-8")
    spec = design.workloads["h2d"]
    training = design.workloads["resnet-50"]
    calm = page_of(analyze(design, ["h2d"], curves=False).workloads[0], design, "hgx-h100-8")
    asked = with_changes(
        design,
        workloads=[
            spec.model_copy(update={"id": "moves", "settings": {**spec.settings, "beside": "resnet-50"}}),
            training.model_copy(update={"settings": {**training.settings, "retrain_every": "1 d"}}),
        ],
        assertions=[],
        default_workload="",
    )
    page = page_of(analyze(asked, ["moves"], curves=False).workloads[0], asked, "x.design.json")
    assert page.changes[0].command[:2] == ("simulate", "x.design.json")
    assert page.changes[0].command[-1] == "resnet-50"
    assert all(change.command[:1] != ("simulate",) for change in calm.changes)


def test_each_gpu_gets_as_much_only_where_none_gets_more() -> None:
    """Two drives of one GPU: the total is a multiple of what the slowest gets, and yet not all get that."""
    design = open_design("hgx-h100-8")
    (drives,) = (w for w in design.workloads.values() if w.title == "Local drives to all GPUs at once")

    def headline(of: Design) -> str:
        return page_of(analyze(of, [drives.id], curves=False).workloads[0], of).headline

    assert headline(design).startswith("Each GPU gets 6.85 GB/s, 54.8 GB/s in all.")
    (step,) = best_single_change(design, drives.id).steps
    assert step.edit.label == "Add Drive 8, a copy of Drive 0"
    assert headline(step.edit.apply(design)).startswith("Moves 61.7 GB/s; the slowest GPU gets 6.85 GB/s.")
