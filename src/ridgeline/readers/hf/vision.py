"""Parameters of vision and audio towers: counted, not costed.

Source of shapes: the vision modules of transformers 5.24.0 by the names below.
"""

from __future__ import annotations

from collections.abc import Callable

from ridgeline.readers.hf.keys import Keys, as_list


def _layer(hidden: int, inner: int, *, bias: bool = True, norm: int = 2) -> int:
    """Return a plain encoder layer: q, k, v, o, two matrices, two norms."""
    attention = 4 * (hidden * hidden + (hidden if bias else 0))
    mlp = 2 * hidden * inner + (hidden + inner if bias else 0)
    return attention + mlp + 2 * norm * hidden


def _gated_layer(hidden: int, inner: int, *, bias: bool = False, norms: int = 2) -> int:
    attention = 4 * (hidden * hidden + (hidden if bias else 0))
    mlp = 3 * hidden * inner + (2 * inner + hidden if bias else 0)
    return attention + mlp + norms * hidden


def _patch(k: Keys, hidden: int, *, bias: bool, temporal: bool = False) -> int:
    p = k.count("patch_size", "spatial_patch_size")
    channels = k.count("in_channels", "num_channels", "in_chans", default=3)
    frames = k.count("temporal_patch_size", default=2) if temporal else 1
    return hidden * channels * p * p * frames + (hidden if bias else 0)


