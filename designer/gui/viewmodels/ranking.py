"""Which of many things is meant by a few typed words: one order for the palette and every list to search.

A whole word counts more than the beginning of one, that more than letters inside, and letters that are merely
somewhere in a title least of all: these count only where nothing better is found. What a thing *is called* counts
more than what it is — its kind, its vendor, other names of it — and that more than a text about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from designer.interchange.templates import Template

_T = TypeVar("_T")
_WORD: Final = re.compile(r"[^\W_]+")
#: points for a word of the query: whole word, beginning, inside; by where it is found
_TITLE: Final = (100, 80, 40)
_KIND: Final = (90, 60, 0)
_ABOUT: Final = (20, 10, 0)
#: all words in a row, and at the very beginning
_PHRASE: Final = 60
_FIRST: Final = 30
#: a title that is the query and no more
_EXACT: Final = 200
#: a text without the words, but with their letters in the right order, ranks below every other
_LETTERS: Final = -1000
#: shorter queries are not looked for inside of separate words
_SHORT: Final = 2
#: shorter words are not taken for others; longer ones may have two mistakes
_LEAST: Final = 4
_LONG: Final = 8
#: of what is found equivalent, parts come before templates
TEMPLATE_WEIGHT: Final = -1.0
#: words typed for a kind of part, and what it is called here
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "gpu": ("accelerator", "graphics", "card"),
    "cpu": ("processor", "host", "socket"),
    "nic": ("adapter", "network", "hca", "infiniband", "ethernet", "card"),
    "dpu": ("adapter", "network", "bluefield", "smartnic"),
    "memory": ("ram", "dimm", "dram"),
    "drive": ("disk", "ssd", "nvme"),
    "storage": ("filer", "nas", "file", "system", "object", "mount"),
    "switch": ("network", "leaf", "spine", "fabric", "router"),
    "pcie_switch": ("plx", "pex", "bridge"),
    "nvswitch": ("nvlink", "switch"),
    "server": ("node", "machine", "host", "box", "chassis", "system", "esxi", "hypervisor"),
    "rack": ("cabinet",),
    "numa": ("node", "socket"),
}
#: words typed for designs that are titled otherwise
_ALSO: Final[dict[str, tuple[str, ...]]] = {
    "scalable unit": ("superpod", "pod", "cluster"),
    "vsphere": ("esxi", "vmware", "hypervisor"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """What a thing can be found by.

    Parameters
    ----------
    names
        Other names of it, as good as the title.
    kind
        What it is: its kind, who makes it, synonyms of both; found by whole words and their beginnings only.
    about
        A text about it; found the same way.
    weight
        Of things found equivalent, the one with more weight comes first.
    letters
        Whether letters that are merely somewhere in the title will do, as "zi" for "Zoom in".
    """

    title: str
    names: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    about: str = ""
    weight: float = 0.0
    letters: bool = False


def rank(query: str, words: Words) -> float | None:
    """How well a thing fits, higher is better; None if it does not."""
    wanted = _split(query)
    if not wanted:
        return 0.0
    called = " \n ".join((words.title, *words.names)).casefold()
    kind, about = " ".join(words.kind).casefold(), words.about.casefold()
    total = 0
    for word in wanted:
        best = max(_points(word, called, _TITLE), _points(word, kind, _KIND), _points(word, about, _ABOUT))
        if best <= 0:
            return _tight(query, words)
        total += best
    return total / len(wanted) + max(_in_a_row(wanted, name, words.kind) for name in (words.title, *words.names))


def _in_a_row(wanted: Sequence[str], name: str, kind: tuple[str, ...]) -> int:
    """Points for a name that is the query, begins with it or has it in a row; who makes it may be left out."""
    named, phrase = _split(name), " ".join(wanted)
    makers = {word for text in kind for word in _split(text)}
    bare = named[1:] if len(named) > 1 and named[0] in makers else named
    plain = [" ".join(x) for x in (named, bare)]
    if phrase in plain:
        return _EXACT
    if any(f"{x} ".startswith(f"{phrase} ") for x in plain):
        return _PHRASE + _FIRST
    return _PHRASE if f" {phrase} " in f" {plain[0]} " else 0


def _tight(query: str, words: Words) -> float | None:
    """Typed together what is written apart, or the other way round: "qm 9700", "l40 s"; and letters alone."""
    whole = "".join(_split(query))
    if len(whole) > _SHORT and any(whole in "".join(_split(text)) for text in (words.title, *words.names)):
        return float(_TITLE[2] / 2)
    found = score(query, words.title) if words.letters else None
    return None if found is None else float(_LETTERS + min(found, -_LETTERS // 2))


def ordered(query: str, items: Iterable[_T], words: Callable[[_T], Words]) -> Sequence[_T]:
    """The things that fit, best first; letters alone count only where no word does, and where none fits a word that is
    written wrong is taken for the one that was meant. An empty query keeps the order.
    """
    items = list(items)
    if not query.strip():
        return items
    found = _fitting(query, items, words)
    if not found or -found[0][0] < _LETTERS / 2:
        meant = _meant(query, [words(item) for item in items])
        found = (meant != query and _fitting(meant, items, words)) or found
    return [row[-1] for row in found]


def _fitting(query: str, items: Sequence[_T], words: Callable[[_T], Words]) -> list[tuple[float, float, int, int, _T]]:
    """What fits, best first, with what it is ordered by."""
    found: list[tuple[float, float, int, int, _T]] = []
    for number, item in enumerate(items):
        own = words(item)
        points = rank(query, own)
        if points is not None:
            found.append((-points, -own.weight, len(own.title), number, item))
    found.sort(key=lambda row: row[:4])
    if found and -found[0][0] > _LETTERS / 2:
        found = [row for row in found if -row[0] > _LETTERS / 2]
    return found


def _meant(query: str, known: Sequence[Words]) -> str:
    """The query with words that nothing is called replaced by the nearest that something is; numbers stay."""
    texts = [" ".join((one.title, *one.names, *one.kind)) for one in known]
    whole = " ".join(texts).casefold()
    vocabulary = sorted({word for word in _WORD.findall(whole) if word.isalpha()})
    found: list[str] = []
    for word in _split(query):
        best = word
        if word.isalpha() and len(word) >= _LEAST and word not in whole:
            most = 1 if len(word) < _LONG else 2
            near = [(_mistakes(word, w), w) for w in vocabulary if w[0] == word[0] and abs(len(w) - len(word)) <= most]
            best = min((n for n in near if n[0] <= most), default=(0, word))[1]
        found.append(best)
    return query if found == list(_split(query)) else " ".join(found)


def _mistakes(a: str, b: str) -> int:
    """How many letters were left out, added, mistaken or swapped with the next: optimal string alignment."""
    before, last = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i, *([0] * len(b))]
        for j, y in enumerate(b, 1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                row[j] = min(row[j], before[j - 2] + 1)
        before, last = last, row
    return last[-1]


def template_words(template: Template) -> Words:
    """What a template can be found by."""
    also = [word for text, words in _ALSO.items() if text in template.title.casefold() for word in words]
    return Words(template.title, (template.id,), ("template", *also), template.intent, TEMPLATE_WEIGHT)


@lru_cache(maxsize=8192)
def _split(text: str) -> tuple[str, ...]:
    """The words of a text; names are asked about at every letter that is typed."""
    return tuple(_WORD.findall(text.casefold()))


def _points(word: str, text: str, points: tuple[int, int, int]) -> int:
    at = text.find(word)
    best = 0
    while at >= 0:
        starts = at == 0 or not text[at - 1].isalnum()
        ends = at + len(word) == len(text) or not text[at + len(word)].isalnum()
        if starts and ends:
            return points[0]
        best = max(best, points[1] if starts else points[2])
        at = text.find(word, at + 1)
    return best


# How well typed letters match a title: for the command palette and quick searches.

_WORD_START, _RUN, _PLAIN, _WHOLE = 8, 5, 1, 30


def score(query: str, text: str) -> int | None:
    """How well `text` matches, higher is better; None if a letter is missing. Words may come in any order."""
    words = query.casefold().split()
    if not words:
        return 0
    total = 0
    for word in words:
        found = _word(word, text.casefold())
        if found is None:
            return None
        total += found
    return total - len(text) // 8


def _word(word: str, text: str) -> int | None:
    at = text.find(word)
    if at >= 0:
        start = at == 0 or not text[at - 1].isalnum()
        return _WHOLE + len(word) * _RUN + (_WORD_START * 2 if start else 0) - at // 4
    total, last, at = 0, -2, 0
    for letter in word:
        at = text.find(letter, at)
        if at < 0:
            return None
        if at == last + 1:
            total += _RUN
        elif at == 0 or not text[at - 1].isalnum():
            total += _WORD_START
        else:
            total += _PLAIN
        last, at = at, at + 1
    return total
