"""Vision encoder of a model: its dimensions, and the tokens and arithmetic of an image."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

#: colours of a pixel
_COLOURS: Final = 3
#: towers whose feed-forward parts have a gate, by the begin of their ``model_type``
_GATED: Final = ("qwen2_5_vl", "pixtral", "glm4v", "glm_4v")
#: tiles an image is cut into at most, where it is cut and no number is given: as Llama 4 and InternVL do
_TILES_LIMIT: Final = {"pixel_shuffle_ratio": 16, "downsample_ratio": 12}
#: largest dimension of a tower that is no mistake
_LARGEST_LIMIT: Final = 10**6

_DEPTH: Final = ("depth", "num_hidden_layers", "vt_num_hidden_layers", "num_layers")
_WIDTH: Final = ("embed_dim", "hidden_size", "vt_hidden_size")
_HEADS: Final = ("num_heads", "num_attention_heads", "vt_num_attention_heads")
_INNER: Final = ("intermediate_size", "vt_intermediate_size")


@dataclass(frozen=True, slots=True)
class VisionTower:
    """The vision encoder of a model.

    Parameters
    ----------
    layers, hidden, heads, ffn, gated
        Of its transformer.
    patch, merge
        Side of a patch [pixels], and how many patches a side are merged into a token.
    side
        Side that images are brought to [pixels]; 0 for their own.
    fixed
        Tokens of every image; 0 for as many as its patches make. Without a `side` that many patches are merged.
    tiles
        Tiles of `side` an image is cut into at most; 1 for a whole image.
    out
        Width of the model that reads its tokens.
    window, whole_layers
        Side of windows of attention [patches], and layers that attend to all of an image; window 0 for all layers.
    """

    layers: int
    hidden: int
    heads: int
    ffn: int
    gated: bool
    patch: int
    merge: int
    side: int
    fixed: int
    tiles: int
    out: int
    window: int = 0
    whole_layers: int = 0

    @property
    def layer_parameters(self) -> int:
        """Parameters of the matrices of a layer."""
        return 4 * self.hidden**2 + (3 if self.gated else 2) * self.hidden * self.ffn

    @property
    def joining_parameters(self) -> int:
        """Parameters of what brings merged patches to the width of the model: two products, one without merging."""
        merged = self.hidden * (1 if self.fixed else self.merge**2)
        return merged * self.out + (merged * merged if merged > self.hidden else 0)

    @property
    def parameters(self) -> int:
        """All parameters: layers, embedding of patches, what joins it to the model."""
        embedding = _COLOURS * self.patch**2 * self.hidden
        return self.layers * self.layer_parameters + embedding + self.joining_parameters

    def parts(self, width: int, height: int) -> int:
        """Images that it reads of one: its tiles, and the whole in small where there are several."""
        if self.tiles < 2 or not self.side:
            return 1
        tiles = min(self.tiles, math.ceil(width / self.side) * math.ceil(height / self.side))
        return tiles + 1 if tiles > 1 else 1

    def _sides(self, width: int, height: int) -> tuple[int, int]:
        """Tokens along the sides of what it reads at once."""
        step = self.patch * self.merge
        if self.side:
            return self.side // step, self.side // step
        return max(1, round(width / step)), max(1, round(height / step))

    def patches(self, width: int, height: int) -> int:
        """Patches of an image, over all its tiles."""
        if self.fixed and not self.side:
            return self.fixed * self.merge**2
        across, down = self._sides(width, height)
        return across * down * self.merge**2 * self.parts(width, height)

    def tokens(self, width: int, height: int) -> int:
        """Tokens that an image adds to a prompt."""
        if self.fixed:
            return self.fixed * self.parts(width, height)
        across, down = self._sides(width, height)
        return across * down * self.parts(width, height)

    def arithmetic(self, width: int, height: int) -> float:
        """Arithmetic of reading an image [FLOP]: products of every patch, and attention to those it looks at."""
        patches = self.patches(width, height)
        each = patches / self.parts(width, height)
        products = 2 * patches * (self.layers * self.layer_parameters + _COLOURS * self.patch**2 * self.hidden)
        joined = 2 * self.tokens(width, height) * self.joining_parameters
        whole = self.whole_layers if self.window else self.layers
        seen = whole * each + (self.layers - whole) * min(each, self.window**2)
        return products + joined + 4 * patches * seen * self.hidden


def tower_in(outer: Mapping[str, object], out: int) -> VisionTower | None:
    """The tower of a whole configuration, or of the one in it that reads; None where there is none to be read."""
    thinker = outer.get("thinker_config")
    for source in (outer, cast("Mapping[str, object]", thinker) if isinstance(thinker, dict) else {}):
        found = source.get("vision_config")
        if isinstance(found, dict):
            return vision_tower(cast("dict[str, object]", found), outer, out)
    return None


def vision_tower(config: Mapping[str, object], outer: Mapping[str, object], out: int) -> VisionTower | None:
    """The tower that a ``vision_config`` describes; None where it lacks a dimension.

    Parameters
    ----------
    outer
        The configuration around it, which has some of its sizes in some families.
    out
        Width of the model that reads its tokens.
    """

    def number(*names: str, source: Mapping[str, object] = config) -> int:
        for name in names:
            value: Any = source.get(name)
            if isinstance(value, list | tuple) and value:
                value = cast("Any", value[0])
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _LARGEST_LIMIT:
                return int(value)
        return 0

    layers, hidden, heads, patch = number(*_DEPTH), number(*_WIDTH), number(*_HEADS), number("patch_size")
    if not (layers and hidden and patch):
        return None
    ratio = config.get("mlp_ratio")
    ffn = number(*_INNER) or int(hidden * (ratio if isinstance(ratio, int | float) and 0 < ratio < 100 else 4))
    compressed = config.get("img_token_compression_config")
    inner = cast("Mapping[str, object]", compressed) if isinstance(compressed, dict) else {}
    merge = number("spatial_merge_size", "merge_kernel_size", "pooling_kernel_size")
    merge = merge or number("spatial_merge_size", source=outer) or number("spatial_merge_size", source=inner)
    cut = next((name for name in _TILES_LIMIT if _share(config, outer, name)), "")
    side = 0 if merge else number("image_size", "force_image_size")
    if cut:
        merge = round(1 / _share(config, outer, cut))
    tiles = (number("max_dynamic_patch", source=outer) or _TILES_LIMIT[cut]) if cut and side else 1
    # patches that are pooled are as many as its tokens need, whatever the sides of an image
    pooled = number("image_seq_length", "default_output_length") if number("pooling_kernel_size") else 0
    fixed = number("mm_tokens_per_image", source=outer) if side else pooled
    if not merge and not side:
        return None
    window = number("window_size") // patch
    marked = config.get("fullatt_block_indexes")
    whole = len(cast("list[object]", marked)) if isinstance(marked, list) else 0
    gated = str(config.get("model_type") or outer.get("model_type") or "").startswith(_GATED)
    return VisionTower(
        layers,
        hidden,
        heads or 1,
        ffn,
        gated,
        patch,
        max(1, merge),
        side,
        fixed,
        tiles,
        out,
        window if whole else 0,
        min(whole, layers),
    )


def _share(config: Mapping[str, object], outer: Mapping[str, object], name: str) -> float:
    value = config.get(name, outer.get(name))
    return float(value) if isinstance(value, int | float) and 0 < value <= 1 else 0.0
