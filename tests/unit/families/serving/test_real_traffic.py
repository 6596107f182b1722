"""Requests as they come: BurstGPT files, routers that know what replicas hold, agents with tools."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from designer.errors import ExchangeError
from designer.families.serving.alone import Fleet, of_replica, routed
from designer.families.serving.deployment import Load
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.load import ROUTINGS, agents_of, route, sent_to
from designer.families.serving.scheduler import run_requests
from designer.families.serving.traces import parse_trace
from tests.asked import serving_asked
from tests.unit.families.serving.test_serving_workload import served, value
from tests.unit.families.serving.test_split import Even, Side, run_split_clients

BURST = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,1087,230,1317,API log
118,ChatGPT,417,0,417,Conversation log
119.5,ChatGPT,1360,60,1420,Conversation log
"""
HOW = Scheduling(8192, 64, True, True, 0.0, 0.9, 16)


def load(**given: object) -> Load:
    return serving_asked({"load": "agents", "spread": 0, **given}, "s").load


def test_burstgpt_by_hand() -> None:
    """Four lines, one of which failed: it has no answer. Times count from the first."""
    found = parse_trace(BURST)
    assert list(found.at) == [0, 40, 114.5]
    assert list(found.prompt) == [472, 1087, 1360]
    assert list(found.output) == [18, 230, 60]
    assert any("left out" in note for note in found.notes)


def test_burstgpt_with_sessions_and_other_order_of_columns() -> None:
    text = "Session ID,Response tokens,Elapsed time,Timestamp,Request tokens\na,3,1.5,10,7\nb,4,2,12,8\n"
    found = parse_trace(text)
    assert (list(found.at), list(found.prompt), list(found.output)) == ([0, 2], [7, 8], [3, 4])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Timestamp,Request tokens\n1,2\n", "line 1"),
        ("Timestamp,Request tokens,Response tokens\nnoon,2,3\n", "line 2"),
        ("Timestamp,Request tokens,Response tokens\n1,2,x\n", "line 2"),
        ("Timestamp,Request tokens,Response tokens\n1,2,3\ninf,2,3\n", "line 3"),
    ],
)
def test_mistakes_in_burstgpt_are_named_by_line(text: str, place: str) -> None:
    with pytest.raises(ExchangeError) as stated:
        parse_trace(text)
    assert stated.value.place == place


def test_routers_by_hand() -> None:
    """Two conversations in turn, A B A B; then B A B A. In turns, the second half finds nothing; by prefix, all."""
    blocks = [(1, 2), (11, 12), (1, 2), (11, 12), (11, 12), (1, 2), (11, 12), (1, 2)]
    prompt, at = [1024] * 8, [float(k) for k in range(8)]
    turns = route(blocks, 512, prompt, at, 2, 1024, "turns")
    assert turns[0] == [0, 1] * 4
    assert turns[1] == [0, 0, 1023, 1023, 0, 0, 1023, 1023]
    prefix = route(blocks, 512, prompt, at, 2, 1024, "prefix")
    assert prefix[0] == [0, 1, 0, 1, 1, 0, 1, 0]
    assert prefix[1] == [0, 0] + [1023] * 6


def test_a_replica_with_many_more_requests_gets_none_for_its_cache() -> None:
    """40 requests at once begin in the same way: from the 34th on the others take them."""
    chosen, _ = route([(1,)] * 60, 512, [600] * 60, [0.0] * 60, 2, 10_000, "prefix")
    assert chosen[:33] == [0] * 33
    assert 1 in chosen[33:36]


@pytest.mark.parametrize("how", ROUTINGS)
def test_no_more_is_found_than_one_cache_of_all_would_hold(how: str) -> None:
    draw = np.random.default_rng(1)
    blocks = [tuple(int(k) * 100 + j for j in range(4)) for k in draw.integers(0, 30, 300)]
    at = np.cumsum(draw.exponential(0.2, 300)).tolist()
    found = sum(route(blocks, 512, [2048] * 300, at, 4, 4096, how)[1])
    shared = sum(route(blocks, 512, [2048] * 300, at, 1, 4 * 4096, "turns")[1])
    assert 0 <= found <= shared
    chosen = route(blocks, 512, [2048] * 300, at, 4, 4096, how)[0]
    assert set(chosen) <= {0, 1, 2, 3}


