"""Models with a language part and towers: `text_config` is read, towers are counted apart.

Source of projector shapes: the ForConditionalGeneration modules of transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ridgeline.errors import InputError, UnsupportedError
from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.keys import Keys, as_list, class_defaults
from ridgeline.readers.hf.vision import TOWERS

Projector = Callable[[Keys, Keys, Architecture], int]
"""(wrapper, vision section, language part) to parameters."""


def _none(top: Keys, vision: Keys, text: Architecture) -> int:
    del top, vision, text
    return 0


def _llava(top: Keys, vision: Keys, text: Architecture) -> int:
    layers = top.raw("vision_feature_layer", default=-2)
    width = vision.count("hidden_size") * len(as_list(layers))
    bias = text.hidden_size if top.flag("multimodal_projector_bias", default=True) else 0
    return width * text.hidden_size + text.hidden_size**2 + 2 * bias


def _llava_next(top: Keys, vision: Keys, text: Architecture) -> int:
    return _llava(top, vision, text) + text.hidden_size


def _mistral3(top: Keys, vision: Keys, text: Architecture) -> int:
    width = vision.count("hidden_size")
    merge = top.count("spatial_merge_size", default=2)
    return width + merge**2 * width * width + _llava(top, vision, text)


def _gemma3(top: Keys, vision: Keys, text: Architecture) -> int:
    del top
    width = vision.count("hidden_size")
    return width * text.hidden_size + width


def _gemma4(top: Keys, vision: Keys, text: Architecture) -> int:
    total = vision.count("hidden_size") * text.hidden_size
    audio = top.section("audio_config", model_type="gemma4_audio")
    if audio is not None:
        total += TOWERS["gemma4_audio"](audio)
        total += audio.count("output_proj_dims") * text.hidden_size
    return total


def _paligemma(top: Keys, vision: Keys, text: Architecture) -> int:
    del text
    out = vision.maybe("projection_dim", minimum=1) or top.count("projection_dim")
    return vision.count("hidden_size") * out + out


def _llama4(top: Keys, vision: Keys, text: Architecture) -> int:
    del top
    return vision.count("vision_output_dim") * text.hidden_size


def _mllama(top: Keys, vision: Keys, text: Architecture) -> int:
    del top
    return vision.count("vision_output_dim") * text.hidden_size + text.hidden_size


def _idefics3(top: Keys, vision: Keys, text: Architecture) -> int:
    return vision.count("hidden_size") * top.count("scale_factor") ** 2 * text.hidden_size


def _aria(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return Aria's resampler: queries, one cross attention, one small feed-forward part."""
    w = vision.count("hidden_size")
    counts = top.raw("projector_patch_to_query_dict", default=None)
    sizes = list(cast("Mapping[str, Any]", counts).values()) if isinstance(counts, Mapping) else []
    queries = max((top.check(x, "projector_patch_to_query_dict") for x in sizes), default=256)
    attention = 3 * w * w + 4 * (w * w + w) + (w * w + w) + 6 * w
    return queries * w + attention + w * text.hidden_size + text.hidden_size**2


def _kimi(top: Keys, vision: Keys, text: Architecture) -> int:
    del top
    w = vision.count("hidden_size")
    merge = vision.raw("merge_kernel_size", default=[2, 2])
    merged = w
    for side in as_list(merge):
        merged *= vision.check(side, "merge_kernel_size", minimum=1)
    return 2 * w + merged * merged + merged + merged * text.hidden_size + text.hidden_size


def _minimax(top: Keys, vision: Keys, text: Architecture) -> int:
    w, h = vision.count("hidden_size"), text.hidden_size
    p = top.count("projector_hidden_size", default=6144)
    merge = vision.count("spatial_merge_size", default=2) ** 2
    return w * p + p + p * h + h + h * merge * p + p + p * h + h


def _step(top: Keys, vision: Keys, text: Architecture) -> int:
    bias = text.hidden_size if top.flag("projector_bias") else 0
    return 4 * vision.count("hidden_size", "width") * text.hidden_size + bias


def _internvl(top: Keys, vision: Keys, text: Architecture) -> int:
    ratio = top.number("downsample_ratio", default=0.5)
    width = int(vision.count("hidden_size") * int(1 / ratio) ** 2)
    h = text.hidden_size
    return 2 * width + width * h + h + h * h + h


def _cohere2_vision(top: Keys, vision: Keys, text: Architecture) -> int:
    width = vision.count("hidden_size") * top.count("downsample_factor", default=2) ** 2
    inner = top.count("alignment_intermediate_size", default=36_864)
    return width * inner + inner + inner // 2 * text.hidden_size + text.hidden_size


def _lfm2_vl(top: Keys, vision: Keys, text: Architecture) -> int:
    width = vision.count("hidden_size") * top.count("downsample_factor", default=2) ** 2
    inner, h = top.count("projector_hidden_size", default=2560), text.hidden_size
    bias = inner + h if top.flag("projector_bias", default=True) else 0
    norm = 2 * width if top.flag("projector_use_layernorm", default=True) else 0
    return norm + width * inner + inner * h + bias


