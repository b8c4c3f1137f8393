"""Parameters between a tower and the language part.

Source of shapes: the ForConditionalGeneration modules of transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.keys import Keys, as_list
from ridgeline.readers.hf.vision import TOWERS

Projector = Callable[[Keys, Keys, Architecture], int]
"""(wrapper, tower section, language part) to parameters."""


def no_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of nothing."""
    del top, vision, text
    return 0


def llava_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Llava projector."""
    layers = top.raw("vision_feature_layer", default=-2)
    width = vision.count("hidden_size") * len(as_list(layers))
    bias = text.hidden_size if top.flag("multimodal_projector_bias", default=True) else 0
    return width * text.hidden_size + text.hidden_size**2 + 2 * bias


def llava_next_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Llava-next projector."""
    return llava_projector(top, vision, text) + text.hidden_size


def mistral3_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Mistral3 projector."""
    width = vision.count("hidden_size")
    merge = top.count("spatial_merge_size", default=2)
    return width + merge**2 * width * width + llava_projector(top, vision, text)


def lighton_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the LightOnOCR projector: Mistral 3's without biases."""
    w, h = vision.count("hidden_size"), text.hidden_size
    merge = top.count("spatial_merge_size", default=2)
    return w + merge**2 * w * w + w * h + h * h


def gemma3_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Gemma3 projector."""
    del top
    width = vision.count("hidden_size")
    return width * text.hidden_size + width


def gemma4_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Gemma4 projector."""
    total = vision.count("hidden_size") * text.hidden_size
    audio = top.section("audio_config", model_type="gemma4_audio")
    if audio is not None:
        total += TOWERS["gemma4_audio"](audio)
        total += audio.count("output_proj_dims") * text.hidden_size
    return total


def paligemma_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Paligemma projector."""
    del text
    out = vision.maybe("projection_dim", minimum=1) or top.count("projection_dim")
    return vision.count("hidden_size") * out + out


def llama4_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Llama4 projector."""
    del top
    return vision.count("vision_output_dim") * text.hidden_size


def mllama_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Mllama projector."""
    del top
    return vision.count("vision_output_dim") * text.hidden_size + text.hidden_size


def idefics3_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Idefics3 projector."""
    return vision.count("hidden_size") * top.count("scale_factor") ** 2 * text.hidden_size


def aria_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return Aria's resampler: queries, one cross attention, one small feed-forward part."""
    w = vision.count("hidden_size")
    counts = top.raw("projector_patch_to_query_dict", default=None)
    sizes = list(cast("Mapping[str, Any]", counts).values()) if isinstance(counts, Mapping) else []
    queries = max((top.check(x, "projector_patch_to_query_dict") for x in sizes), default=256)
    attention = 3 * w * w + 4 * (w * w + w) + (w * w + w) + 6 * w
    return queries * w + attention + w * text.hidden_size + text.hidden_size**2


def kimi_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Kimi projector."""
    del top
    w = vision.count("hidden_size")
    merge = vision.raw("merge_kernel_size", default=[2, 2])
    merged = w
    for side in as_list(merge):
        merged *= vision.check(side, "merge_kernel_size", minimum=1)
    return 2 * w + merged * merged + merged + merged * text.hidden_size + text.hidden_size


def minimax_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Minimax projector."""
    w, h = vision.count("hidden_size"), text.hidden_size
    p = top.count("projector_hidden_size", default=6144)
    merge = vision.count("spatial_merge_size", default=2) ** 2
    return w * p + p + p * h + h + h * merge * p + p + p * h + h


def step_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Step projector."""
    bias = text.hidden_size if top.flag("projector_bias") else 0
    return 4 * vision.count("hidden_size", "width") * text.hidden_size + bias


def internvl_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Internvl projector."""
    ratio = top.number("downsample_ratio", default=0.5)
    width = int(vision.count("hidden_size") * int(1 / ratio) ** 2)
    h = text.hidden_size
    return 2 * width + width * h + h + h * h + h


def cohere2_vision_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Cohere2-vision projector."""
    width = vision.count("hidden_size") * top.count("downsample_factor", default=2) ** 2
    inner = top.count("alignment_intermediate_size", default=36_864)
    return width * inner + inner + inner // 2 * text.hidden_size + text.hidden_size


def lfm2_vl_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Lfm2-vl projector."""
    width = vision.count("hidden_size") * top.count("downsample_factor", default=2) ** 2
    inner, h = top.count("projector_hidden_size", default=2560), text.hidden_size
    bias = inner + h if top.flag("projector_bias", default=True) else 0
    norm = 2 * width if top.flag("projector_use_layernorm", default=True) else 0
    return norm + width * inner + inner * h + bias


def ernie_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the parameters of the Ernie projector."""
    del top
    wide = vision.count("hidden_size") * vision.count("spatial_merge_size", default=2) ** 2
    return wide * text.hidden_size + 2 * text.hidden_size


def linear_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return one projection with bias, as HyperCLOVA X SEED's `linear` projector."""
    top.assume("the projector is one linear layer with bias")
    width = vision.maybe("out_hidden_size", minimum=1) or vision.count("hidden_size")
    return width * text.hidden_size + text.hidden_size


def vipllava_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the VipLLaVA projector: five vision layers side by side, a norm, two matrices."""
    layers = as_list(top.raw("vision_feature_layers", default=[-2, -5, -8, -11, 6]))
    width, h = vision.count("hidden_size") * len(layers), text.hidden_size
    return 2 * width + width * h + h + h * h + h


def merged_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the PaddleOCR-VL projector: a norm, then 2 by 2 patches through two matrices."""
    del top
    w, h = vision.count("hidden_size"), text.hidden_size
    merged = w * vision.count("spatial_merge_size", default=2) ** 2
    return 2 * w + merged * merged + merged + merged * h + h


def two_layer_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return two matrices with biases, from the tower's width to the text's."""
    del top
    w, h = vision.count("hidden_size"), text.hidden_size
    return w * h + h + h * h + h


def aya_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return the Aya Vision projector: a norm, then two matrices around a gated activation."""
    width = vision.count("hidden_size") * top.count("downsample_factor", default=2) ** 2
    inner = top.count("alignment_intermediate_size", default=text.hidden_size)
    return 2 * width + width * inner + inner + inner // 2 * text.hidden_size + text.hidden_size


def linear_out_projector(top: Keys, vision: Keys, text: Architecture) -> int:
    """Return one matrix with bias from the merger's width to the text's."""
    del top
    return vision.count("out_hidden_size") * text.hidden_size + text.hidden_size


def qwen2_audio_projector(top: Keys, audio: Keys, text: Architecture) -> int:
    """Return one matrix with bias from the audio width to the text's."""
    del top
    return audio.count("d_model", "hidden_size") * text.hidden_size + text.hidden_size


def voxtral_projector(top: Keys, audio: Keys, text: Architecture) -> int:
    """Return two matrices; the first joins four audio frames."""
    del top
    return audio.count("intermediate_size") * text.hidden_size + text.hidden_size**2
