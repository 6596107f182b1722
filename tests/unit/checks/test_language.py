"""The language of design tests: what holds, what is said where it does not, and mistakes with file and line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.__main__ import main
from designer.checks.evaluate import Evaluator
from designer.checks.runner import Outcome, Promise, State, as_findings, judge
from designer.checks.syntax import CheckError, Comparison, read
from designer.checks.values import Measure, unit_of
from designer.checks.world import World, bottleneck_text
from designer.design.document import Assertion, Design, WorkloadSpec, with_changes
from designer.engine.results import Bottleneck
from designer.interchange.templates import open_design
from tests.designs import one_unit

# The language of design tests: what holds, what is said where it does not, and what cannot be asked.


@pytest.fixture(scope="module")
def small() -> World:
    """Four servers of eight GPUs, eight leaves, four spines; one transfer."""
    spec = WorkloadSpec(id="h2d", kind="transfer", settings={"from": "memory", "to": "gpus"})
    return World(one_unit(4, workloads=[spec], default_workload="h2d"))


def judged(world: World, text: str) -> Outcome:
    return judge(world, Promise("p", text))


HELD = [
    'count("gpu") == 32',
    "parts.gpu == 32 and parts.switch == 12",
    "links.ethernet == 0",
    'rate("memory -> gpu[*]") >= 30 GB/s each',
    'rate("memory -> gpu[*]") == sum(rate("memory -> gpu[*]"))',
    'rate("memory -> gpu[*]") == 32 * rate("memory -> gpu[*]").min',
    "workload('h2d').rate >= 900 GB/s",
    "h2d.rate / 32 >= 30 GB/s",
    "transfer.rate == h2d.rate",
    'rate("h2d") == h2d.rate',
    "rate == h2d.rate",
    'oversubscription("leaf") <= 1:1',
    'oversubscription("rail*") <= 1:1',
    "none(findings.error)",
    "count(findings.error) == 0",
    "low(h2d.rate) <= h2d.rate and h2d.rate <= high(h2d.rate)",
    "certainly(h2d.rate >= low(h2d.rate))",
    "not (h2d.rate < 1 B/s)",
    "1 GB/s * 2 s == 2 GB",
    "-1 < 0 and 10 % == 0.1 and 1:2 == 0.5",
    "max(1 s, 2000 ms, 1 min) == 60 s",
    "mean(1, 2, 3) == 2",
    'not passes("servers[0]/gpu0 -> servers[0]/memory0", "infiniband")',
    'passes("servers[0]/gpu0 -> servers[1]/gpu0", "infiniband")',
    'passes("servers[0]/gpu0 -> servers[1]/gpu0", "servers[0]/psw0")',
    "survives(any spine).h2d.slowdown <= 1.0",
]


@pytest.mark.parametrize("text", HELD)
def test_what_holds(small: World, text: str) -> None:
    outcome = judged(small, text)
    assert outcome.state is State.HELD, outcome.message


@pytest.mark.parametrize("text", HELD)
def test_its_opposite_does_not(small: World, text: str) -> None:
    outcome = judged(small, f"not ({text})")
    assert outcome.state is State.BROKEN, outcome.message


def test_a_broken_promise_says_what_was_got_what_binds_and_what_would_mend_it(small: World) -> None:
    outcome = judged(small, 'rate("memory -> gpu[*]") >= 1 TB/s each')
    assert outcome.state is State.BROKEN
    assert outcome.expected == ">= 1 TB/s each"
    assert "GB/s at servers[0]/memory0 -> servers[0]/gpu0" in outcome.got
    assert "and 29 more" in outcome.got
    assert outcome.band
    assert "memory0" in outcome.binds or "gpu" in outcome.binds
    assert "times as good" in outcome.mend


def test_what_would_help_is_said_of_what_gains_it() -> None:
    """Two of three tied links doubled still leave the third: alone they gain nothing, together almost twice."""
    tied = [Bottleneck("channel", name, name, "", 1.0, 1.94) for name in ("a", "b", "c")]
    of_all = "twice the capacity of all 3 that bind (a, b …) makes it 1.94 times as good"
    assert bottleneck_text(tied) == ("a, b …", of_all)
    one = Bottleneck("channel", "a", "a", "", 1.94, 1.94)
    assert bottleneck_text([one]) == ("a", "twice the capacity of a makes it 1.94 times as good")
    unequal = [Bottleneck("channel", "a", "a", "", 1.0, 1.3), Bottleneck("channel", "b", "b", "", 1.2, 1.3)]
    assert bottleneck_text(unequal)[1] == "twice the capacity of b makes it 1.20 times as good"
    equal = [Bottleneck("part", "gpu0", "H100", "", 1.18, 1.18, equal=8)]
    assert bottleneck_text(equal)[1] == "twice the capacity of all 8 that bind (H100) makes it 1.18 times as good"
    assert bottleneck_text([Bottleneck("limit", "latency", "latency", "", 1.0, 1.0)]) == ("latency", "")


WRONG = [
    # text, column counted from 1, part of what is said
    ("", 1, "found the end"),
    ("1 +", 4, "a value"),
    ("(1 == 1", 8, "closing bracket"),
    ("1 == 1)", 7, "expected the end"),
    ('rate("a -> b', 6, "never closed"),
    ("h2d.rate >= 400", 10, "a rate with a plain number"),
    ("h2d.rate >= 400 G", 13, "bits or bytes"),
    ("h2d.rate >= 400 GB", 10, "a rate with a size"),
    ("h2d.rate >= 3 gb/s", 13, "case matters"),
    ("h2d.speed >= 3 GB/s", 4, "no metric 'speed'"),
    ("nothing.rate >= 3 GB/s", 1, "there is no 'nothing'"),
    ("findings.awful", 10, "no 'awful'"),
    ("exec('x')", 1, "no function 'exec'"),
    ("__import__('os').system", 1, "no function"),
    ("h2d.__class__ == 1", 5, "no metric '__class__'"),
    ("h2d.rate", 1, "no promise"),
    ("1 s + 1 GB == 2 s", 5, "adds"),
    ("1 / (h2d.rate - h2d.rate) == 1", 3, "zero"),
    ('oversubscription("core") <= 1:1', 1, "no switch"),
    ("survives(any moon).slowdown <= 1", 1, "names no part"),
    ("1:0 == 1", 3, "ratio to zero"),
    ("h2d.rate >= 1 GB/s at 20/s", 1, "not asked so often"),
    ("p95(ttft, 'chat') <= 500 ms at 20/s", 1, "no one workload 'chat'"),
    ("1 == 1 == 1", 8, "expected the end"),
    ("low() == 1", 1, "takes one"),
]


@pytest.mark.parametrize(("text", "column", "said"), WRONG)
def test_a_mistake_is_reported_with_its_place(small: World, text: str, column: int, said: str) -> None:
    outcome = judged(small, text)
    assert outcome.state is State.ERROR
    assert said in outcome.got
    assert outcome.mend or said == "no metric"
    assert abs(outcome.column - column) <= 4


def test_bands_decide_what_is_certain_and_what_is_probable() -> None:
    world = World(Design(name="d"))

    class Stated(Evaluator):
        def _name(self, tree: object) -> Measure:
            # 10 s, believed to lie between 8 and 14 s
            return Measure(10.0, 8.0, 14.0, unit_of("duration"), "x")

    def holds(text: str) -> bool:
        return Stated(world).truth(read(text)).holds

    # plain: the value 10; probably: half way to the bad end, 12; certainly: the bad end, 14
    assert holds("x <= 10 s")
    assert not holds("x <= 9.99 s")
    assert holds("probably(x <= 12 s)")
    assert not holds("probably(x <= 11.9 s)")
    assert holds("certainly(x <= 14 s)")
    assert not holds("certainly(x <= 13.9 s)")
    # the other way the bad end is 8: half way is 9
    assert holds("probably(x >= 9 s)")
    assert not holds("probably(x >= 9.1 s)")
    assert holds("certainly(x >= 8 s)")
    assert not holds("certainly(x >= 8.1 s)")
    # differences take the far ends of both: 2·x − x is 2 to 20, not 8 to 14
    assert holds("certainly(x + x - x <= 20 s)")
    assert not holds("certainly(x + x - x <= 19 s)")


def test_a_design_keeps_its_promises_or_says_so() -> None:
    spec = WorkloadSpec(id="h2d", kind="transfer", settings={"from": "memory", "to": "gpus"})
    good = Assertion(id="a", workload="h2d", metric="rate", comparison=">=", value="1 GB/s")
    bad = Assertion(id="b", expression='rate("memory -> gpu[*]") >= 1 TB/s each')
    odd = Assertion(id="c", expression="h2d.rate >= 3 s")
    design = one_unit(2, workloads=[spec], assertions=[good, bad, odd])
    import designer

    found = [f for f in designer.analyze(design).findings if f.code.startswith("ASSERT")]
    assert [(f.code, f.where) for f in found] == [("ASSERT-BROKEN", ("b",)), ("ASSERT-UNEVALUATED", ("c",))]


def test_an_assertion_is_a_comparison_or_an_expression_not_half_of_both() -> None:
    with pytest.raises(ValueError, match="expression alone"):
        Assertion(id="a", workload="h2d", expression="1 == 1")
    with pytest.raises(ValueError, match="expression alone"):
        Assertion(id="a", workload="h2d", metric="rate")
    with pytest.raises(ValueError, match="expression alone"):
        Assertion(id="a")


def test_a_machine_that_moves_is_asked_by_its_id() -> None:
    world = World(open_design("vsphere-cluster-4"))
    outcome = judged(world, 'stun_time("lab0") <= 100 s and stun_time("lab0") > 1 s')
    assert outcome.state is State.HELD, outcome.message
    unknown = judged(world, 'stun_time("nobody") <= 10 s')
    assert unknown.state is State.ERROR
    assert "lab0" in unknown.mend


def test_a_served_model_is_asked_at_a_load() -> None:
    spec = WorkloadSpec(id="chat", kind="serving", settings={"model": "llama-3-70b"})
    world = World(with_changes(open_design("hgx-h100-8"), workloads=[spec], default_workload="chat"))
    few = judged(world, 'p95(ttft, "chat") <= 5 s at 2/s')
    assert few.state is State.HELD, few.message
    many = judged(world, 'p95(ttft, "llama-3-70b") <= 5 s at 2000/s')
    assert many.state is State.BROKEN, many.message
    assert many.got.startswith("∞")
    assert many.mend.startswith("ask for no more than ")


def test_outcomes_as_findings_name_the_promise() -> None:
    world = World(Design(name="d"))
    (finding,) = as_findings([judge(world, Promise("sizes", "1 == 2"))])
    assert (finding.code, finding.where, str(finding.severity)) == ("ASSERT-BROKEN", ("sizes",), "error")


_SPELLED = """rate ( ) "storage -> gpu[*]" "a ' >= <= == != < > each at any and or not . , + - * / 3.18 GB/s 10 s 20/s
1:1 1e309 1e300 15 % 400 G findings error parts links gpu count none survives leaf low high certainly probably p95 ttft
h2d __class__ eval \x00 é ∞ 1_0 0x1 [ ] { \t :"""


def spelled() -> list[str]:
    """What promises are made of, and what they must not be."""
    return _SPELLED.split(" ")


PIECES = st.sampled_from(spelled())


ARGUMENTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=30).map(" ".join), st.lists(PIECES, max_size=30).map("".join)
)


@given(ARGUMENTS)
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    try:
        tree = read(text)
    except CheckError as error:
        at, stated = error.position, error.text
    else:
        at, stated = tree.at, "a tree"
    assert 0 <= at <= max(len(text), 2000)
    assert stated


EMPTY = World(Design(name="d"))


@given(ARGUMENTS)
def test_any_text_is_judged_or_refused(text: str) -> None:
    outcome = judge(EMPTY, Promise("p", text))
    assert outcome.state in State
    assert outcome.got


def test_what_is_nested_too_deep_or_too_long_is_refused() -> None:
    for text in (
        "(" * 5000,
        "-" * 1999 + "1",
        "not " * 400 + "1 == 1",
        "1 + " * 1000,
        "+".join("1" * 900) + "== 1",
        "(" * 100 + "1" + ")" * 100,
    ):
        assert judge(EMPTY, Promise("p", text)).state is State.ERROR
    long = " and ".join(["1 == 1"] * 45)
    assert judge(EMPTY, Promise("p", long)).state is State.HELD


def test_numbers_are_read_as_units_are() -> None:
    tree = read("400 Gb/s == 50 GB/s")
    assert isinstance(tree, Comparison)
    assert tree.left.value == tree.right.value == 50e9  # type: ignore[union-attr]
    assert math.isclose(read("20/s <= 8.9 us").left.value, 20.0)  # type: ignore[union-attr]
    assert read("8.9 µs <= 1 s").left.value == pytest.approx(8.9e-6)  # type: ignore[union-attr]


# Mistakes people make in a file of design tests: one message each, with file, line and what to write instead.

HEAD = 'format = "designer-checks"\nversion = 1\ndesign = "hgx-h100-8"\n\n[[check]]\nname = "fed"\n'


@pytest.mark.parametrize(
    ("promise", "got", "mend"),
    [
        ('rate("memory -> gpu[*]") >= 3 GBs each', "there is no unit 'GBs'", "did you mean GB/s"),
        ("h2d.rate >= 3 seconds", "there is no unit 'seconds'", "did you mean s?"),
        ("h2d.rate >= 3 ms", "compares a rate with a duration", "give the right side the unit of the left"),
        ('thruput("h2d") >= 3 GB/s', "there is no function 'thruput'", "or a metric"),
        ("certainy(h2d.rate >= 3 GB/s)", "there is no function 'certainy'", "did you mean certainly"),
        ("h2d.rat >= 3 GB/s", "has no metric 'rat'", "it has rate"),
        ('rate("memroy0 -> gpu0") >= 3 GB/s', "there is no part 'memroy0'", "did you mean memory0"),
        ('rate("memory0 > gpu0") >= 3 GB/s', "rate is not known of", 'write rate("memory0 -> gpu0")'),
        ('rate("memory0 -> gpu0" >= 3 GB/s', "found the end", "close the bracket opened at column 5"),
        ("(h2d.rate >= 3 GB/s", "found the end", "close the bracket opened at column 1"),
        ("h2d.rate => 3 GB/s", "found '=> 3 GB/s'", "write >="),
        ('rate("memory -> gpu0", "h2dd") >= 3 GB/s', "there is no workload 'h2dd'", "did you mean h2d?"),
        ("parts.gpus == 8", "parts have no kind 'gpus'", "did you mean gpu"),
        ("links.pcei <= 40", "links have no kind 'pcei'", "did you mean pcie?"),
        ('none(findings("NET999"))', "no finding has the code 'NET999'", "did you mean NET009"),
        ('count(findings("pci001")) == 0', "no finding has the code 'pci001'", "did you mean PCI001"),
        ("all-reduce.bus_bandwidth >= 3 GB/s", "there is no 'all'", 'write workload("all-reduce"), a minus subtracts'),
        ("survives(any nvswich).h2d.slowdown <= 1.1", "'nvswich' names no part", "did you mean nvswitch"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    promise: str, got: str, mend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.checks.toml"
    file.write_text(f"{HEAD}expect = '{promise}'\n", "utf-8")
    assert main(["test", str(file)]) == 2
    stated = " ".join(capsys.readouterr().out.split())
    assert stated.count("ERROR") == 1
    assert f"got: {got}" in stated or got in stated
    assert mend in stated
    assert f"{file.name} (hgx-h100-8)" in stated
    assert "place: line 7" in stated


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        (
            "expect = 'h2d.rate >= 3 GB/s'\n[[check]]\nname = \"fed\"\nexpect = '1 == 1'",
            "line 8, check[1]: two tests are",
        ),
        ("expct = 'h2d.rate >= 3 GB/s'", "line 5, check[0].expct: 'expct' is not known"),
        ("expect = h2d.rate >= 3 GB/s", "(at line 7, column 10) — correct it there; promises stand in quotes"),
    ],
)
def test_a_file_that_cannot_be_read(line: str, stated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.checks.toml"
    file.write_text(f"{HEAD}{line}\n", "utf-8")
    assert main(["test", str(file)]) == 2
    error = capsys.readouterr().err
    assert file.name in error
    assert stated in error