def _grid(k: Keys) -> int:
    """Return patches per image."""
    size = k.raw("image_size")
    side = k.check((as_list(size) or [None])[0], "image_size")
    patch = k.raw("patch_size")
    p = k.check((as_list(patch) or [None])[0], "patch_size", minimum=1)
    return (side // p) ** 2


def clip(k: Keys) -> int:
    """Return CLIP's vision tower: class token, positions, norms before and after."""
    h, n = k.count("hidden_size"), k.layers()
    front = h + _patch(k, h, bias=False) + (_grid(k) + 1) * h
    return front + 4 * h + n * _layer(h, k.count("intermediate_size"))


def siglip(k: Keys) -> int:
    """Return SigLIP's vision tower, with its pooling head where the config keeps it."""
    h, n, inner = k.count("hidden_size"), k.layers(), k.count("intermediate_size")
    total = _patch(k, h, bias=True) + _grid(k) * h + 2 * h + n * _layer(h, inner)
    if k.flag("vision_use_head", default=True):
        total += h + 4 * (h * h + h) + 2 * h + 2 * h * inner + h + inner
    return total


def siglip2(k: Keys) -> int:
    """Return SigLIP 2's vision tower with a fixed number of positions."""
    h, n, inner = k.count("hidden_size"), k.layers(), k.count("intermediate_size")
    total = _patch(k, h, bias=True) + k.count("num_patches") * h + 2 * h + n * _layer(h, inner)
    if k.flag("vision_use_head", default=True):
        total += h + 4 * (h * h + h) + 2 * h + 2 * h * inner + h + inner
    return total


def idefics3(k: Keys) -> int:
    """Return the SigLIP-like tower of Idefics 2 and 3, SmolVLM and Aria."""
    h, n = k.count("hidden_size"), k.layers()
    front = _patch(k, h, bias=True) + _grid(k) * h
    return front + 2 * h + n * _layer(h, k.count("intermediate_size"))


def pixtral(k: Keys) -> int:
    """Return Pixtral's tower: rotary positions, gated layers, no biases."""
    h, n = k.count("hidden_size"), k.layers()
    return _patch(k, h, bias=False) + h + n * _gated_layer(h, k.count("intermediate_size"))


def qwen2_vl(k: Keys) -> int:
    """Return Qwen2-VL's tower and merger."""
    h, out, n = k.count("embed_dim"), k.count("hidden_size"), k.count("depth")
    merged = h * k.count("spatial_merge_size") ** 2
    merger = 2 * h + merged * merged + merged + merged * out + out
    inner = int(h * k.number("mlp_ratio"))
    return _patch(k, h, bias=False, temporal=True) + n * _layer(h, inner) + merger


def exaone4_5(k: Keys) -> int:
    """Return EXAONE 4.5's tower: Qwen2.5-VL's with fewer key and value heads."""
    h, heads = k.count("hidden_size"), k.count("num_heads")
    saved = 2 * (heads - k.count("num_key_value_heads", default=heads)) * (h // heads)
    return qwen2_5_vl(k) - k.count("depth") * saved * (h + 1)


def whisper_encoder(k: Keys) -> int:
    """Return Whisper's encoder: two convolutions, fixed positions, no bias on keys."""
    h, n = k.count("d_model", "hidden_size"), k.count("encoder_layers", "num_hidden_layers")
    inner = k.count("encoder_ffn_dim", "intermediate_size")
    front = h * k.count("num_mel_bins") * 3 + h + 3 * h * h + h
    positions = k.count("max_source_positions") * h
    return front + positions + n * (_layer(h, inner) - h) + 2 * h


def qwen2_5_vl(k: Keys) -> int:
    """Return Qwen2.5-VL's tower and merger: gated layers with biases, RMS norms."""
    h, out, n = k.count("hidden_size"), k.count("out_hidden_size"), k.count("depth")
    merged = h * k.count("spatial_merge_size") ** 2
    merger = h + merged * merged + merged + merged * out + out
    layers = n * _gated_layer(h, k.count("intermediate_size"), bias=True)
    return _patch(k, h, bias=False, temporal=True) + layers + merger


def _qwen3(k: Keys, deep: int) -> int:
    h, out, n = k.count("hidden_size"), k.count("out_hidden_size"), k.count("depth")
    merged = h * k.count("spatial_merge_size") ** 2
    project = merged * merged + merged + merged * out + out
    front = _patch(k, h, bias=True, temporal=True) + k.count("num_position_embeddings") * h
    layers = n * _layer(h, k.count("intermediate_size"))
    return front + layers + 2 * h + project + deep * (2 * merged + project)


def qwen3_vl(k: Keys) -> int:
    """Return Qwen3-VL's tower with its deep-stack mergers."""
    indexes = k.items("deepstack_visual_indexes")
    return _qwen3(k, len(indexes or ()))


def qwen3_5(k: Keys) -> int:
    """Return Qwen3.5's tower: Qwen3-VL's without deep stack."""
    return _qwen3(k, 0)


def gemma4(k: Keys) -> int:
    """Return Gemma 4's tower: 2-D position tables, gated layers, four norms, q and k norms."""
    h, n, heads = k.count("hidden_size"), k.layers(), k.count("num_attention_heads")
    dim = k.count("head_dim")
    kv = k.maybe("num_key_value_heads", minimum=1) or heads
    attention = 2 * h * heads * dim + 2 * h * kv * dim + 2 * dim
    mlp = 3 * h * k.count("intermediate_size")
    front = 2 * k.count("position_embedding_size") * h + _patch(k, h, bias=False)
    # Standardisation statistics are buffers.
    return front + n * (attention + mlp + 4 * h)


def gemma4_audio(k: Keys) -> int:
    """Return Gemma 4's conformer."""
    h, n = k.count("hidden_size"), k.layers()
    first, second = k.whole_items("subsampling_conv_channels") or [128, 32]
    out = k.count("output_proj_dims")
    # 128 mel bins, halved twice by the two convolutions.
    front = first * 9 + first + second * first * 9 + second + second * 32 * h
    kernel, heads = k.count("conv_kernel_size"), k.count("num_attention_heads")
    feed = 2 * (8 * h * h + 2 * h)
    attention = 5 * h * h + h // heads
    conv = 2 * h * h + h * h + h * kernel + 2 * h
    return front + n * (feed + attention + conv + 3 * h) + h * out + out


def llama4(k: Keys) -> int:
    """Return Llama 4's tower and its pixel-shuffle adapter."""
    h, n, inner = k.count("hidden_size"), k.layers(), k.count("intermediate_size")
    front = h + (_grid(k) + 1) * h + _patch(k, h, bias=False) + 4 * h
    shuffled = int(h // k.number("pixel_shuffle_ratio") ** 2)
    middle, out = k.count("projector_input_dim"), k.count("projector_output_dim")
    del shuffled
    return front + n * _layer(h, inner) + inner * middle + middle * out


def mllama(k: Keys) -> int:
    """Return Llama 3.2 Vision's tower: tiles, local and gated global layers."""
    h, inner = k.count("hidden_size"), k.count("intermediate_size")
    local, deep = k.layers(), k.count("num_global_layers")
    tiles = k.count("max_num_tiles")
    ratios = k.items("supported_aspect_ratios")
    rows = (8 if ratios is None else len(ratios)) + 1
    patches = _grid(k) + 1
    layer = 4 * h * h + 2 * h * inner + h + inner + 4 * h
    front = h + _patch(k, h, bias=False) + 1 + patches * h + rows * tiles * patches * h
    front += 2 * (1 + rows * tiles * h) + 4 * h
    return front + (local + deep) * layer + 2 * deep


def kimi(k: Keys) -> int:
    """Return MoonViT as in Kimi K2.5."""
    h, n = k.count("hidden_size", "vt_hidden_size"), k.count(
        "num_hidden_layers", "vt_num_hidden_layers")  # fmt: skip
    rows, columns = k.count("pos_emb_height", "init_pos_emb_height"), k.count(
        "pos_emb_width", "init_pos_emb_width")  # fmt: skip
    inner = k.count("intermediate_size", "vt_intermediate_size")
    return _patch(k, h, bias=True) + rows * columns * h + n * _layer(h, inner) + 2 * h


def minimax(k: Keys) -> int:
    """Return MiniMax M3's tower: rotary positions, one norm in front."""
    h, n = k.count("hidden_size"), k.layers()
    front = _patch(k, h, bias=False, temporal=True) + 2 * h
    return front + n * _layer(h, k.count("intermediate_size"))


def step(k: Keys) -> int:
    """Return Step 3.7's tower with layer scales and two convolutions after it."""
    h, n = k.count("hidden_size", "width"), k.count("num_hidden_layers", "layers")
    inner = int(h * k.number("mlp_ratio"))
    front = _patch(k, h, bias=False) + k.count("max_position_embeddings") * h + 2 * h
    down = 2 * h * h * 9 + 2 * h + 4 * h * 2 * h * 9 + 4 * h
    return front + n * (_layer(h, inner) + 2 * h) + down


def _glm(k: Keys, inner: int, project: int, *, bias: bool, qk_norm: bool) -> int:
    h, out, n = k.count("hidden_size"), k.count("out_hidden_size"), k.count("depth")
    merge = k.count("spatial_merge_size")
    layer = _gated_layer(h, inner, bias=bias)
    if qk_norm:
        layer += 2 * (h // k.count("num_heads"))
    merger = out * out + 2 * out + 3 * out * project
    down = out * h * merge * merge + out
    return _patch(k, h, bias=True, temporal=True) + n * layer + merger + down + h


def glm4v(k: Keys) -> int:
    """Return GLM-4.1V's tower; layers are out_hidden_size wide inside, the merger is wider."""
    h = k.count("hidden_size")
    bias = k.flag("attention_bias")
    total = _glm(k, k.count("out_hidden_size"), k.count("intermediate_size"), bias=False,
                 qk_norm=False)  # fmt: skip
    if bias:
        total += k.count("depth") * 4 * h
    return total + _grid(k) * h + h


def glm5_next(k: Keys) -> int:
    """Return GLM-5.3-Flash's tower: biases, q and k norms, no position table."""
    return _glm(k, k.count("intermediate_size"), k.count("projection_intermediate_size"),
                bias=k.flag("attention_bias", default=True), qk_norm=True)  # fmt: skip


def glm_ocr(k: Keys) -> int:
    """Return GLM-OCR's tower; the merger is three times as wide as its output."""
    inner, out = k.count("intermediate_size"), k.count("out_hidden_size")
    channels = k.count("in_channels", default=3)
    bias = k.flag("attention_bias", default=True)
    return _glm(k, inner, out * channels, bias=bias, qk_norm=True)


def internvl(k: Keys) -> int:
    """Return InternViT: class token, layer scales, biases where attention_bias says."""
    h, n, inner = k.count("hidden_size"), k.layers(), k.count("intermediate_size")
    front = h + (_grid(k) + 1) * h + _patch_pair(k, h)
    if k.flag("use_mask_token"):
        front += h
    norm = 2 if k.text("norm_type", default="layer_norm") == "layer_norm" else 1
    layer = 4 * h * h + h + 2 * h * inner + h + inner + 2 * norm * h + 2 * h
    if k.flag("attention_bias"):
        layer += 3 * h
    if k.flag("use_qk_norm"):
        layer += 2 * h
    if not k.flag("use_mean_pooling", default=True):
        front += 2 * h
    return front + n * layer


def _patch_pair(k: Keys, h: int) -> int:
    raw = k.raw("patch_size")
    sides = as_list(raw) or [raw]
    area = k.check(sides[0], "patch_size", minimum=1) * k.check(sides[-1], "patch_size", minimum=1)
    return h * k.count("num_channels", default=3) * area + h


def ernie_vl(k: Keys) -> int:
    """Return ERNIE 4.5 VL's tower and the two halves of its resampler, up to the text width."""
    h, n = k.count("hidden_size"), k.count("depth")
    inner = k.maybe("intermediate_size", minimum=1) or 4 * h
    wide = h * k.count("spatial_merge_size", default=2) ** 2
    frames = k.count("temporal_merge_size", "temporal_conv_size", default=2)
    spatial = 2 * (wide * wide + wide) + 2 * wide
    temporal = frames * wide * wide + wide + wide * wide + wide + 2 * wide
    return _patch(k, h, bias=False) + n * _layer(h, inner) + 2 * h + spatial + temporal


TOWERS: dict[str, Callable[[Keys], int]] = {
    "clip_vision_model": clip,
    "siglip_vision_model": siglip,
    "siglip2_vision_model": siglip2,
    "idefics2_vision": idefics3,
    "idefics3_vision": idefics3,
    "smolvlm_vision": idefics3,
    "pixtral": pixtral,
    "qwen2_vl_vision": qwen2_vl,
    "qwen2_5_vl_vision": qwen2_5_vl,
    "qwen3_vl_vision": qwen3_vl,
    "qwen3_vl_moe_vision": qwen3_vl,
    "qwen3_5_vision": qwen3_5,
    "qwen3_5_moe_vision": qwen3_5,
    "gemma4_vision": gemma4,
    "gemma4_audio": gemma4_audio,
    "llama4_vision_model": llama4,
    "mllama_vision_model": mllama,
    "kimi_k25_vision": kimi,
    "minimax_m3_vl_vision": minimax,
    "step3p5_vision": step,
    "ernie4_5_vl_moe_vision": ernie_vl,
    "qwen3_omni_moe_vision_encoder": qwen3_vl,
    "glm4v_vision": glm4v,
    "glm4v_moe_vision": glm4v,
    "glm_ocr_vision": glm_ocr,
    "exaone4_5_vision": exaone4_5,
    "paddleocr_vl_vision": idefics3,
    "qwen2_audio_encoder": whisper_encoder,
    "voxtral_encoder": whisper_encoder,
    "glm5_next_vision": glm5_next,
    "internvl_vision": internvl,
}
