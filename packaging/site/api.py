"""The page of the Python functions: signatures and docstrings, read from the source by mkdocstrings."""

from __future__ import annotations


def pages() -> dict[str, str]:
    """The page: one entry for each public name."""
    import designer

    lines = ["# Python API", "", "What `import designer` offers. [Python](../python.md) shows each in use.", ""]
    for name in sorted(designer.__all__):
        public = getattr(designer, name)
        place = f"{public.__module__}.{public.__qualname__}"
        if public.__name__ != name:
            lines += [f"## {name}", "", f"Defined as `{public.__name__}`.", ""]
        level, listed = (2, "true") if public.__name__ == name else (3, "false")
        lines += [
            f"::: {place}",
            "    options:",
            f"      heading_level: {level}",
            f"      show_root_toc_entry: {listed}",
            "",
        ]
    return {"reference/python.md": "\n".join(lines)}
