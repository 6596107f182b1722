"""VM043: a profile too small for the model that is to run on it.

What it checks
    Machines whose setting `model` names a shipped model: the memory of their virtual GPUs against the weights in
    `weights_format` and the keys and values of `tokens_held` tokens, a fifth more for activations and the runtime.
Why it matters
    The engine runs out of memory when it loads, or holds so few tokens that requests wait.
How to fix
    A larger profile, more of them, a narrower format, or fewer tokens.
Sources
    F. Denneman, 2026-02-19; the fifth is a proposal.
Example
    llama-3-8b in bf16, 16 GB of weights, on a profile of 10 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.memory import kv_size, weights_size
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import Bytes, format_quantity
from designer.workload.models import model
from designer.workload.shape import TransformerShape

#: memory asked for over weights, keys and values
MORE = Constant(1.2, 1.05, 1.5, "rule-thresholds", Status.ASSUMED, "1", "activations and the runtime")


def check(context: MachineContext) -> Iterator[Offence]:
    for placed in context.placement.placed.values() if context.placement is not None else ():
        name = context.setting(placed.vm, "model")
        held = sum(device.framebuffer for device in placed.devices)
        shape = model(name) if name and held > 0 else None
        if not isinstance(shape, TransformerShape):
            continue
        form = number_format(context.setting(placed.vm, "weights_format") or "bf16")
        tokens = context.amount(placed.vm, "tokens_held") or 0.0
        weights = weights_size(shape, form, 1)
        need = MORE.value * (weights + kv_size(shape, 1, Bytes(number_format("bf16").size.value)).held(tokens))
        if held < need:
            text = f"{placed.vm.label}: {name} needs about {format_quantity(need, 'size')}, its virtual GPUs have "
            remedy = "a larger profile, more of them, or a narrower format"
            yield Offence(f"{text}{format_quantity(held, 'size')}", (placed.vm.id,), remedy)


RULE = Rule("VM043", "profile-smaller-than-its-model", Severity.WARNING, check, context=MachineContext)
