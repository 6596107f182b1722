"""HW003: GPUs or NICs of one type with unlike drivers or firmware.

What it checks
    Attributes `driver` and `firmware` of parts of the same type.
Why it matters
    Collectives negotiate features when they start; unlike versions fall back or hang, and are never tested
    together.
How to fix
    One version for all, from the vendor's list of pairs.
Sources
    NVIDIA data-centre driver release notes; vendors' interoperability matrices.
Example
    Seven GPUs with driver 550, one with 535.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    seen: dict[tuple[str, str], dict[str, str]] = {}
    for machine in context.machines:
        for item in machine.of("gpu", "nic", "dpu"):
            for name in ("driver", "firmware"):
                version = item.part.attributes.get(name, "")
                if version:
                    seen.setdefault((item.part.type or item.kind, name), {}).setdefault(version, item.path)
    for (kind, name), versions in seen.items():
        if len(versions) > 1:
            text = f"{kind} parts have {name} versions {', '.join(sorted(versions))}"
            yield Offence(text, tuple(versions.values()), f"one {name} version for all")


RULE = Rule("HW003", "unlike-drivers", Severity.WARNING, check)
