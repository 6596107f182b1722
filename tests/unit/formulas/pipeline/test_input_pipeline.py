"""Input pipelines: stages that overlap or add up, and ranks that wait for the slowest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.formulas.pipeline.input_pipeline import InputRates, barrier, input_time
from designer.units import Bytes, Seconds


def rates(**changes: float) -> InputRates:
    values = {
        "read": 1e9,
        "network": 2e9,
        "copy": 10e9,
        "decode_per_worker": 500.0,
        "workers": 4,
        "prefetch": 2,
    } | changes
    return InputRates(**values)  # type: ignore[arg-type]


SAMPLE, DECODED = Bytes(1e5), Bytes(6e5)


def test_stages_by_hand() -> None:
    found = input_time(rates(), 100, SAMPLE, DECODED)
    assert dict(found.stages) == pytest.approx({"read": 0.01, "network": 0.005, "copy": 0.006, "decode": 0.05})
    assert found.binding == "decode"
    assert found.time == pytest.approx(0.05)
    assert found.stage.overlapped


def test_without_prefetch_they_add_up() -> None:
    found = input_time(rates(prefetch=0), 100, SAMPLE, DECODED)
    assert found.time == pytest.approx(0.01 + 0.005 + 0.006 + 0.05)
    assert not found.overlapped


def test_nothing_to_decode() -> None:
    assert input_time(rates(decode_per_worker=0), 100, SAMPLE, DECODED).binding == "read"


@given(workers=st.integers(1, 64), batch=st.integers(1, 4096))
def test_more_workers_never_slow_it_and_more_samples_always_do(workers: int, batch: int) -> None:
    base = input_time(rates(workers=workers), batch, SAMPLE, DECODED)
    assert input_time(rates(workers=workers + 1), batch, SAMPLE, DECODED).time <= base.time
    assert input_time(rates(workers=workers), batch + 1, SAMPLE, DECODED).time > base.time


def test_a_barrier_waits_for_the_slowest() -> None:
    assert barrier([Seconds(1.0), Seconds(3.0), Seconds(2.0)]) == 3.0
    with pytest.raises(AnalysisError):
        barrier([])


@pytest.mark.parametrize("changes", [{"workers": 0}, {"prefetch": -1}, {"read": 0.0}, {"network": 0.0}, {"copy": -1.0}])
def test_a_pipeline_without_rates_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(AnalysisError):
        input_time(rates(**changes), 100, SAMPLE, DECODED)


@pytest.mark.parametrize(("batch", "sample"), [(0, 1.0), (1, 0.0)])
def test_an_empty_batch_is_refused(batch: int, sample: float) -> None:
    with pytest.raises(AnalysisError):
        input_time(rates(), batch, Bytes(sample), DECODED)
