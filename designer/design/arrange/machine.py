"""The inside of a machine: sockets on top, PCIe trees below them, accelerators in one row, their switches under it.

Memory is next to its socket, on the outer side so that links between sockets stay free. What a switch connects
in addition to accelerators hangs between it and their row, next to the lines that go down to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from designer.design.address import Ref
from designer.design.arrange.fabric import Forest, Tree, grow
from designer.design.arrange.joints import Joint
from designer.design.arrange.roles import Item, Places, Role, role_of
from designer.design.arrange.sizes import GAP, GRID, HEADER, PADDING, ROW_GAP, bow_swing, grid_down, grid_up
from designer.design.selectors import natural_key

#: leaves below a part without accelerators are in rows of at least this many
_COLUMNS: Final = 4
#: stacked ones in columns of at most this many
_HIGHEST: Final = 4
#: trees are in several rows when one would be wider than this, scene units; where accelerators are linked, which
#: rows would tear apart, the second number counts
_WIDEST: Final = (3600, 9000)
#: between neighbours in a row of a machine, scene units
_NEXT: Final = 16
#: between a line down to an accelerator and the leaf next to it, scene units
_CLEAR: Final = 16
#: leaves behind others stick out by this much, so that the lines to them can be seen, scene units
_STAGGER: Final = 16
#: extent of what a view shows of a design, scene units; and by how much another layout must be seen larger to be chosen
_VIEW: Final = (800.0, 464.0)
_WORTH: Final = 1.04
#: machines of so few parts have one layout
_FEW: Final = 6
#: between the row of accelerators and that of their switches, scene units
_FAN: Final = 112
#: the same where there are two rows of trees, and between the rows of those
_LOW_FAN: Final = 80
_LOW_GAP: Final = 40


#: rows are moved apart by at most this much to fill the height of the view, scene units
_SPREAD: Final = 96


@dataclass(frozen=True, slots=True)
class _Style:
    """How a machine is laid out.

    Parameters
    ----------
    stacked
        Leaves are above accelerators and below each other, with room for the lines next to them, not in the gaps
        between accelerators and side by side.
    rows
        In how many rows the roots are; in the second of two, everything hangs upwards, with the switches of the
        accelerators between both.
    spread
        What rows are farther apart than they have to be, scene units.
    """

    stacked: bool = False
    rows: int = 1
    spread: int = 0

    @property
    def gap(self) -> int:
        """Between rows of a tree, scene units; of two rows of trees each has less height."""
        return (ROW_GAP if self.rows == 1 else _LOW_GAP) + self.spread

    @property
    def fan(self) -> int:
        """Between the row of accelerators and that of their switches, scene units."""
        return (_FAN if self.rows == 1 else _LOW_FAN) + self.spread


_STYLES: Final = (_Style(), _Style(stacked=True), _Style(rows=2), _Style(stacked=True, rows=2))


def arrange_machine(items: Sequence[Item], joints: Sequence[Joint]) -> Places:
    """Top left corners, from (0, 0) on, for the parts of one machine: of a few layouts the one seen largest."""
    forest = grow(items, joints)
    extents = {i.ref: i for i in items}
    best: Places = {}
    largest, chosen = 0.0, _Style()
    for style in _STYLES if len(items) > _FEW else _STYLES[:1]:
        if style.rows > 1 and len(forest.roots) < style.rows:
            continue
        at = _arrange_forest(forest, items, joints, extents, style)
        seen = _scale_in_view(at, extents)
        if seen > largest * _WORTH:
            best, largest, chosen = at, seen, style
    if not 0.0 < largest < 1.0:
        return best
    # a wide machine leaves height of the view unused: its rows move apart
    wide, high = _outer_size(best, extents)
    _, higher = _outer_size(_arrange_forest(forest, items, joints, extents, replace(chosen, spread=GRID)), extents)
    unused = wide * _VIEW[1] / _VIEW[0] - high
    spread = grid_down(min(GRID * unused / max(higher - high, GRID), _SPREAD))
    return _arrange_forest(forest, items, joints, extents, replace(chosen, spread=spread)) if spread > 0 else best


def _outer_size(at: Places, extents: Mapping[Ref, Item]) -> tuple[float, float]:
    """Width and height of a machine with its border."""
    wide = max((x + extents[ref].width for ref, (x, _) in at.items()), default=0.0) + 2 * PADDING
    high = max((y + extents[ref].height for ref, (_, y) in at.items()), default=0.0) + 2 * PADDING + HEADER
    return wide, high


def _scale_in_view(at: Places, extents: Mapping[Ref, Item]) -> float:
    """How large parts at some places are seen when all of them are in view."""
    wide, high = _outer_size(at, extents)
    return min(_VIEW[0] / wide, _VIEW[1] / high, 1.0)


def _arrange_forest(
    forest: Forest, items: Sequence[Item], joints: Sequence[Joint], extents: Mapping[Ref, Item], style: _Style
) -> Places:
    measures = _measure_trees(forest, style)
    at: Places = {}
    if style.rows > 1 and _have_peer_links(items, joints):
        _put_mirrored(forest, measures, items, joints, at, extents, style)
    else:
        top = 0.0
        for row in _rows(forest, measures, _have_peer_links(items, joints), style.rows):
            bottom = _Row(row, measures, joints, top, style).put(at)
            top = grid_up(bottom + ROW_GAP)
        _put_accelerator_switches(items, joints, at, extents, style)
    _put_rest(items, at, extents)
    return at


def _put_mirrored(
    forest: Forest,
    measures: Mapping[int, _Measure],
    items: Sequence[Item],
    joints: Sequence[Joint],
    at: Places,
    extents: Mapping[Ref, Item],
    style: _Style,
) -> None:
    """Two rows of trees whose accelerators face each other, with their switches between them."""
    upper, lower = _halves(forest.roots, measures)
    _Row(upper, measures, joints, 0.0, style).put(at)
    _put_accelerator_switches(items, joints, at, extents, style)
    bottom = max(at[ref][1] + extents[ref].height for ref in at)
    below: Places = {}
    high = _Row(lower, measures, joints, 0.0, style).put(below)
    switches = any(role_of(extents[ref].kind) is Role.ACCELERATOR_SWITCH for ref in at)
    top = grid_up(bottom + (style.fan if switches else 2 * style.fan))
    for ref, (x, y) in below.items():
        at[ref] = (x, top + high - y - extents[ref].height)


def _halves(roots: list[Tree], measures: Mapping[int, _Measure]) -> tuple[list[Tree], list[Tree]]:
    """The roots in two rows of about the same width, in their order."""
    widths = [measures[id(tree)].whole + 2 * _NEXT for tree in roots]
    cut = min(range(1, len(roots)), key=lambda n: max(sum(widths[:n]), sum(widths[n:])))
    return roots[:cut], roots[cut:]


class _Measure(NamedTuple):
    """Widths of a tree: of all of it, of what hangs directly below, of the part with its memory; and its order."""

    whole: float
    below: float
    own: float
    unit: float
    key: tuple[object, ...]
    levels: int


def _measure_trees(forest: Forest, style: _Style) -> dict[int, _Measure]:
    found: dict[int, _Measure] = {}
    for tree in reversed(forest.trees):
        inner = [found[id(child)] for child in tree.inner]
        own = _own_width(tree, style)
        widths = [m.whole for m in inner] + ([own] if own else [])
        below = sum(widths) + _NEXT * max(0, len(widths) - 1)
        card = tree.item.width if tree.item else 0
        unit = card + sum(m.width + ROW_GAP for m in tree.memory)
        names = [natural_key(i.ref.id) for i in tree.accelerators]
        keys = [m.key for m in inner if m.key[0] == 0] + ([(0, min(names))] if names else [])
        own_name = natural_key(tree.item.ref.id) if tree.item else ()
        found[id(tree)] = _Measure(
            whole=grid_up(max(below, unit)),
            below=below,
            own=own,
            unit=unit,
            key=min(keys) if keys else (1, own_name),
            levels=1 + max((m.levels for m in inner), default=0),
        )
    return found


def _own_width(tree: Tree, style: _Style) -> float:
    """Width of what hangs directly below a part and is no tree itself."""
    if tree.accelerators and tree.leaves and style.stacked:
        pitch, _, _ = _pitch(tree, style)
        return len(tree.accelerators) * pitch - _NEXT
    if tree.accelerators and tree.leaves:
        pitch, accelerator, leaf = _pitch(tree, style)
        last = max(accelerator / 2, _CLEAR + leaf + _sticking_out(tree, style))
        return grid_up(accelerator / 2 + (len(tree.accelerators) - 1) * pitch + last)
    if tree.accelerators:
        return sum(grid_up(i.width) for i in tree.accelerators) + _NEXT * (len(tree.accelerators) - 1)
    if tree.leaves:
        pitch, columns = _leaf_pitch(tree, style), _columns(tree, style)
        return columns * pitch - _NEXT
    return 0


def _pitch(tree: Tree, style: _Style) -> tuple[float, float, float]:
    """Distance between accelerators with leaves in the gaps, or above, and the widths of the widest of both."""
    accelerator = grid_up(max(i.width for i in tree.accelerators))
    leaf = grid_up(max(i.width for i in tree.leaves))
    out = _sticking_out(tree, style)
    if style.stacked:
        return max(accelerator, _CLEAR + leaf + out) + _NEXT, accelerator, leaf
    return max(accelerator + _NEXT, leaf + out + 2 * _CLEAR), accelerator, leaf


def _leaf_pitch(tree: Tree, style: _Style) -> float:
    """Distance between leaves where there are no accelerators."""
    return grid_up(max(i.width for i in tree.leaves)) + _sticking_out(tree, style) + _NEXT


def _side(tree: Tree, style: _Style) -> int:
    """How many leaves of a tree are side by side."""
    return len(tree.accelerators) or _columns(tree, style)


def _sticking_out(tree: Tree, style: _Style) -> int:
    """How far the first row of leaves is right of the last."""
    return _STAGGER * (-(-len(tree.leaves) // _side(tree, style)) - 1)


def _columns(tree: Tree, style: _Style) -> int:
    n = len(tree.leaves)
    if style.stacked:
        return -(-n // _HIGHEST)
    rows = -(-n // max(_COLUMNS, round(n**0.5)))
    return -(-n // rows)


def _rows(forest: Forest, measures: Mapping[int, _Measure], linked: bool, least: int) -> list[list[Tree]]:
    """The roots, in as many rows as they need."""
    roots = forest.roots
    total = sum(measures[id(t)].whole + 2 * _NEXT for t in roots)
    widest = _WIDEST[linked]
    if total <= widest and least == 1:
        return [roots] if roots else []
    if least > 1 and total <= least * widest:
        return list(_halves(roots, measures))
    many = -(-total // widest)
    rows: list[list[Tree]] = [[]]
    width = 0.0
    for tree in roots:
        more = measures[id(tree)].whole + 2 * _NEXT
        if rows[-1] and width + more > max(total / many * 1.1, measures[id(roots[0])].whole):
            rows.append([])
            width = 0.0
        rows[-1].append(tree)
        width += more
    return rows


def _have_peer_links(items: Sequence[Item], joints: Sequence[Joint]) -> bool:
    """True if links lead from accelerators to each other or to switches of their own."""
    roles = {i.ref: role_of(i.kind) for i in items}
    ends = (Role.ACCELERATOR, Role.ACCELERATOR_SWITCH)
    return any(roles.get(j.a) in ends and roles.get(j.b) in ends for j in joints)


class _Row:
    """One row of trees with common levels."""

    def __init__(
        self,
        roots: list[Tree],
        measures: Mapping[int, _Measure],
        joints: Sequence[Joint],
        top: float,
        style: _Style,
    ) -> None:
        self.style = style
        self.roots = roots
        self.measures = measures
        self.joints = joints
        self.trees = self._all_trees()
        self.top = top

    def _all_trees(self) -> list[Tree]:
        found: list[Tree] = []
        todo = list(self.roots)[::-1]
        while todo:
            tree = todo.pop()
            found.append(tree)
            todo += tree.inner
        return found

    def put(self, at: Places) -> float:
        """Place the row; its bottom."""
        left: dict[int, float] = {}
        x = 0.0
        for tree in self.roots:
            left[id(tree)] = x
            x = grid_up(x + self.measures[id(tree)].whole + 2 * _NEXT)
        for tree in self.trees:
            self._put_below(tree, left, at)
        start = grid_up(self.top + self._room_for_bows(at))
        heights = self._heights()
        y = [start]
        for level in range(len(heights)):
            last = level == len(heights) - 1
            only_leaves = not any(t.level == level for t in self.trees)
            y.append(grid_up(y[-1] + heights[level] + (GAP if last and only_leaves else self.style.gap)))
        bottom = start
        for tree in self.trees:
            bottom = max(bottom, self._drop(tree, y, at))
        return bottom

    def _put_below(self, tree: Tree, left: dict[int, float], at: Places) -> None:
        """x for a tree's own part, memory, leaves and accelerators, and the left sides of its inner trees."""
        measure = self.measures[id(tree)]
        x0 = left[id(tree)]
        x = x0
        if tree.item is not None:
            middle = self._put_unit(tree, tree.item, x0, measure, at)
            x += grid_down(min(max(middle - x0 - measure.below / 2, 0), measure.whole - measure.below))
        cells: list[tuple[tuple[object, ...], Tree | None]] = [(self.measures[id(c)].key, c) for c in tree.inner]
        if measure.own:
            names = [natural_key(i.ref.id) for i in tree.accelerators or tree.leaves]
            cells.append(((0 if tree.accelerators else 2, min(names)), None))
        cells.sort(key=lambda cell: cell[0])
        for _, child in cells:
            if child is None:
                self._put_own(tree, x, at)
                x += measure.own + _NEXT
            else:
                left[id(child)] = x
                x += self.measures[id(child)].whole + _NEXT

    def _put_unit(self, tree: Tree, item: Item, x0: float, measure: _Measure, at: Places) -> float:
        """The part in the middle of its tree, its memory next to it; the middle of the part."""
        spare = measure.unit - item.width
        before, behind = (spare, 0.0) if tree.memory_left else (0.0, spare)
        x = min(max((measure.whole - item.width) / 2, before), measure.whole - item.width - behind)
        if self.style.stacked and tree.accelerators and tree.leaves and not tree.inner:
            # above the lane next to the leaves, through which a line drops straight down to the accelerator
            x = before
        x = x0 + grid_down(x)
        at[item.ref] = (x, 0.0)
        edge = x if tree.memory_left else x + item.width
        for memory in tree.memory:
            if tree.memory_left:
                edge -= ROW_GAP + memory.width
                at[memory.ref] = (edge, 0.0)
            else:
                at[memory.ref] = (edge + ROW_GAP, 0.0)
                edge += ROW_GAP + memory.width
        return x + item.width / 2

    def _put_own(self, tree: Tree, x: float, at: Places) -> None:
        side, out = _side(tree, self.style), _sticking_out(tree, self.style)
        if tree.accelerators and tree.leaves:
            pitch, accelerator, _ = _pitch(tree, self.style)
            for n, item in enumerate(tree.accelerators):
                at[item.ref] = (x + n * pitch, 0.0)
            first = x + (_CLEAR if self.style.stacked else grid_up(accelerator / 2 + _CLEAR))
            for n, item in enumerate(tree.leaves):
                at[item.ref] = (first + n % side * pitch + out - n // side * _STAGGER, 0.0)
        elif tree.accelerators:
            for item in tree.accelerators:
                at[item.ref] = (x, 0.0)
                x += grid_up(item.width) + _NEXT
        else:
            pitch = _leaf_pitch(tree, self.style)
            for n, item in enumerate(tree.leaves):
                at[item.ref] = (x + n % side * pitch + out - n // side * _STAGGER, 0.0)

    def _stack(self, tree: Tree) -> tuple[int, float]:
        """How many leaves of a tree are side by side, and the height of one row of them."""
        return _side(tree, self.style), grid_up(max(i.height for i in tree.leaves))

    def _heights(self) -> list[float]:
        levels = max((t.level + 1 for t in self.trees), default=0)
        levels = max(levels, *(t.level + 2 for t in self.trees if t.leaves), 0) if self.trees else 0
        heights = [0.0] * levels
        for tree in self.trees:
            for item in (tree.item, *tree.memory):
                if item is not None:
                    heights[tree.level] = max(heights[tree.level], item.height)
            if tree.leaves:
                side, height = self._stack(tree)
                rows = -(-len(tree.leaves) // side)
                heights[tree.level + 1] = max(heights[tree.level + 1], rows * (height + GAP) - GAP)
        return heights

    def _drop(self, tree: Tree, y: Sequence[float], at: Places) -> float:
        """Give the parts of a tree their heights; the lowest bottom."""
        bottom = 0.0
        middle = tree.item.height / 2 if tree.item else 0
        for item in (tree.item, *tree.memory):
            if item is not None:
                down = max(0, grid_down(middle - item.height / 2)) if item is not tree.item else 0
                bottom = max(bottom, _set_top(item, y[tree.level] + down, at))
        for n, item in enumerate(tree.leaves):
            side, height = self._stack(tree)
            bottom = max(bottom, _set_top(item, y[tree.level + 1] + n // side * (height + GAP), at))
        for item in tree.accelerators:
            bottom = max(bottom, _set_top(item, y[-1], at))
        return bottom

    def _room_for_bows(self, at: Places) -> float:
        """Height above the row for links between roots that are no neighbours."""
        order = [t.item.ref for t in self.roots if t.item is not None]
        rank = {ref: n for n, ref in enumerate(order)}
        between = [(j.a, j.b) for j in self.joints if j.a in rank and j.b in rank]
        far = [abs(at[a][0] - at[b][0]) for a, b in between if abs(rank[a] - rank[b]) > 1]
        return bow_swing(max(far)) + GRID if far and len(order) > 2 else 0.0


def _set_top(item: Item, y: float, at: Places) -> float:
    at[item.ref] = (at[item.ref][0], y)
    return y + item.height


def _put_accelerator_switches(
    items: Sequence[Item], joints: Sequence[Joint], at: Places, extents: Mapping[Ref, Item], style: _Style
) -> None:
    """A row under the accelerators, spread over their width, each where its links are on average."""
    switches = [i for i in items if role_of(i.kind) is Role.ACCELERATOR_SWITCH]
    accelerators = [r for r in at if role_of(extents[r].kind) is Role.ACCELERATOR]
    if not switches or not accelerators:
        return
    left = min(at[r][0] for r in accelerators)
    right = max(at[r][0] + extents[r].width for r in accelerators)
    top = grid_up(max(at[r][1] + extents[r].height for r in at) + style.fan)
    linked: dict[Ref, list[float]] = {i.ref: [] for i in switches}
    for j in joints:
        for switch, other in ((j.a, j.b), (j.b, j.a)):
            if switch in linked and other in at:
                linked[switch].append(at[other][0] + extents[other].width / 2)

    def key(item: Item) -> tuple[object, ...]:
        xs = linked[item.ref]
        # those of accelerators still to come, below, are behind
        return (not xs, round(sum(xs) / len(xs) / GRID) if xs else 0, natural_key(item.ref.id), item.ref)

    pitch = grid_up(max(i.width for i in switches)) + _NEXT
    a_row = max(1, min(len(switches), int(max(right - left + _NEXT, 8 * pitch) // pitch)))
    rows = -(-len(switches) // a_row)
    a_row = -(-len(switches) // rows)
    step = max(pitch, grid_down((right - left) / a_row))
    start = max(0.0, grid_down((left + right) / 2 - (a_row - 1) * step / 2 - (pitch - _NEXT) / 2))
    height = grid_up(max(i.height for i in switches)) + ROW_GAP
    for n, item in enumerate(sorted(switches, key=key)):
        at[item.ref] = (start + n % a_row * step, top + n // a_row * height)


def _put_rest(items: Sequence[Item], at: Places, extents: Mapping[Ref, Item]) -> None:
    """Whatever hangs on nothing, in rows below everything."""
    rest = sorted(
        (i for i in items if i.ref not in at), key=lambda i: (role_of(i.kind).value, i.kind, natural_key(i.ref.id))
    )
    right = max((at[r][0] + extents[r].width for r in at), default=0.0)
    y = max((at[r][1] + extents[r].height + ROW_GAP for r in at), default=0.0)
    put_in_rows(rest, at, 0.0, grid_up(y), max(right, 640.0, 1.4 * sum(i.width * i.height for i in rest) ** 0.5))


def put_in_rows(items: Sequence[Item], at: Places, left: float, top: float, width: float, gap: float = GAP) -> float:
    """Place items one after another in rows at most `width` wide; the bottom of the last row."""
    x, y, height = left, top, 0.0
    for item in items:
        if x > left and x + item.width > left + width:
            x, y, height = left, grid_up(y + height + gap), 0.0
        at[item.ref] = (x, y)
        x = grid_up(x + item.width + gap)
        height = max(height, item.height)
    return y + height
