"""Tolerant access to a config: spellings, class defaults, types and ranges, and what was assumed.

A key that is absent takes the default of its model class, as the reference library does; a key
that is `null` stays `null`. Every value is checked: whole numbers are whole, positive and bounded.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, cast

from ridgeline.errors import InputError

MAX_LAYERS = 10_000
MAX_DIMENSION = 2**31
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "hidden_size": ("n_embd", "d_model", "dim", "model_dim", "hidden_dim", "emb_dim"),
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers", "num_decoder_layers"),
    "num_attention_heads": ("n_head", "n_heads", "num_heads"),
    "num_key_value_heads": ("num_kv_heads", "n_kv_heads", "num_attention_groups", "n_head_kv"),
    "intermediate_size": ("n_inner", "ffn_dim", "ffn_hidden_size", "feed_forward_size"),
    "max_position_embeddings": ("n_positions", "n_ctx", "max_seq_len", "seq_length"),
    "num_experts": (
        "num_local_experts",
        "n_routed_experts",
        "moe_num_experts",
        "num_routed_experts",
    ),
    "num_experts_per_tok": (
        "num_experts_per_token",
        "moe_topk",
        "moe_top_k",
        "moe_k",
        "top_k_experts",
        "num_selected_experts",
    ),
    "n_shared_experts": ("num_shared_experts", "num_shared_expert", "moe_num_shared_experts"),
    "num_nextn_predict_layers": ("num_mtp_layers", "mtp_num_hidden_layers", "num_mtp_modules"),
    "n_group": ("num_expert_group", "num_expert_groups"),
    "topk_group": ("num_limited_groups", "topk_groups"),
}


@functools.cache
def class_defaults() -> dict[str, Any]:
    """Return the defaults of known model classes, by model type.

    Source: configuration classes of transformers 5.24.0 (Apache-2.0), shape keys only.
    """
    text = (
        resources.files("ridgeline.readers.hf").joinpath("class_defaults.json").read_text("utf-8")
    )
    return cast("dict[str, Any]", json.loads(text))


_ABSENT = object()


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as a list of one."""
    if isinstance(value, list | tuple):
        return list(cast("list[Any]", value))
    return [value]


