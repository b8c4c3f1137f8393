"""Models with a language part and towers: `text_config` is read, towers are counted apart.

Source of projector shapes: the ForConditionalGeneration modules of transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ridgeline.errors import InputError, UnsupportedError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf import projectors
from ridgeline.readers.hf.keys import Keys, class_defaults
from ridgeline.readers.hf.vision import TOWERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A multimodal class: the language type its text part defaults to, its tower, its projector."""

    text: str
    vision: str = ""
    audio: str = ""
    """Type of the tower in `audio_config`, for models that only hear."""
    projector: projectors.Projector = projectors.no_projector
    towers_by_default: bool = True
    """Whether a file without vision_config still has the tower of the class."""
    omni: bool = False
    """The model sits in `thinker_config`."""
    flat: bool = False
    """Old files keep the language keys at the top level."""


_COUNTED = {
    "text_config", "language_config", "llm_config", "vision_config", "quantization_config",
    "generation_config", "rope_config", "rope_scaling_config",
}  # fmt: skip

WRAPPERS: dict[str, Wrapper] = {
    "aria": Wrapper(
        text="aria_text", vision="idefics3_vision", projector=projectors.aria_projector
    ),
    "cohere2_vision": Wrapper(
        text="cohere2", vision="siglip_vision_model", projector=projectors.cohere2_vision_projector
    ),
    "gemma3": Wrapper(
        text="gemma3_text", vision="siglip_vision_model", projector=projectors.gemma3_projector
    ),
    "gemma3n": Wrapper(text="gemma3n_text", vision="gemma3n_vision"),
    "gemma4": Wrapper(
        text="gemma4_text",
        vision="gemma4_vision",
        projector=projectors.gemma4_projector,
        towers_by_default=False,
    ),
    "glm46v": Wrapper(text="glm4v_text", vision="glm4v_vision"),
    "glm4v": Wrapper(text="glm4v_text", vision="glm4v_vision"),
    "glm4v_moe": Wrapper(text="glm4v_moe_text", vision="glm4v_moe_vision"),
    "glm5_next": Wrapper(text="glm5_next_text", vision="glm5_next_vision", flat=True),
    "idefics3": Wrapper(
        text="llama", vision="idefics3_vision", projector=projectors.idefics3_projector
    ),
    "internvl": Wrapper(
        text="qwen2", vision="internvl_vision", projector=projectors.internvl_projector
    ),
    "kimi_k25": Wrapper(
        text="deepseek_v3", vision="kimi_k25_vision", projector=projectors.kimi_projector
    ),
    "kimi_k3": Wrapper(text="kimi_linear", vision="kimi_k3_vision"),
    "lfm2_vl": Wrapper(
        text="lfm2", vision="siglip2_vision_model", projector=projectors.lfm2_vl_projector
    ),
    "llama4": Wrapper(
        text="llama4_text", vision="llama4_vision_model", projector=projectors.llama4_projector
    ),
    "llava": Wrapper(
        text="llama", vision="clip_vision_model", projector=projectors.llava_projector
    ),
    "llava_next": Wrapper(
        text="llama", vision="clip_vision_model", projector=projectors.llava_next_projector
    ),
    "llava_next_video": Wrapper(
        text="llama", vision="clip_vision_model", projector=projectors.llava_next_projector
    ),
    "llava_onevision": Wrapper(
        text="qwen2", vision="siglip_vision_model", projector=projectors.llava_next_projector
    ),
    "minimax_m3_vl": Wrapper(
        text="minimax_m3_vl_text",
        vision="minimax_m3_vl_vision",
        projector=projectors.minimax_projector,
    ),
    "mistral3": Wrapper(text="mistral", vision="pixtral", projector=projectors.mistral3_projector),
    "mllama": Wrapper(
        text="mllama_text_model",
        vision="mllama_vision_model",
        projector=projectors.mllama_projector,
    ),
    "paligemma": Wrapper(
        text="gemma", vision="siglip_vision_model", projector=projectors.paligemma_projector
    ),
    "qwen2_5_vl": Wrapper(text="qwen2_5_vl_text", vision="qwen2_5_vl_vision", flat=True),
    "qwen2_vl": Wrapper(text="qwen2_vl_text", vision="qwen2_vl_vision", flat=True),
    "qwen3_5": Wrapper(text="qwen3_5_text", vision="qwen3_5_vision"),
    "qwen3_5_moe": Wrapper(text="qwen3_5_moe_text", vision="qwen3_5_moe_vision"),
    "qwen3_vl": Wrapper(text="qwen3_vl_text", vision="qwen3_vl_vision"),
    "qwen3_vl_moe": Wrapper(text="qwen3_vl_moe_text", vision="qwen3_vl_moe_vision"),
    "smolvlm": Wrapper(
        text="llama", vision="smolvlm_vision", projector=projectors.idefics3_projector
    ),
    "qwen3_omni_moe": Wrapper(text="", omni=True),
    "qwen3_omni_moe_thinker": Wrapper(
        text="qwen3_omni_moe_text", vision="qwen3_omni_moe_vision_encoder"
    ),
    "qwen2_5_omni": Wrapper(text="", omni=True),
    "qwen2_5_omni_thinker": Wrapper(text="qwen2_5_omni_text", vision="qwen2_5_omni_vision_encoder"),
    "ernie4_5_vl_moe": Wrapper(
        text="ernie4_5_vl_moe_text",
        vision="ernie4_5_vl_moe_vision",
        projector=projectors.ernie_projector,
        flat=True,
    ),
    "ernie4_5_moe_vl": Wrapper(
        text="ernie4_5_vl_moe_text",
        vision="ernie4_5_vl_moe_vision",
        projector=projectors.ernie_projector,
    ),
    "step3p7": Wrapper(
        text="step3p5", vision="step3p5_vision", projector=projectors.step_projector
    ),
    "step3_vl": Wrapper(text="step3_text", vision="step3_vision_encoder"),
    "glm_ocr": Wrapper(text="glm_ocr_text", vision="glm_ocr_vision"),
    "glmga": Wrapper(text="glm4v_text", vision="glm4v_vision"),
    "lighton_ocr": Wrapper(text="qwen3", vision="pixtral", projector=projectors.lighton_projector),
    "exaone4_5": Wrapper(text="exaone4_5_text", vision="exaone4_5_vision"),
    "hyperclovax_vision_v2": Wrapper(
        text="hyperclovax", vision="qwen2_5_vl_vision", projector=projectors.linear_out_projector
    ),
    "vipllava": Wrapper(
        text="llama", vision="clip_vision_model", projector=projectors.vipllava_projector
    ),
    "paddleocr_vl": Wrapper(
        text="paddleocr_vl_text",
        vision="paddleocr_vl_vision",
        projector=projectors.merged_projector,
    ),
    "deepseek_vl": Wrapper(
        text="llama", vision="siglip_vision_model", projector=projectors.two_layer_projector
    ),
    "aya_vision": Wrapper(
        text="cohere2", vision="siglip_vision_model", projector=projectors.aya_projector
    ),
    "shieldgemma2": Wrapper(
        text="gemma3_text", vision="siglip_vision_model", projector=projectors.gemma3_projector
    ),
    "cosmos3_omni": Wrapper(text="qwen3_vl_text", vision="qwen3_vl_vision"),
    "qwen2_audio": Wrapper(
        text="qwen2", audio="qwen2_audio_encoder", projector=projectors.qwen2_audio_projector
    ),
    "voxtral": Wrapper(
        text="llama", audio="voxtral_encoder", projector=projectors.voxtral_projector
    ),
    "vlm": Wrapper(text="hyperclovax", projector=projectors.linear_projector),
}