def _ernie(top: Keys, vision: Keys, text: Architecture) -> int:
    del top
    wide = vision.count("hidden_size") * vision.count("spatial_merge_size", default=2) ** 2
    return wide * text.hidden_size + 2 * text.hidden_size


def _linear(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return one projection with bias, as HyperCLOVA X SEED's `linear` projector."""
    top.assume("the projector is one linear layer with bias")
    width = vision.maybe("out_hidden_size", minimum=1) or vision.count("hidden_size")
    return width * text.hidden_size + text.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A multimodal class: the language type its text part defaults to, its tower, its projector."""

    text: str
    vision: str = ""
    projector: Projector = _none
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
    "aria": Wrapper(text="aria_text", vision="idefics3_vision", projector=_aria),
    "cohere2_vision": Wrapper(
        text="cohere2", vision="siglip_vision_model", projector=_cohere2_vision
    ),
    "gemma3": Wrapper(text="gemma3_text", vision="siglip_vision_model", projector=_gemma3),
    "gemma3n": Wrapper(text="gemma3n_text", vision="gemma3n_vision"),
    "gemma4": Wrapper(
        text="gemma4_text", vision="gemma4_vision", projector=_gemma4, towers_by_default=False
    ),
    "glm46v": Wrapper(text="glm4v_text", vision="glm4v_vision"),
    "glm4v": Wrapper(text="glm4v_text", vision="glm4v_vision"),
    "glm4v_moe": Wrapper(text="glm4v_moe_text", vision="glm4v_moe_vision"),
    "glm5_next": Wrapper(text="glm5_next_text", vision="glm5_next_vision"),
    "idefics3": Wrapper(text="llama", vision="idefics3_vision", projector=_idefics3),
    "internvl": Wrapper(text="qwen2", vision="internvl_vision", projector=_internvl),
    "kimi_k25": Wrapper(text="deepseek_v3", vision="kimi_k25_vision", projector=_kimi),
    "kimi_k3": Wrapper(text="kimi_linear", vision="kimi_k3_vision"),
    "lfm2_vl": Wrapper(text="lfm2", vision="siglip2_vision_model", projector=_lfm2_vl),
    "llama4": Wrapper(text="llama4_text", vision="llama4_vision_model", projector=_llama4),
    "llava": Wrapper(text="llama", vision="clip_vision_model", projector=_llava),
    "llava_next": Wrapper(text="llama", vision="clip_vision_model", projector=_llava_next),
    "llava_next_video": Wrapper(text="llama", vision="clip_vision_model", projector=_llava_next),
    "llava_onevision": Wrapper(text="qwen2", vision="siglip_vision_model", projector=_llava_next),
    "minimax_m3_vl": Wrapper(
        text="minimax_m3_vl_text", vision="minimax_m3_vl_vision", projector=_minimax
    ),
    "mistral3": Wrapper(text="mistral", vision="pixtral", projector=_mistral3),
    "mllama": Wrapper(text="mllama_text_model", vision="mllama_vision_model", projector=_mllama),
    "paligemma": Wrapper(text="gemma", vision="siglip_vision_model", projector=_paligemma),
    "qwen2_5_vl": Wrapper(text="qwen2_5_vl_text", vision="qwen2_5_vl_vision", flat=True),
    "qwen2_vl": Wrapper(text="qwen2_vl_text", vision="qwen2_vl_vision", flat=True),
    "qwen3_5": Wrapper(text="qwen3_5_text", vision="qwen3_5_vision"),
    "qwen3_5_moe": Wrapper(text="qwen3_5_moe_text", vision="qwen3_5_moe_vision"),
    "qwen3_vl": Wrapper(text="qwen3_vl_text", vision="qwen3_vl_vision"),
    "qwen3_vl_moe": Wrapper(text="qwen3_vl_moe_text", vision="qwen3_vl_moe_vision"),
    "smolvlm": Wrapper(text="llama", vision="smolvlm_vision", projector=_idefics3),
    "qwen3_omni_moe": Wrapper(text="", omni=True),
    "qwen3_omni_moe_thinker": Wrapper(
        text="qwen3_omni_moe_text", vision="qwen3_omni_moe_vision_encoder"
    ),
    "qwen2_5_omni": Wrapper(text="", omni=True),
    "qwen2_5_omni_thinker": Wrapper(text="qwen2_5_omni_text", vision="qwen2_5_omni_vision_encoder"),
    "ernie4_5_vl_moe": Wrapper(
        text="ernie4_5_vl_moe_text", vision="ernie4_5_vl_moe_vision", projector=_ernie, flat=True
    ),
    "ernie4_5_moe_vl": Wrapper(
        text="ernie4_5_vl_moe_text", vision="ernie4_5_vl_moe_vision", projector=_ernie
    ),
    "step3p7": Wrapper(text="step3p5", vision="step3p5_vision", projector=_step),
    "step3_vl": Wrapper(text="step3_text", vision="step3_vision_encoder"),
    "vlm": Wrapper(text="hyperclovax", projector=_linear),
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
    known = _COUNTED | ({"audio_config"} if k.model_type == "gemma4" else set[str]())
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