class Keys:
    """One (sub)config of a model file, with its class defaults behind it."""

    def __init__(
        self,
        values: Mapping[str, Any],
        model_type: str,
        *,
        path: str = "",
        flags: list[str] | None = None,
    ) -> None:
        entry = cast("dict[str, Any]", class_defaults().get(model_type, {}))
        self.values = values
        self.model_type = model_type
        self.path = path
        self.known_class = bool(entry)
        self.defaults = cast("dict[str, Any]", entry.get("defaults", {}))
        self.spellings = cast("dict[str, str]", entry.get("spellings", {}))
        self.flags: list[str] = [] if flags is None else flags
        """Shared by all sections of one file."""

    def assume(self, sentence: str) -> None:
        """Note a guess that may be wrong."""
        self.note(f"assumed: {sentence}")

    def note(self, sentence: str) -> None:
        """Note something unusual or ignored."""
        if sentence not in self.flags:
            self.flags.append(sentence)

    def _names(self, name: str, also: tuple[str, ...]) -> list[str]:
        names = [name, *also]
        for given in tuple(names):
            real = self.spellings.get(given)
            if real is not None:
                names.append(real)
        names += [n for n in _SPELLINGS.get(name, ()) if n not in names]
        return names

    def has(self, name: str, *also: str) -> bool:
        """Whether the file itself states the key, not null."""
        return any(self.values.get(n) is not None for n in self._names(name, also))

    def raw(self, name: str, *also: str, default: Any = _ABSENT) -> Any:
        """Return the value as it stands, the class default, or `default`.

        Raises:
            InputError: none of them exists.
        """
        names = self._names(name, also)
        null = False
        for n in names:
            if n in self.values:
                if self.values[n] is not None:
                    return self.values[n]
                null = True
        if null:
            return None
        for n in names:
            # A spelling of another key has no default of its own.
            if n in self.defaults and self.spellings.get(n) not in self.defaults:
                value = self.defaults[n]
                if value is not None or default is _ABSENT:
                    return value
        if default is _ABSENT:
            raise InputError(f"{self._where(name)} is missing, and {self.model_type} needs it.")
        return default

    def _where(self, name: str) -> str:
        return f"Config key `{self.path}{name}`"

    def maybe(
        self, name: str, *also: str, default: int | None = None, minimum: int = 0
    ) -> int | None:
        """Return a whole number, or None where it is absent or null."""
        value = self.raw(name, *also, default=default)
        if value is None:
            return None
        return self.check(value, name, minimum=minimum)

    def check(self, value: Any, name: str, *, minimum: int = 0) -> int:
        """Return `value` as a whole number within bounds.

        Raises:
            InputError: another type, or out of range.
        """
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole:
            shown = repr(value)[:60]
            raise InputError(f"{self._where(name)} must be a whole number: {shown}.")
        if not minimum <= value <= MAX_DIMENSION:
            shown = f"{value:.4g}" if abs(value) < 1e300 else "beyond 1e300"
            raise InputError(
                f"{self._where(name)} must be between {minimum} and {MAX_DIMENSION:,}: {shown}."
            )
        return int(value)

    def count(self, name: str, *also: str, default: int | None = None, minimum: int = 1) -> int:
        """Return a whole number of at least `minimum`.

        Raises:
            InputError: missing, of another type, or out of range.
        """
        found = self.raw(name, *also, default=_ABSENT if default is None else default)
        if found is None:
            if default is None:
                raise InputError(f"{self._where(name)} must be a whole number: null.")
            found = default
        return self.check(found, name, minimum=minimum)

    def flag(self, name: str, *also: str, default: bool = False) -> bool:
        """Return true or false.

        Raises:
            InputError: another type.
        """
        value = self.raw(name, *also, default=default)
        if value is None:
            return default
        if not isinstance(value, bool):
            if value in (0, 1):
                return bool(value)
            raise InputError(f"{self._where(name)} must be true or false: {repr(value)[:60]}.")
        return value

    def number(self, name: str, *also: str, default: float | None = None) -> float:
        """Return a finite number.

        Raises:
            InputError: missing, of another type, or beyond ±1e12.
        """
        value = self.raw(name, *also, default=_ABSENT if default is None else default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{self._where(name)} must be a number: {repr(value)[:60]}.")
        if not -1e12 <= value <= 1e12:
            raise InputError(f"{self._where(name)} must be within ±1e12.")
        return float(value)

    def text(self, name: str, *also: str, default: str = "") -> str:
        """Return a word.

        Raises:
            InputError: another type.
        """
        value = self.raw(name, *also, default=default)
        if value is None:
            return default
        if not isinstance(value, str):
            raise InputError(f"{self._where(name)} must be text: {repr(value)[:60]}.")
        return value

    def items(self, name: str, *also: str) -> list[Any] | None:
        """Return a list, or None where it is absent or null.

        Raises:
            InputError: not a list, or longer than any model is deep.
        """
        value = self.raw(name, *also, default=None)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise InputError(f"{self._where(name)} must be a list: {repr(value)[:60]}.")
        items = as_list(value)
        if len(items) > 4 * MAX_LAYERS:
            raise InputError(f"{self._where(name)} has {len(items):,} entries; that is too many.")
        return items

    def whole_items(self, name: str, *also: str) -> list[int] | None:
        """Return a list of whole numbers, or None."""
        items = self.items(name, *also)
        return None if items is None else [self.check(x, name, minimum=-1) for x in items]

    def per_layer(self, name: str, num_layers: int, *also: str) -> list[Any] | None:
        """Return a list with at least one entry per layer, cut to the layers, or None.

        Raises:
            InputError: too short.
        """
        items = self.items(name, *also)
        if items is None:
            return None
        if len(items) < num_layers:
            raise InputError(
                f"{self._where(name)} has {len(items)} entries for {num_layers} layers."
            )
        return items[:num_layers]

    def section(self, name: str, *also: str, model_type: str | None = None) -> Keys | None:
        """Return a nested object, or None where it is absent or null.

        Raises:
            InputError: not an object.
        """
        value = self.raw(name, *also, default=None)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise InputError(f"{self._where(name)} must be an object: {repr(value)[:60]}.")
        inner = cast("Mapping[str, Any]", value)
        kind = inner.get("model_type") if model_type is None else model_type
        return Keys(
            inner,
            kind if isinstance(kind, str) else "",
            path=f"{self.path}{name}.",
            flags=self.flags,
        )

    def layers(self) -> int:
        """Return the number of layers.

        Raises:
            InputError: more than any model has.
        """
        n = self.count("num_hidden_layers")
        if n > MAX_LAYERS:
            raise InputError(
                f"{self._where('num_hidden_layers')} must be at most {MAX_LAYERS:,}: {n:,}."
            )
        return n
