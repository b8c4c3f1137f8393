"""What is not a decoder language model, by name and with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ridgeline.errors import UnsupportedError

_REASONS: dict[str, str] = {
    "encoder": "an encoder: it reads a whole text at once and does not decode",
    "seq2seq": "an encoder-decoder, not a decoder-only language model",
    "vision": "a vision model, not a language model",
    "speech": "a speech model, not a language model",
    "embedding": "an embedding or reward head: it does not decode",
    "other": "not an autoregressive decoder language model",
}
_TYPES: dict[str, tuple[str, ...]] = {
    "encoder": (
        "albert", "bert", "bert-generation", "big_bird", "camembert", "canine", "convbert",
        "data2vec-text", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "esm",
        "eurobert", "flaubert", "fnet", "funnel", "ibert", "jina_embeddings_v3", "layoutlm",
        "layoutlmv2", "layoutlmv3", "lilt", "longformer", "luke", "markuplm", "megatron-bert",
        "mobilebert", "modernbert", "mpnet", "mra", "new", "nezha", "nomic_bert",
        "nystromformer", "qdqbert", "rembert", "roberta", "roberta-prelayernorm", "roc_bert",
        "roformer", "splinter", "squeezebert", "tapas", "xlm", "xlm-roberta", "xlm-roberta-xl",
        "xmod", "yoso",
    ),
    "seq2seq": (
        "bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "encoder-decoder",
        "florence2", "fsmt", "led", "longt5", "m2m_100", "marian", "mbart", "mt5", "mvp",
        "nllb-moe", "pegasus", "pegasus_x", "pix2struct", "plbart", "prophetnet", "speech_to_text",
        "switch_transformers", "t5", "t5gemma", "t5gemma2", "trocr", "udop", "umt5",
        "vision-encoder-decoder", "xlm-prophetnet",
    ),
    "speech": (
        "bark", "canary", "clap", "encodec", "hubert", "mimi", "musicgen", "musicgen_melody",
        "parakeet_ctc", "sew", "speecht5", "unispeech", "vits", "wav2vec2", "wav2vec2-bert",
        "wavlm", "whisper",
    ),
    "vision": (
        "align", "altclip", "beit", "blip", "chinese_clip", "clip", "clip_vision_model",
        "clipseg", "convnext", "convnextv2", "deit", "depth_anything", "detr", "dinov2",
        "dinov3_vit", "dpt", "grounding-dino", "mask2former", "mobilevit", "owlvit", "regnet",
        "resnet", "sam", "sam2", "segformer", "siglip", "siglip2", "siglip_vision_model",
        "swin", "swinv2", "timm_wrapper", "vilt", "vit", "vit_mae", "vitmatte", "yolos",
    ),
    "embedding": ("colpali", "colqwen2", "embedding_gemma2", "llama_bidirec", "nvembed"),
    "other": ("cpmant", "diffusion_gemma", "llada", "reformer", "xlnet"),
}  # fmt: skip
_REASON_OF = {name: kind for kind, names in _TYPES.items() for name in names}
_HEADS: dict[str, str] = {
    "ForMaskedLM": "encoder",
    "ForSequenceClassification": "embedding",
    "ForTokenClassification": "embedding",
    "ForQuestionAnswering": "embedding",
    "ForPreTraining": "encoder",
    "Bidirectional": "embedding",
    "RewardModel": "embedding",
    "EncoderModel": "encoder",
    "T5ForConditionalGeneration": "seq2seq",
    "ForImageClassification": "vision",
    "ForSpeechSeq2Seq": "speech",
    "ForCTC": "speech",
}


def architectures(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the class names that the config states."""
    found = config.get("architectures")
    if not isinstance(found, list):
        return ()
    return tuple(x for x in cast("list[Any]", found) if isinstance(x, str))


def check_decoder(config: Mapping[str, Any]) -> None:
    """Refuse what is known not to be a decoder language model.

    Raises:
        UnsupportedError: the reason, by the name of the type or class.
    """
    kind = config.get("model_type")
    names = architectures(config)
    shown = f"'{kind}'" if isinstance(kind, str) else "/".join(names) or "this model"
    reason = _REASON_OF.get(kind) if isinstance(kind, str) else None
    if reason is None:
        for name in names:
            reason = next((r for part, r in _HEADS.items() if part in name), reason)
    if reason is None and config.get("is_encoder_decoder") is True:
        reason = "seq2seq"
    if reason is not None:
        raise UnsupportedError(f"{shown[:80]} is {_REASONS[reason]}. Use a causal language model.")
