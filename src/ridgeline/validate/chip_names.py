"""Free text such as `H100 SXM 80GB NVLink` or `3070 8GB (448 GB/s)` becomes a device record.

A chip is found by its product word (h100, mi300x, 4090, m2 ...); words that tell variants apart
(sxm, pcie, max, ada ...), memory size and memory bandwidth then decide among its variants.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace

from ridgeline.catalog import Catalog
from ridgeline.errors import UnknownNameError
from ridgeline.hardware import Device
from ridgeline.hardware.records import MemoryTier
from ridgeline.units import human

_QUALIFIERS = frozenset(
    ("sxm", "pcie", "nvl", "pro", "max", "ultra", "ada", "ti", "super", "server", "laptop", "d")
)
_SYNONYMS = {
    "gb10": "dgx-spark",
    "spark": "dgx-spark",
    "gaudi 2": "gaudi2",
    "gaudi 3": "gaudi3",
    "tpu v4": "tpu-v4",
    "tpu v5e": "tpu-v5e",
    "tpu v5p": "tpu-v5p",
    "tpu v6e": "tpu-v6e",
    "trillium": "tpu-v6e",
    "ironwood": "tpu-v7",
    "grace hopper": "gh200",
    "6000 ada": "rtx-6000-ada",
    "trn1": "trainium1",
    "trn2": "trainium2",
    "inf2": "inferentia2",
}
_OTHER_CHIP = frozenset(("ti", "super", "laptop", "d"))
"""Words that make another chip of the same number; of Apple's, `pro`, `max` and `ultra` do too."""
_APPLE = re.compile(r"m\d")
_PRODUCT = re.compile(
    r"\b(?:gb\d{2,3}|gh\d{3}|[abhlvt]\d{1,4}[a-z]?|mi\d{3}[a-z]?|m\d|a\d{4}|\d{4}|gaudi\d|v\d[ep]?"
    r"|b\d{2,3}|w\d{4}|vr\d{3})\b"
)
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*gi?b(?![/\w])")
_BANDWIDTH = re.compile(r"(\d+(?:\.\d+)?)\s*(gb|tb)/s")
_LINK_WORDS = re.compile(r"(nvlink|pcie|cx\d|uni-dir|torus|fabric|ib|efa)[^,;)]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChip:
    """What a chip's name stands for."""

    device: Device
    in_catalog: bool
    """False: peaks are scaled from a sibling, only the bandwidth is stated."""
    flags: tuple[str, ...] = ()


@functools.cache
def find_chip(text: str) -> NamedChip:
    """Return the device that free text names.

    A chip that the catalogue lacks, but whose memory bandwidth is stated, gets the peaks of the
    catalogue's nearest sibling, scaled with bandwidth, and a flag.

    Raises:
        UnknownNameError: neither a known product word nor a stated bandwidth.
    """
    catalog = Catalog()
    low = re.sub(r"\s+", " ", text.lower())
    named = _by_name(low, catalog) or _by_synonym(low) or _best(low, catalog)
    if named is not None:
        return NamedChip(device=catalog.device(named), in_catalog=True)
    stated = _stated_bandwidth(low)
    if stated is None:
        raise UnknownNameError(
            "device", text, catalog.names("devices"), list_command="ridgeline list devices"
        )
    return _ad_hoc(text, low, stated, catalog)


def _by_name(low: str, catalog: Catalog) -> str | None:
    """Return the device whose own name or alias the text is, its vendor before it or not."""
    wanted = re.sub(r"[^a-z0-9.]+", "-", low).strip("-")
    names = catalog.names("devices")
    bare = re.sub(r"^(nvidia|amd|intel|apple|google|aws|groq)-", "", wanted)
    return next((name for name in (wanted, bare) if name in names), None)


def _by_synonym(low: str) -> str | None:
    found = next((v for k, v in _SYNONYMS.items() if re.search(rf"\b{re.escape(k)}\b", low)), None)
    return found if found in Catalog().entries("devices") else None


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9.]+", name.lower())) - {""}