def read_wrapper(
    k: Keys, wrapper: Wrapper, readers: Mapping[str, Callable[[Keys], Architecture]]
) -> Architecture:
    """Return the language part of a multimodal config, with its towers counted."""
    if wrapper.omni:
        return _read_omni(k, readers)
    inner = k.section("text_config", "language_config", "llm_config")
    if inner is None:
        inner = Keys(k.values, wrapper.text, flags=k.flags)
        if not wrapper.flat and any(x in k.values for x in ("hidden_size", "num_hidden_layers")):
            k.assume(f"{k.model_type} without text_config: the top level describes the text model")
    kind = inner.model_type
    # Some files name the whole model in their text part.
    if kind in ("", k.model_type):
        kind = wrapper.text
    if kind not in readers and kind + "_text" in readers:
        kind += "_text"
    reader = readers.get(kind)
    if reader is None:
        raise UnsupportedError(f"its language part has the model type '{kind[:60]}', not read.")
    text = Keys(inner.values, kind, path=inner.path, flags=k.flags)
    arch = reader(text)
    arch = replace(arch, model_type=k.model_type, tie_word_embeddings=_tie(k, text, arch))
    towers = arch.num_multimodal_params + _towers(k, wrapper, arch)
    _flag_uncounted(k)
    return replace(arch, num_multimodal_params=towers)


