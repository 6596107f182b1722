"""How wide the bands of a served model are: what its release was fitted on, and what that leaves open here."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import NumberFormat
from designer.families.serving.formulas._release import Release
from designer.families.serving.placement import Placement
from designer.sources import Constant, Status
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape

#: releases of engines were fitted on GPUs: on processors their overheads and kernels are others
_PROCESSORS: Final = Constant(0.4, 0.25, 0.7, "assumed-serving", Status.ASSUMED, "1", "logarithm either way")
#: what other widths than those fitted add to a band: stages, several servers, groups of attention
WIDER: Final = Constant(0.1, 0.05, 0.2, "assumed-serving", Status.ASSUMED, "1", "logarithm of the factor either way")
# Widths of releases, here and in their files, are 80 % bands of random effects, whose variances are estimated over the
# groups of the open runs with each release, model, GPU and script left out in turn (tests/validation/serving/left_out):
# rows of a group .076, the group .068, its release .078 where it is not known, .067 its model; of first tokens .154,
# .105, .093 and .095, and .115 the GPU.
#: what a release adds to a band on a model or in a format that it was not fitted on
OTHER_MODEL: Final = Constant(0.09, 0.0, 0.13, "fit-serving", Status.DERIVED, "1", "logarithm either way")
#: the same of the first token next to its steps, and on accelerators of another generation
_OTHER_MODEL_FIRST: Final = Constant(0.09, 0.05, 0.15, "fit-serving", Status.DERIVED, "1", "of the first token")
_OTHER_GENERATION_FIRST: Final = Constant(0.12, 0.05, 0.2, "fit-serving", Status.DERIVED, "1", "of the first token")
#: what products at the peak of 4 bit add where no table has them: their share of it is that of 8 bit. With tables all
#: but two of 60 loads of B200 and RTX PRO 6000 lie within the other parts of the band
_FOUR_BIT: Final = Constant(
    0.15, 0.1, 0.25, "assumed-serving", Status.ASSUMED, "1", "no run at a 4-bit peak was fitted"
)
#: and on accelerators of another generation: A100 and L40S from H100, four of six groups within .18, all within .25
_OTHER_GENERATION: Final = Constant(0.12, 0.1, 0.2, "blis-runs", Status.DERIVED, "1", "logarithm either way")
#: the same where a table has its kernels: four of five of 60 loads of Blackwell lie within .14 and of four models on
#: A100 three within .175, which the release alone has within .14 and .15
_MEASURED_GENERATION: Final = Constant(0.09, 0.0, 0.12, "trtllm-perf", Status.DERIVED, "1", "logarithm either way")
#: and of a release that is not known, whose kernels there are then not known either: four of five loads of Blackwell
#: lie within .2 by the kernels of Hopper
_UNKNOWN_GENERATION: Final = Constant(0.2, 0.12, 0.3, "trtllm-perf", Status.DERIVED, "1", "logarithm either way")
#: steps for which a server may hold a first token back, to send it with others or to wait for more prompts
HELD: Final = Constant(
    10.0, 0.0, 20.0, "inferencex-scripts", Status.SECONDARY, "1", "stream_interval 10 and 20, batch_wait_timeout 20"
)
#: engines that send a first token at once, whatever their streaming interval, and wait for no further prompts
_AT_ONCE: Final = ("vllm",)
#: equal requests keep clients in step for ever, unless their answers end apart by as little as this; of five sweeps
#: that ask for equal ones four are met without it and one only with it
JITTER: Final = Constant(3.0, 2.0, 3.0, "fit-serving", Status.DERIVED, "1", "tokens, half normal")


def step_spread(placement: Placement) -> float:
    """80 % band of step times: logarithm of the factor either way [1]."""
    split, group = placement.split, placement.group
    unlike = split.pipeline > 1 or split.data > 1 or (group is not None and group.situation.servers > 1)
    unlike = unlike or (group is not None and not group.situation.intra_path.is_nvlink)
    unmeasured = any(f.code == "SERVE-DEVICE" for f in placement.findings)
    processors = _PROCESSORS.value if placement.device.kernels.processor else 0.0
    machine = math.log(placement.guest.longer[1]) if placement.guest is not None else 0.0
    differs = sum((unlike, unmeasured, placement.each > 1))
    known = release_spread(placement.release, placement.shape, placement.deployment.weights, placement.device)
    return math.hypot(
        known,
        math.sqrt(differs) * WIDER.value,
        machine,
        processors,
        four_bit(placement.device, placement.steps.weights),
    )


def four_bit(device: Device, weights: NumberFormat) -> float:
    """What the peak of 4 bit leaves open, nothing where a table has its kernels: logarithm either way [1]."""
    if device.runs_as(weights) != "fp4":
        return 0.0
    table = device.table
    measured = table is not None and (weights.kernels in table.products or weights.kernels in table.experts)
    return 0.0 if measured else _FOUR_BIT.value


def release_spread(release: Release, shape: TransformerShape, weights: str, device: Device) -> float:
    """What a release leaves open of step times on a model, in a format, on a device: logarithm either way [1]."""
    return math.hypot(
        release.step_spread,
        OTHER_MODEL.value * other_model(release, shape, weights),
        _generation(release, device),
    )


def other_model(release: Release, shape: TransformerShape, weights: str) -> bool:
    """True if the release was fitted on other models, or on this one in another format."""
    mine = replace(shape, name="", context=0), _width(weights)
    return bool(release.models) and all(
        (replace(model(name), name="", context=0), _width(stated)) != mine for name, stated in release.models
    )


def _width(weights: str) -> str:
    """Formats of weights that are multiplied by the same kernels."""
    return "bf16" if weights == "fp16" else weights


def other_generation(release: Release, device: Device) -> bool:
    """True if the release was fitted on accelerators of another generation."""
    fitted = release.architecture
    return bool(fitted) and not device.kernels.processor and device.architecture.partition(" ")[0] != fitted


def _generation(release: Release, device: Device) -> float:
    """What another generation of accelerators leaves open: logarithm either way [1]."""
    if not other_generation(release, device):
        return 0.0
    if not release.known:
        return _UNKNOWN_GENERATION.value
    return (_OTHER_GENERATION if device.table is None else _MEASURED_GENERATION).value


def first_extra(placement: Placement) -> float:
    """What release, model and device leave open for the first token next to its steps: logarithm either way [1]."""
    return first_spread(placement.release, placement.shape, placement.deployment.weights, placement.device)


def first_spread(release: Release, shape: TransformerShape, weights: str, device: Device) -> float:
    """What a release leaves open for the first token of a model in a format on a device, next to its steps [1]."""
    spread = math.sqrt(max(0.0, release.first_spread**2 - release.step_spread**2))
    return math.hypot(
        spread,
        _OTHER_MODEL_FIRST.value * other_model(release, shape, weights),
        _OTHER_GENERATION_FIRST.value * other_generation(release, device),
    )


def held_back(release: Release, ttft: Seconds, step: Seconds, interval: int = 0, *, fitted: bool = True) -> float:
    """How much later a first token may be sent by a server whose settings are not given: logarithm of the factor [1].

    Servers send tokens in messages of several, or wait some steps for more prompts, where they are asked to. That makes
    a short prompt late by many times its own work, and never early. A streaming interval (0: not given) says how the
    server sends; a release that was fitted on the model was measured with what its server does.

    Parameters
    ----------
    step
        Of decoding; with drafts it gives more than one token [s].
    fitted
        True if the release, where it is known, was fitted on the model.
    """
    if release.engine in _AT_ONCE or (release.known and fitted) or interval or ttft <= 0:
        return 0.0
    return math.log1p(HELD.value * step / ttft)