def test_a_router_that_knows_prefixes_finds_more(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    lines = []
    for k, conversation in enumerate(draw.integers(0, 40, 400).tolist()):
        ids = [conversation * 1000 + j for j in range(8)]
        lines.append({"timestamp": 500 * k, "input_length": 4000, "output_length": 50, "hash_ids": ids})
    file = tmp_path / "small.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    hits = {}
    for how in ROUTINGS:
        given = {"load": "trace", "trace": str(file), "routing": how}
        own = [sent_to(serving_asked(given, "s").load, 4, k, "s", 50_000).requests for k in range(4)]
        assert sum(len(one.prompt) for one in own) == 400
        hits[how] = sum(sum(one.cached) for one in own)
    assert hits["prefix"] > 1.5 * hits["turns"]


def test_prompts_of_agents_grow_by_answers_and_tools_by_hand() -> None:
    """First 1,000 tokens; each turn adds an answer of 100 and 200 of a tool: 1,000, 1,300, 1,600; then again."""
    requests, first = agents_of(
        load(clients=2, turns=3, waves=2, warm_up=1, prompt=1000, output=100, tool_tokens=200), 1, 0, 10**6
    )
    assert requests.prompt[::2] == [1000, 1300, 1600] * 2
    assert first == 6
    # what was sent and answered before is found, in blocks of 64: 1,100 tokens are 17 of them
    assert requests.cached[::2] == [0, 1088, 1344] * 2
    assert requests.pause[0] == requests.pause[6] == 0
    assert requests.pause[2] > 0


def test_agents_find_nothing_in_a_small_cache_and_a_common_start_in_any() -> None:
    small, _ = agents_of(load(clients=50, turns=4, waves=1, warm_up=0, prompt=2000), 1, 0, 1000)
    assert sum(small.cached) == 0
    common, _ = agents_of(load(clients=2, turns=1, waves=3, warm_up=0, prompt=2048, prefix="50 %"), 1, 0, 10**6)
    assert common.cached == [0] + [1024] * 5


def test_turns_that_go_round_replicas_find_older_ones() -> None:
    """Four replicas in turns: the fifth turn finds the first one, of 1,000 and 100 tokens."""
    given = {"clients": 4, "turns": 6, "waves": 1, "warm_up": 0, "prompt": 1000, "output": 100, "tool_tokens": 200}
    round_, _ = agents_of(load(**given, routing="turns"), 4, 0, 10**6)
    stays, _ = agents_of(load(**given, routing="prefix"), 4, 0, 10**6)
    assert round_.cached == [0, 0, 0, 0, 1100, 1400]
    assert stays.cached[1:] == [1088, 1344, 1664, 1984, 2240]


def test_an_agent_waits_for_its_tool_by_hand() -> None:
    """Steps of 10 ms and 1 us a token of prompt: 11 ms and ten more tokens; then 2 s; then 12 ms and ten more."""
    requests = Requests([1000, 2000], [11, 11], clients=1, pause=[0.0, 2.0])
    run = run_requests(Even(), requests, HOW, 100_000)
    assert run.done[0] == pytest.approx(0.111)
    assert run.sent[1] == pytest.approx(2.111)
    assert run.done[1] - run.sent[1] == pytest.approx(0.112)
    sides = Side(1, Even(), HOW, 100_000), Side(1, Even(), HOW, 100_000)
    split = run_split_clients(sides, requests, 0.0, lambda number, took: 0.05, None)
    assert split.sent[1] - split.done[0] == pytest.approx(2.0)


def test_agents_send_their_own_next_turn() -> None:
    """Three agents with pauses that differ: each of their requests follows their own, never another's."""
    draw = np.random.default_rng(3)
    n, agents = 60, 3
    pause = [0.0] * agents + draw.exponential(0.3, n - agents).tolist()
    requests = Requests([500] * n, draw.integers(2, 40, n).tolist(), clients=agents, pause=pause)
    run = run_requests(Even(), requests, HOW, 100_000)
    assert run.served.all()
    assert run.sent[agents:] == pytest.approx(run.done[:-agents] + np.array(pause[agents:]))


def test_agents_on_drawn_replicas() -> None:
    given = {"load": "agents", "clients": 24, "turns": 4, "waves": 3, "warm_up": 1, "prompt": 2000, "tool_tokens": 500}
    found = {how: served(**given, routing=how) for how in ("turns", "prefix")}
    hits = {how: value(one, "prefix_hits") for how, one in found.items()}
    assert hits["prefix"] > hits["turns"]
    assert value(found["prefix"], "ttft") < value(found["turns"], "ttft")
    # agents that wait for tools ask for less than clients that do not
    busy = served(**given, pause="0 s")
    assert value(busy, "requests_per_second") > value(found["turns"], "requests_per_second")


def two_agents(file: Path, order: str = "ABBA" * 6) -> str:
    """Two agents whose prompts grow by eight blocks of 512 tokens a turn, one request every two seconds."""
    turns = {"A": 0, "B": 0}
    lines = []
    for k, agent in enumerate(order):
        turns[agent] += 1
        ids = [1000 * ord(agent) + j for j in range(8 * turns[agent])]
        lines.append({"timestamp": 2000 * k, "input_length": 512 * len(ids), "output_length": 64, "hash_ids": ids})
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return str(file)


#: of 12 turns of each agent, 8 blocks more each; in turns A B B A goes to 0 1 0 1, so turn n finds turn n - 2
TURNS_HIT = 2 * 8 * sum(range(11)) / (2 * 8 * sum(range(13)))
#: by prefix each agent stays, so turn n finds turn n - 1
PREFIX_HIT = 2 * 8 * sum(range(12)) / (2 * 8 * sum(range(13)))


@pytest.mark.parametrize("scaling", [False, True])
def test_two_agents_on_two_replicas_by_hand(tmp_path: Path, scaling: bool) -> None:
    """The router decides what is found, on replicas that always run and on those that are started by load."""
    given = {"load": "trace", "trace": two_agents(tmp_path / "two.jsonl")}
    fleet = Fleet((0.0, 0.0), (0.0, 0.0), (math.inf, math.inf))
    for how, hit in (("turns", TURNS_HIT), ("prefix", PREFIX_HIT)):
        asked = serving_asked({**given, "routing": how, "scaling": scaling}, "s").load
        if scaling:
            requests, which = routed(sent_to(asked, 1, 0, "s", 10**6), fleet, 10**6, how)
            own = [of_replica(requests, which, k) for k in range(2)]
        else:
            own = [sent_to(asked, 2, k, "s", 10**6).requests for k in range(2)]
        assert [len(one.prompt) for one in own] == [12, 12]
        found = sum(sum(one.cached) for one in own) / sum(sum(one.prompt) for one in own)
        assert found == pytest.approx(hit)


def test_a_replica_that_is_started_has_an_empty_cache(tmp_path: Path) -> None:
    """One replica until 20 s, then a second one: in turns, the first request there finds nothing."""
    asked = serving_asked(
        {"load": "trace", "trace": two_agents(tmp_path / "two.jsonl", "A" * 20), "rate": "0 1/s"}, "s"
    ).load
    fleet = Fleet((0.0, 5.0), (0.0, 20.0), (math.inf, math.inf))
    requests, which = routed(sent_to(asked, 1, 0, "s", 10**6), fleet, 10**6, "turns")
    assert which == [0] * 10 + [0, 1] * 5
    assert requests.cached[9] == 9 * 4096
    assert requests.cached[11] == 0
    assert requests.cached[13] == 12 * 4096


def test_the_answer_counts_all_replicas_of_a_trace(tmp_path: Path) -> None:
    """Hits and first tokens by router, with power and requests at once of both replicas; the clock says the same."""
    file = two_agents(tmp_path / "two.jsonl")
    given = {"load": "trace", "trace": file, "rate": "0 1/s", "model": "llama-3-8b", "tensor": 4, "replicas": 2}
    found = {how: served(**given, routing=how) for how in ("turns", "prefix")}
    assert value(found["turns"], "prefix_hits") == pytest.approx(TURNS_HIT)
    assert value(found["prefix"], "prefix_hits") == pytest.approx(PREFIX_HIT)
    assert value(found["prefix"], "ttft") < 0.8 * value(found["turns"], "ttft")
    # all requests go to one replica: together they answer what comes, one every two seconds, and no more than that
    one_side = served(**{**given, "trace": two_agents(tmp_path / "one.jsonl", "A" * 24)}, routing="prefix")
    assert value(one_side, "requests_per_second") == pytest.approx(0.5, rel=0.1)
    rescaled = served(**{**given, "rate": "2 1/s"})
    assert any("0.5" in f.text for f in rescaled.findings if f.code == "SERVE-TRACE")
