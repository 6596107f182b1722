"""What is said about work that is not saved, and about files that others change."""

from __future__ import annotations

import time


def autosave_label(state: str, modified: bool, has_file: bool, kept_at: float) -> tuple[str, str]:
    """Text and tip of the state of the autosave: ``clean``, ``keeping``, ``kept`` or ``failed``."""
    if state == "failed":
        return "Autosave failed", "Unsaved work would not survive a crash: save it, and free some space"
    if not modified:
        if has_file:
            return "Saved", "The file holds all of this design"
        return "Not changed", "Changes will be kept for recovery as they are made"
    save = "click to save" if has_file else "click to save it to a file"
    if state == "kept":
        at = time.strftime("%H:%M", time.localtime(kept_at))
        return f"Autosaved {at}", f"Not saved, but kept for recovery after a crash; {save}"
    return "Autosaving…", f"Not saved; each change is being kept for recovery; {save}"


def others(state: str, name: str, who: str, modified: bool) -> tuple[str, list[tuple[str, str, str]]]:
    """A sentence about a file that others changed, deleted or have open, and what can be done: key, text, tip."""
    dismiss = ("dismiss", "Dismiss", "Go on; you are asked again before anything is overwritten")
    if state == "changed":
        mine = " You have changes of your own." if modified else ""
        return f"{name} was changed by somebody else.{mine}", [
            ("reload", "Reload", "Take over what the file holds; undo brings yours back"),
            ("keep", "Keep mine", "Go on with yours; saving writes over what they did"),
            ("compare", "Compare", "Show both side by side"),
        ]
    if state == "deleted":
        return f"{name} was deleted or moved by somebody else.", [
            ("save", "Save again", "Write the file again"),
            ("save_as", "Save as…", "Write it somewhere else"),
            dismiss,
        ]
    return f"{name} is also open elsewhere: {who}.", [
        ("save_as", "Save as…", "Go on in a file of your own"),
        dismiss,
    ]
