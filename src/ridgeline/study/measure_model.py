"""A small real transformer with random weights, decoded one token at a time.

Embedding, RMSNorm, grouped-query attention with rotary positions and a KV cache, SwiGLU, head.
Its `Architecture` is read from the same keys as any model's, so that what is predicted and what
is run are one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ridgeline.model.architecture import Architecture
from ridgeline.readers import read_config
from ridgeline.study.measure_backend import Backend

HEAD_DIM = 64
_THETA = 10_000.0
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of the small model."""

    hidden_size: int = 1024
    intermediate_size: int = 2816
    num_heads: int = 16
    num_kv_heads: int = 4
    vocab_size: int = 16_000
    """Not a power of two: rows a power of two apart would share a few cache sets."""
    num_layers: int = 6

    def architecture(self) -> Architecture:
        """Return the model as the engine counts it."""
        return read_config(
            {
                "model_type": "llama",
                "architectures": ["LlamaForCausalLM"],
                "hidden_size": self.hidden_size,
                "intermediate_size": self.intermediate_size,
                "num_hidden_layers": self.num_layers,
                "num_attention_heads": self.num_heads,
                "num_key_value_heads": self.num_kv_heads,
                "head_dim": HEAD_DIM,
                "vocab_size": self.vocab_size,
                "tie_word_embeddings": False,
                "torch_dtype": "float32",
            },
            name="small-transformer",
        )

    @property
    def weight_elements(self) -> int:
        """Elements that every step reads: all matrices but the embedding."""
        width = (2 * self.num_heads + 2 * self.num_kv_heads) * HEAD_DIM
        layer = self.hidden_size * (width + 3 * self.intermediate_size)
        return self.num_layers * layer + self.hidden_size * self.vocab_size


def rms_norm(xp: Any, x: Any, weight: Any) -> Any:
    """Return x / rms(x) · weight over the last axis."""
    return x / xp.sqrt((x * x).mean(-1)[..., None] + _EPSILON) * weight


def rotary(xp: Any, x: Any, cosine: Any, sine: Any) -> Any:
    """Return x with halves of every head rotated by the position's angles."""
    half = HEAD_DIM // 2
    left, right = x[..., :half], x[..., half:]
    return xp.concatenate((left * cosine - right * sine, right * cosine + left * sine), -1)


def swiglu(xp: Any, gate_up: Any) -> Any:
    """Return silu(gate) · up of a matrix that holds both."""
    half = gate_up.shape[-1] // 2
    gate = gate_up[..., :half]
    return gate / (1.0 + xp.exp(-gate)) * gate_up[..., half:]


def attention(xp: Any, queries: Any, keys: Any, values: Any) -> Any:
    """Return softmax(q·kᵀ / √d)·v.

    Args:
        xp: numpy or torch.
        queries: [batch, KV heads, queries per KV head, head dim].
        keys: [batch, KV heads, tokens, head dim].
        values: Like keys.
    """
    scores = xp.matmul(queries * HEAD_DIM**-0.5, keys.swapaxes(-1, -2))
    scores = xp.exp(scores - xp.amax(scores, -1)[..., None])
    return xp.matmul(scores, values) / scores.sum(-1)[..., None]


class SmallTransformer:
    """Weights and cache of the model; `decode` advances a batch by one token."""

    def __init__(self, backend: Backend, shape: Shape, *, batch: int, tokens: int) -> None:
        """Fill weights with random numbers and make room for `tokens` per sequence."""
        self.backend, self.shape = backend, shape
        h, inner = shape.hidden_size, shape.intermediate_size
        q_width = shape.num_heads * HEAD_DIM
        width = q_width + 2 * shape.num_kv_heads * HEAD_DIM

        def matrix(rows: int, columns: int) -> Any:
            return backend.random(rows, columns) * rows**-0.5

        self.embedding = matrix(shape.vocab_size, h)
        self.head = matrix(h, shape.vocab_size)
        self.layers = [
            {
                "norm": backend.random(h),
                "qkv": matrix(h, width),
                "o": matrix(q_width, h),
                "ffn_norm": backend.random(h),
                "gate_up": matrix(h, 2 * inner),
                "down": matrix(inner, h),
            }
            for _ in range(shape.num_layers)
        ]
        self.norm = backend.random(h)
        room = (batch, shape.num_kv_heads, tokens, HEAD_DIM)
        self.keys = [backend.empty(*room) for _ in self.layers]
        self.values = [backend.empty(*room) for _ in self.layers]
        past = backend.random(1, *room[1:])
        for cache in (*self.keys, *self.values):
            cache[...] = past
        half = HEAD_DIM // 2
        self._frequency = [_THETA ** (-i / half) for i in range(half)]

    def decode(self, tokens: Any, context: int) -> Any:
        """Return the next token of every sequence after `context` cached ones."""
        xp, shape = self.backend.xp, self.shape
        batch = tokens.shape[0]
        heads, kv_heads = shape.num_heads, shape.num_kv_heads
        angle = self._angles(context)
        cosine, sine = xp.cos(angle), xp.sin(angle)
        x = self.embedding[tokens]
        for i, layer in enumerate(self.layers):
            keys, values = self.keys[i][:batch], self.values[i][:batch]
            qkv = xp.matmul(rms_norm(xp, x, layer["norm"]), layer["qkv"])
            qkv = qkv.reshape(batch, heads + 2 * kv_heads, HEAD_DIM)
            turned = rotary(xp, qkv[:, : heads + kv_heads], cosine, sine)
            keys[:, :, context] = turned[:, heads:]
            values[:, :, context] = qkv[:, heads + kv_heads :]
            queries = turned[:, :heads].reshape(batch, kv_heads, heads // kv_heads, HEAD_DIM)
            seen = attention(xp, queries, keys[:, :, : context + 1], values[:, :, : context + 1])
            x = x + xp.matmul(seen.reshape(batch, heads * HEAD_DIM), layer["o"])
            gate_up = xp.matmul(rms_norm(xp, x, layer["ffn_norm"]), layer["gate_up"])
            x = x + xp.matmul(swiglu(xp, gate_up), layer["down"])
        logits = xp.matmul(rms_norm(xp, x, self.norm), self.head)
        return logits.argmax(-1)

    def _angles(self, position: int) -> Any:
        angle = self.backend.empty(HEAD_DIM // 2)
        for i, frequency in enumerate(self._frequency):
            angle[i] = position * frequency
        return angle