def _product(words: set[str]) -> set[str]:
    return {w for w in words if _PRODUCT.fullmatch(w)}


def _best(low: str, catalog: Catalog) -> str | None:
    words = _words(low)
    # A number with a unit is a size, not a product.
    products = _product(words - {m.group(1) for m in _MEMORY.finditer(low)})
    memory, bandwidth = _memory(low), _stated_bandwidth(low)
    scored: list[tuple[float, str]] = []
    for name in catalog.entries("devices"):
        own = _words(name)
        key = _product(own)
        if not key & products or _another(own ^ words, key):
            continue
        device = catalog.device(name)
        score = 10.0 * len(own & words)
        score -= 4.0 * len((own ^ words) & _QUALIFIERS)
        if memory is not None:
            score -= 20.0 * min(abs(device.memory.capacity_bytes / 1e9 / memory - 1), 1.0)
        if bandwidth is not None:
            off = abs(device.memory.bandwidth_bytes_per_s / bandwidth - 1)
            score -= 20.0 * min(off, 1.0)
        scored.append((score, name))
    return max(scored)[1] if scored else None


def _another(differ: set[str], key: set[str]) -> bool:
    """Return whether words that only one of text and name has make another chip of them."""
    apple = any(_APPLE.fullmatch(word) for word in key)
    return bool(differ & (_OTHER_CHIP | {"pro", "max", "ultra"} if apple else _OTHER_CHIP))


def _memory(low: str) -> float | None:
    found = _MEMORY.search(low)
    return float(found[1]) if found else None


def _stated_bandwidth(low: str) -> float | None:
    """Return the memory bandwidth in the text [B/s]; link rates are left alone."""
    for match in _BANDWIDTH.finditer(low):
        if not _LINK_WORDS.search(low[: match.start()]):
            return float(match[1]) * (1e9 if match[2] == "gb" else 1e12)
    return None


_SIBLINGS = (
    (r"\b30[5-9]0\b|\ba[2-6]0{2,3}\b|\ba[1-4]0\b", "rtx-3090"),
    (r"\b40[5-9]0\b|\bl\d\d?\b|\bada\b", "rtx-4090"),
    (r"\b50[5-9]0\b|blackwell", "rtx-5090"),
    (r"\b20[6-8]0\b|\bt4\b|turing|titan rtx", "t4"),
    (r"\bv100\b|volta|titan v", "v100-sxm-32"),
    (r"\bm1\b|apple", "m1-max"),
    (r"\bm2\b", "m2-max"),
    (r"\bm3\b", "m3-max"),
    (r"\bm4\b", "m4-max"),
    (r"\bmi\d{3}|radeon|\b[79]900 ?xtx?\b|instinct", "mi300x"),
)


def _ad_hoc(text: str, low: str, bandwidth: float, catalog: Catalog) -> NamedChip:
    sibling = next((name for words, name in _SIBLINGS if re.search(words, low)), "rtx-4090")
    base = catalog.device(sibling)
    scale = bandwidth / base.memory.bandwidth_bytes_per_s
    memory = _memory(low)
    capacity = base.memory.capacity_bytes * scale if memory is None else memory * 1e9
    name = re.sub(r"[^a-z0-9]+", "-", low).strip("-")[:60]
    device = replace(
        base,
        id=name,
        name=text,
        peak_flop_per_s={k: v * scale for k, v in base.peak_flop_per_s.items()},
        memory=MemoryTier(
            name=base.memory.name, capacity_bytes=capacity, bandwidth_bytes_per_s=bandwidth
        ),
        confidence="low",
        cache_bytes=None,
    )
    flag = (
        f"'{text}' is not in the catalogue: stated {human(bandwidth, 'B/s')},"
        f" peaks scaled with bandwidth from {sibling}"
    )
    return NamedChip(device=device, in_catalog=False, flags=(flag,))
