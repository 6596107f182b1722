"""The pages of the rules, made from their docstrings, and the list of finding codes, as Markdown.

``python -m designer.rules.pages`` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from designer.atomic import write
from designer.finding_codes import CODES
from designer.rules.rule import Profile, Rule, rules

#: headings of a page, in order
SECTIONS: Final = ("What it checks", "Why it matters", "How to fix", "Sources", "Example")

_WAIVERS: Final = """## Accepting a finding

A waiver in the design says which finding is accepted, why, by whom and until when; without `where` it covers the rule
everywhere, without `expires` it holds for good. One that ran out is reported as a finding of its own.

```json
"waivers": [
 {"id": "small-host", "code": "MEM001", "where": ["memory0", "memory1"],
  "reason": "data comes over GPUDirect", "author": "the architect", "expires": "2027-06-30"}
]
```
"""


def sections(rule: Rule) -> Mapping[str, str]:
    """The sections of a page by their headings; the first line of the page under an empty one."""
    title, _, body = rule.page.strip().partition("\n")
    found = {"": title.partition(": ")[2]}
    heading = ""
    for line in body.splitlines():
        if line.strip() in SECTIONS and not line.startswith(" "):
            heading = line.strip()
            found[heading] = ""
        elif heading:
            found[heading] += f"{line.strip()} "
    return {name: re.sub(r"\s+", " ", text).strip() for name, text in found.items()}


def markdown(rule: Rule) -> str:
    """The page of a rule."""
    stated = sections(rule)
    head = stated[""]
    lines = [f"# {rule.code}: {rule.name}", "", head[:1].upper() + head[1:], ""]
    speaks = ", ".join(p.value for p in Profile if p in rule.profiles)
    mends = " One press mends it." if rule.fix is not None else ""
    lines += [f"Severity: {rule.severity}. Profiles: {speaks}.{mends}", ""]
    for name in SECTIONS:
        lines += [f"## {name}", "", stated.get(name, ""), ""]
    lines += [f"Drawn: `tests/rules/{rule.code}/pass.design.json` passes, `fail.design.json` next to it does not.", ""]
    return "\n".join(lines)


#: what a drawing cannot tell, and why
_BY_HAND: Final = """## Also check by hand

Not all that goes wrong can be seen in a drawing. Before a system is handed over look at these as well:

- **Kernel and driver switches** that no part states: `NCCL_*` variables, nvidia-peermem loaded, IOMMU in passthrough
  mode, huge pages, interrupts near their NIC, the CPU governor. `designer accept` finds most by what they cost.
- **Lossless Ethernet on every switch**: NET007 reads what the drawing says of PFC and ECN; whether each switch has it
  is in its own configuration.
- **Module numbers of an NVSwitch board**: drawn ones are used, missing ones are assumed in the order of the board's
  list; compare with the fabric manager's map before device groups are planned.
- **Supported pairs** of firmware, driver, hypervisor and guest: HW003 reports unlike ones, whether a pair is supported
  is in the vendors' matrices, which change monthly.
- **Heat**: a rack's power is added up, its airflow is not; clocks held down by heat show in `designer accept`.
- **Real load** of virtual machines: VM046, VM050 and VM052 use what the drawing says of it. Measure before you decide.
- **Bitfusion**: VM051 rests on a statement we could not confirm in a document.
"""


def overview() -> str:
    """The list of all rules."""
    lines = [
        "# Design rules",
        "",
        "`designer check DESIGN` runs them. Made from the rules themselves by `python -m designer.rules.pages`.",
        "",
        "| rule | severity | offence |",
        "|---|---|---|",
        *(f"| [{r.code}]({r.code}.md) | {r.severity} | {sections(r)['']} |" for r in rules().values()),
        "",
        _BY_HAND,
        _WAIVERS,
    ]
    return "\n".join(lines)


def pages() -> Mapping[str, str]:
    """All pages by the name of their file."""
    return {"README.md": overview(), **{f"{code}.md": markdown(rule) for code, rule in rules().items()}}


def findings_page() -> str:
    """The list of all codes of findings, apart from those of rules."""
    return "\n".join(
        [
            "# Codes of findings",
            "",
            "What an import, an analysis, a simulation or a check may report, with its severities. Design rules have",
            "[pages of their own](rules/README.md). Made from `designer/finding_codes.py` by",
            "`python -m designer.rules.pages`.",
            "",
            "| code | severity | title |",
            "|---|---|---|",
            *(f"| `{code}` | {' or '.join(kind.severities)} | {kind.title} |" for code, kind in sorted(CODES.items())),
            "",
        ]
    )


def write_pages(folder: Path) -> None:
    """Write all pages, and take away those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for name, text in made.items():
        write(folder / name, text.encode())
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()


if __name__ == "__main__":
    _DOCS = Path(__file__).resolve().parents[2] / "docs"
    write_pages(_DOCS / "rules")
    write(_DOCS / "findings.md", findings_page().encode())
