"""Images in requests: the tokens they add to a prompt, and time and memory of its vision encoder."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.families.serving.deployment import Deployment
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.training.preparation import shape_of
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio, Seconds, format_quantity
from designer.workload.huggingface import count_in_words
from designer.workload.shape import TransformerShape
from designer.workload.vision import VisionTower

#: of the peak that reading an image reaches: short rows of patches, windows and an attention without cached kernels
REACHED: Final = Constant(0.3, 0.1, 0.55, "assumed-serving", Status.ASSUMED, "1", "of the 16-bit peak")


def tower_of(shape: TransformerShape, place: str) -> VisionTower:
    """The vision encoder of a model.

    Raises
    ------
    AnalysisError
        If it has none.
    """
    if shape.vision is None:
        raise AnalysisError(
            f"{shape.name} sees no images, as far as its configuration says",
            place=place,
            remedy="give the config.json of a model with a vision_config, or set images to 0",
        )
    return shape.vision


def image_tokens(model: str, images: int, width: int, height: int) -> int:
    """Tokens that so many images add to a prompt of a model.

    Raises
    ------
    AnalysisError
        If there is no such model, it sees nothing, or an image has no pixels.
    """
    if min(width, height) < 1:
        raise AnalysisError("an image without pixels", place="image_width", remedy="give 1 pixel or more")
    shape = shape_of(model, "model")
    if not isinstance(shape, TransformerShape):
        raise AnalysisError(f"{shape.name} gives no tokens", place="model", remedy="serve a transformer")
    return images * tower_of(shape, "images").tokens(width, height)


def sharing(tower: VisionTower, tensor: int) -> int:
    """Devices that share the tower: those that share the heads of the model, where its own share out; else each one."""
    return tensor if tower.heads % tensor == 0 else 1


def tower_size(shape: TransformerShape, tensor: int) -> Bytes:
    """Weights of the part that sees on each device, in 16 bit [B]."""
    if shape.vision is None:
        return Bytes(0.0)
    return Bytes(number_format("bf16").size.value * shape.vision.parameters / sharing(shape.vision, tensor))


def seeing_time(asked: Deployment, shape: TransformerShape, device: Device, tensor: int) -> Seconds:
    """Time that a replica takes to read the images of one request [s]."""
    if not asked.images or shape.vision is None:
        return Seconds(0.0)
    work = asked.images * shape.vision.arithmetic(asked.image_width, asked.image_height)
    peak = device.flops[device.runs_as(number_format("bf16"))]
    return Seconds(work / (REACHED.value * peak * sharing(shape.vision, tensor)))


def ends_of(share: float) -> tuple[Ratio, Ratio]:
    """Factors of the low and high end of a time of which reading images is a share [1]."""
    share = min(1.0, max(0.0, share))
    return (
        Ratio(1 - share * (1 - REACHED.value / REACHED.high)),
        Ratio(1 + share * (REACHED.value / REACHED.low - 1)),
    )


def seen(asked: Deployment, shape: TransformerShape, device: Device, tensor: int) -> list[Finding]:
    """What an image is to a model, and what reading it takes; nothing without images."""
    tower = shape.vision
    if not asked.images or tower is None:
        return []
    width, height = asked.image_width, asked.image_height
    time = seeing_time(asked, shape, device, tensor)
    text = (
        f"an image of {width:,} x {height:,} is {tower.patches(width, height):,} patches and "
        f"{tower.tokens(width, height):,} tokens of the prompt; reading those of a request takes "
        f"{format_quantity(time, 'duration')} at {REACHED.value:.0%} of the 16-bit peak (assumed, {REACHED.low:.0%} to "
        f"{REACHED.high:.0%}); the part that sees has {count_in_words(tower.parameters)} parameters"
    )
    how = "send smaller images for fewer tokens; decoding and resizing them on the host is not counted"
    return [Finding("SERVE-IMAGES", Severity.INFO, text, (), how)]
