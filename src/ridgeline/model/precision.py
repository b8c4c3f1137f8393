"""Which format each class of tensors is kept in and computed with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from ridgeline.errors import UnknownNameError
from ridgeline.model.architecture import Architecture, WeightClass
from ridgeline.model.formats import StorageFormat, format_named
from ridgeline.model.mixes import formats_for

WEIGHT_CLASSES: tuple[WeightClass, ...] = get_args(WeightClass)
_QUANTISED: frozenset[WeightClass] = frozenset({"attention", "ffn", "expert", "shared_expert"})
_PLAIN_BITS = 16.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Formats of weights by class, of the cache and of activations."""

    weights: Mapping[WeightClass, StorageFormat]
    """Every class has an entry."""
    kv: StorageFormat
    """Keys, values, latents, index keys and compressed entries."""
    activation: StorageFormat
    attention_compute_format: str
    """Arithmetic of attention scores and outputs: key of Device.peak_flop_per_s."""

    @classmethod
    def of(
        cls,
        arch: Architecture,
        *,
        dtype: str | None = None,
        kv_dtype: str | None = None,
        per_class: Mapping[WeightClass, str] | None = None,
        activation_dtype: str = "bf16",
        attention_compute_format: str | None = None,
    ) -> Precision:
        """Return the formats of a checkpoint, with overrides.

        Without `dtype` the checkpoint decides (weight_format and its exceptions). With one it
        replaces them all: formats of 16 bits and more everywhere, narrower ones in the
        projections and experts only, as quantised checkpoints are published (embedding, head,
        router and norms stay in the activation format). The cache follows the checkpoint's
        kv_format, else the activations.

        Args:
            arch: The model.
            dtype: Format of the weights, by id or alias, or a GGUF file type such as q4_k_m.
            kv_dtype: Format of the cache.
            per_class: Formats of single classes; wins over everything.
            activation_dtype: Format of activations.
            attention_compute_format: Arithmetic of attention; the activations' by default.

        Raises:
            UnknownNameError: no such format or weight class.
        """
        activation = format_named(activation_dtype)
        if dtype is None:
            default = format_named(arch.weight_format)
            formats: dict[WeightClass, StorageFormat] = dict.fromkeys(WEIGHT_CLASSES, default)
            formats.update({k: format_named(v) for k, v in arch.weight_formats})
        else:
            name, exceptions = formats_for(dtype, arch)
            default = format_named(name)
            wide = default.bits_per_weight >= _PLAIN_BITS
            formats = {
                k: default if wide or k in _QUANTISED else activation for k in WEIGHT_CLASSES
            }
            formats.update({k: format_named(v) for k, v in exceptions})
        for name, text in (per_class or {}).items():
            if name not in formats:
                raise UnknownNameError(
                    "weight class", name, WEIGHT_CLASSES, list_command="ridgeline list formats"
                )
            formats[name] = format_named(text)
        kv = kv_dtype or (arch.kv_format if dtype is None else None)
        return cls(
            weights=formats,
            kv=format_named(kv) if kv and kv != "auto" else activation,
            activation=activation,
            attention_compute_format=attention_compute_format or activation.compute_format,
        )

    def weight_bytes_of(self, weight_class: WeightClass) -> float:
        """Return the bytes of one weight of a class, scales included [B]."""
        return self.weights[weight_class].bytes_per_weight

    def compute_format_of(self, weight_class: WeightClass) -> str:
        """Return the arithmetic format of a class; weight-only formats use the activations'."""
        form = self.weights[weight_class]
        return self.activation.compute_format if form.weights_only else form.compute_format
