"""The gallery: designs with their drawing, a question, its answer, and the file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pictures import opened


def entries() -> list[dict[str, str]]:
    """Template, workload and question of each design, from gallery.toml."""
    with (Path(__file__).parent / "gallery.toml").open("rb") as file:
        return tomllib.load(file)["design"]


def pages() -> dict[str, str]:
    """The page."""
    import designer

    lines = [
        "# Gallery",
        "",
        "Designs to start from. Each answer is computed when this page is built, with the command below it.",
        "",
    ]
    for entry in entries():
        template, workload = entry["template"], entry["workload"]
        design = opened(template)
        page = designer.page(design, workload)
        lines += [
            f"## {design.title}",
            "",
            f"[![The drawing of {design.title}](pictures/design/{template}.svg)](pictures/design/{template}.svg)",
            "",
            f"**{entry['question']}** {page.headline}",
            "",
        ]
        if page.figures:
            lines += ["| Figure | Value | 80% band |", "|---|---:|---:|"]
            lines += [f"| {f.title} | {f.text} | {f.band} |" for f in page.figures[:4]]
            lines.append("")
        lines += [
            "```bash",
            f"designer analyze {template} --workload {workload}",
            "```",
            "",
            f"[Download {template}.design.json](designs/{template}.design.json)",
            "",
        ]
    return {"gallery.md": "\n".join(lines)}


def downloads() -> dict[str, bytes]:
    """The files of the designs by their address."""
    from designer.resources import templates

    names = sorted({entry["template"] for entry in entries()})
    return {f"designs/{n}.design.json": (templates() / f"{n}.design.json").read_bytes() for n in names}