def _read_omni(k: Keys, readers: Mapping[str, Callable[[Keys], Architecture]]) -> Architecture:
    """Return the thinker of an omni model; the parts that speak are not counted."""
    k.assume("only the thinker's language and vision parts are counted, not audio, talker or codec")
    inner = k.section("thinker_config")
    if inner is None:
        raise InputError("`thinker_config` is missing; the language part is unknown.")
    kind = k.model_type + "_thinker"
    return read_wrapper(Keys(inner.values, kind, path=inner.path, flags=k.flags), WRAPPERS[kind],
                        readers)  # fmt: skip


def _flag_uncounted(k: Keys) -> None:
    """Note every sub-model that no tower here counts."""
    hears = k.model_type == "gemma4" or WRAPPERS[k.model_type].audio
    known = _COUNTED | ({"audio_config"} if hears else set[str]())
    sections: dict[str, Any] = class_defaults().get(k.model_type, {}).get("sections", {})
    named = {key for key, value in k.values.items() if isinstance(value, Mapping)}
    for key in sorted({x for x in named | set(sections) if x.endswith("_config")} - known):
        if k.values.get(key, True) is not None:
            k.assume(f"`{key}` of {k.model_type} is not counted")


def _tie(k: Keys, text: Keys, arch: Architecture) -> bool:
    """Return whether the head is tied: top level first, then the text part, then its class."""
    top = k.values.get("tie_word_embeddings")
    if isinstance(top, bool):
        stated = text.values.get("tie_word_embeddings")
        if isinstance(stated, bool) and stated != top and text.values is not k.values:
            k.note("tie_word_embeddings differs between the top level and text_config; the top "
                   "level is used")  # fmt: skip
        return top
    if isinstance(text.values.get("tie_word_embeddings"), bool):
        return arch.tie_word_embeddings
    usual: Any = k.defaults.get("tie_word_embeddings")
    if isinstance(usual, bool) and usual != arch.tie_word_embeddings:
        k.assume(f"the head is separate; the classes of {k.model_type} and its text part disagree")
        return False
    return arch.tie_word_embeddings


def _towers(k: Keys, wrapper: Wrapper, arch: Architecture) -> int:
    if wrapper.audio:
        return _audio_tower(k, wrapper, arch)
    section = k.section("vision_config")
    if section is None and "vision_config" in k.values and not wrapper.vision:
        return 0
    if section is None:
        section = Keys({}, wrapper.vision, path="vision_config.", flags=k.flags)
        if not wrapper.towers_by_default or "vision_config" in k.values:
            return 0
    kind = section.model_type if section.model_type in TOWERS else ""
    if not kind and section.model_type + "_vision" in TOWERS:
        kind = section.model_type + "_vision"
    expected = wrapper.vision or kind
    # A wrapper that fixes its tower class ignores the type named in the file.
    fixed = class_defaults().get(k.model_type, {}).get("sections", {}).get("vision_config")
    if fixed in TOWERS:
        kind = str(fixed)
    kind = kind or (expected if not section.model_type else "")
    if kind not in TOWERS:
        k.assume(f"the vision part ('{section.model_type or expected}') is not counted")
        return 0
    vision = Keys(section.values, kind, path=section.path, flags=k.flags)
    try:
        return TOWERS[kind](vision) + wrapper.projector(k, vision, arch)
    except (IndexError, ZeroDivisionError, OverflowError):
        raise InputError(f"vision_config of {k.model_type} is inconsistent.") from None


def _audio_tower(k: Keys, wrapper: Wrapper, arch: Architecture) -> int:
    found = k.section("audio_config")
    audio = Keys(
        {} if found is None else found.values, wrapper.audio, path="audio_config.", flags=k.flags
    )
    return TOWERS[wrapper.audio](audio) + wrapper.projector(k, audio, arch)
