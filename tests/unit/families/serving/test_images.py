"""Images in requests: longer prompts, time of the part that sees, its memory, and what is refused."""

from __future__ import annotations

import pytest

from designer.errors import AnalysisError
from designer.families.serving.images import REACHED, tower_size
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.unit.families.serving.test_serving_workload import codes, served, value

GEMMA = {"model": "gemma-3-27b", "tensor": 2, "prompt": 500, "output": 100, "spread": 0, "count": 300, "rate": "1 1/s"}
#: two images of 4,096 patches on two H100: 5.46 TFLOP each, at 30 % of 2 x 989.4 TFLOP/s
GEMMA_TIME = 2 * 5.464e12 / (0.3 * 2 * 989.4e12)


def test_images_make_prompts_longer_and_take_time_by_hand() -> None:
    """Two images are 512 tokens: the first token comes as late as with so much text, and 18.4 ms later for reading."""
    plain, longer, images = served(**GEMMA), served(**{**GEMMA, "prompt": 1012}), served(**GEMMA, images=2)
    assert value(plain, "ttft") < value(longer, "ttft") < value(images, "ttft")
    # requests seldom meet at one a second; those that do wait for each other
    more = value(images, "ttft") - value(longer, "ttft")
    assert GEMMA_TIME <= more < 1.1 * GEMMA_TIME
    text = next(f.text for f in images.findings if f.code == "SERVE-IMAGES")
    assert "256 tokens" in text
    assert "assumed" in text
    assert "SERVE-IMAGES" not in codes(plain)


def test_the_band_holds_what_is_assumed() -> None:
    """At 10 % of the peak reading takes three times as long, which the band of the first token holds."""
    longer, images = served(**{**GEMMA, "prompt": 1012}), served(**GEMMA, images=2)
    slow = value(longer, "ttft") + GEMMA_TIME * REACHED.value / REACHED.low
    quick = value(longer, "ttft") + GEMMA_TIME * REACHED.value / REACHED.high
    assert images.metrics["ttft"].low < quick
    assert images.metrics["ttft"].high > slow
    # what can be answered at all falls by the time that the devices see, and its band with it
    most, text = images.metrics["most_requests_per_second"], longer.metrics["most_requests_per_second"]
    replicas = value(images, "replicas")
    assert replicas / most.value == pytest.approx(replicas / text.value + GEMMA_TIME, rel=0.1)
    assert most.value / most.low > text.value / text.low


def test_the_part_that_sees_is_in_memory() -> None:
    """Gemma 3: 418 million parameters in 16 bit over two devices, whether images come or not."""
    shape = model("gemma-3-27b")
    assert isinstance(shape, TransformerShape)
    assert tower_size(shape, 2) == pytest.approx(0.418e9, rel=0.01)
    # its 16 heads do not share out over three devices: each holds it whole
    assert tower_size(shape, 3) == pytest.approx(0.836e9, rel=0.01)
    assert value(served(**GEMMA), "kv_capacity") == value(served(**GEMMA, images=1), "kv_capacity")


def test_images_of_a_split_deployment_are_read_where_prompts_are() -> None:
    given = {**GEMMA, "group": "gpu0,gpu1", "prompt_group": "gpu2,gpu3", "prompt_tensor": 2}
    plain, images = served(**{**given, "prompt": 1012}), served(**given, images=2)
    assert value(images, "ttft") - value(plain, "ttft") >= 0.99 * GEMMA_TIME
    assert value(images, "tpot") == pytest.approx(value(plain, "tpot"), rel=0.01)


@pytest.mark.parametrize(
    ("given", "words", "place"),
    [
        ({"model": "llama-3-8b", "images": 1}, "sees no images", "workloads.s.images"),
        ({"images": 1, "image_width": 0}, "without pixels", "workloads.s.image_width"),
        ({"images": 1, "load": "agents"}, "agents that send images", "workloads.s.images"),
    ],
)
def test_images_that_cannot_be_are_refused(given: dict[str, object], words: str, place: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        served(**{**GEMMA, **given})
    assert stated.value.place == place
    assert stated.value.remedy


def test_sides_without_images_are_said_to_change_nothing() -> None:
    assert "SERVE-UNUSED" in codes(served(**GEMMA, image_width=500))
