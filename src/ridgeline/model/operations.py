"""Operations: what one device computes, moves and sends in one step, layer kinds merged.

Conventions, all per device and execution:

- A GEMM of m rows with an n × k matrix is 2mnk FLOP. Matrices with one input run as one GEMM.
- Weights are read once per step; of experts, those the batch is expected to touch.
- Attention tensor parallelism cuts heads; tokens are spread over dp and cp.
- Element-wise kernels (norms with residual, rotary, activation functions) are fused as engines
  fuse them: they move bytes, and their FLOP are left out.
- Lookups of learned positions and per-layer embeddings are left out: a few rows per token.
"""

from __future__ import annotations

import numpy as np

from ridgeline.errors import InputError
from ridgeline.model.architecture import (
    Architecture,
    Block,
    Core,
    CrossAttention,
    FeedForward,
    LatentAttention,
    Linear,
    Mixer,
    Recurrence,
    SoftmaxAttention,
    replace_count,
)
from ridgeline.model.layout import Layout
from ridgeline.model.operations_attention import latent_operations, softmax_operations
from ridgeline.model.operations_moe import Imbalance, expert_operations
from ridgeline.model.operations_recurrent import recurrence_operations
from ridgeline.model.precision import Precision
from ridgeline.model.scene import Scene, gemm, gemm_groups, is_one
from ridgeline.model.state import kv_entry_bytes, kv_head_share
from ridgeline.model.work import Number, Operation, Step


def operations(
    arch: Architecture,
    step: Step | tuple[Step, ...],
    precision: Precision,
    layout: Layout | None = None,
    *,
    stage: int | None = None,
    imbalance: Imbalance | None = None,
) -> tuple[Operation, ...]:
    """Return the work of one device in one step, equal layers merged into `count`.

    Everything broadcasts: batch, new tokens, context and every degree may be arrays.

    Args:
        arch: The model.
        step: One forward pass, or the parts of a mixed batch that run in one pass (decodes
            and chunks of prefill): weights are read once for all of them.
        precision: Formats.
        layout: Parallel degrees; one device by default.
        stage: Pipeline stage, from 0; None takes an average one (counts divided by pp).
        imbalance: Load of the busiest expert rank over the mean; 1 by default.

    Raises:
        InputError: `stage` with an array of pp, or outside it.

    Source: first principles.
    """
    groups = operation_groups(arch, step, precision, layout, stage=stage, imbalance=imbalance)
    return tuple(op for group in groups for op in group)


def operation_groups(
    arch: Architecture,
    step: Step | tuple[Step, ...],
    precision: Precision,
    layout: Layout | None = None,
    *,
    stage: int | None = None,
    imbalance: Imbalance | None = None,
) -> tuple[tuple[Operation, ...], ...]:
    """Return the same by what pipeline stages differ in: arguments as in `operations`.

    The lookup of tokens, every one of `distinct_blocks` (of the stage's), the head, and the send
    to the next stage.
    """
    steps = step if isinstance(step, tuple) else (step,)
    scene = Scene.of(arch, steps, precision, layout or Layout())
    pp = scene.layout.pp
    shares = _shares(arch, pp, stage)
    boundary = scene.local_tokens * (arch.hidden_size * scene.activation_bytes)
    return (
        _embedding(scene, shares.first),
        *(
            (
                *_mixer_operations(block, scene, layers),
                *_feed_forward_operations(block.feed_forward, scene, layers, imbalance),
            )
            for block, layers in shares.blocks
        ),
        tuple(_head(scene, shares.last)),
        scene.message(
            "stage.send",
            "point_to_point",
            "pp",
            payload_bytes=boundary,
            group=pp,
            count=shares.sends,
        ),
    )


class _Shares:
    """How often a stage runs each block, the embedding and the head."""

    __slots__ = ("blocks", "first", "last", "sends")

    def __init__(
        self, blocks: tuple[tuple[Block, Number], ...], first: Number, last: Number, sends: Number
    ) -> None:
        self.blocks = blocks
        self.first = first
        self.last = last
        self.sends = sends


def _shares(arch: Architecture, pp: Number, stage: int | None) -> _Shares:
    if stage is None:
        if is_one(pp):
            return _Shares(arch.distinct_blocks(), 1, 1, 0)
        blocks = tuple((b, n / pp) for b, n in arch.distinct_blocks())
        return _Shares(blocks, 1 / pp, 1 / pp, (pp - 1) / pp)
    if np.ndim(pp) or not 0 <= stage < int(pp):
        raise InputError(f"stage must be from 0 to pp - 1 of a single pp: stage={stage}, pp={pp}.")
    last = int(pp) - 1
    blocks = tuple(stage_blocks(arch, int(pp), stage))
    return _Shares(blocks, int(stage == 0), int(stage == last), int(stage < last))


def stage_blocks(arch: Architecture, pp: int, stage: int) -> tuple[tuple[Block, int], ...]:
    """Return the distinct blocks of one stage: layers ⌊s·L/pp⌋ up to ⌊(s + 1)·L/pp⌋."""
    low, high = stage * arch.num_layers // pp, (stage + 1) * arch.num_layers // pp
    counts: dict[Block, int] = {}
    start = 0
    for block in arch.blocks:
        inside = min(high, start + block.count) - max(low, start)
        if inside > 0:
            key = replace_count(block)
            counts[key] = counts.get(key, 0) + inside
        start += block.count
    return tuple(counts.items())


def num_kv_heads(mixer: Mixer) -> int:
    """Return the KV heads that a `kv` split follows; 1 where nothing is cached by head."""
    for core in mixer.cores:
        if isinstance(core, SoftmaxAttention | CrossAttention):
            return core.num_kv_heads
    return next((c.num_heads for c in mixer.cores if isinstance(c, Recurrence)), 1)


def _mixer_operations(block: Block, scene: Scene, count: Number) -> list[Operation]:
    mixer = block.mixer
    kv_share = kv_head_share(num_kv_heads(mixer), scene.layout)
    latent = any(isinstance(c, LatentAttention) for c in mixer.cores)
    cross = next((c for c in mixer.cores if isinstance(c, CrossAttention)), None)
    component = "recurrence" if _is_recurrent(mixer) else "attention"
    before: list[Operation] = []
    after: list[Operation] = []
    for group in gemm_groups(mixer.linears):
        if group[0].state_only and latent:
            continue
        rows = scene.local_tokens
        if group[0].state_only and cross:
            rows = _source_rows(cross, scene)
        operation = gemm(
            group, scene, component=component, count=count, rows=rows, kv_share=kv_share
        )
        (after if group[0].split == "row" else before).append(operation)
    middle: list[Operation] = []
    for core in mixer.cores:
        middle += _core_operations(core, mixer, scene, count)
        middle += _context_message(core, scene, count, kv_share)
    norms = _elementwise(block, scene, count, kv_share)
    return [norms, *before, *middle, *after, *_all_reduce("mixer", mixer.linears, scene, count)]


def _is_recurrent(mixer: Mixer) -> bool:
    return any(isinstance(c, Recurrence) for c in mixer.cores)


def _source_rows(cross: CrossAttention, scene: Scene) -> Number:
    """Return the source tokens projected in a step: all of them when a sequence starts."""
    return scene.over_sequences(
        lambda _, context: np.where(np.equal(context, 0), cross.num_source_tokens, 0)
    )


def _core_operations(
    core: Core, mixer: Mixer, scene: Scene, count: Number
) -> tuple[Operation, ...]:
    match core:
        case LatentAttention():
            kv_b = tuple(x for x in mixer.linears if x.state_only)
            return latent_operations(core, kv_b, scene, count)
        case Recurrence():
            return recurrence_operations(core, mixer, scene, count)
        case _:
            return softmax_operations(core, scene, count)


def _context_message(
    core: Core, scene: Scene, count: Number, kv_share: Number
) -> tuple[Operation, ...]:
    """Return what context parallelism gathers: the cache, or queries and outputs, if fewer bytes.

    Source: Yang et al. 2024, Context Parallelism for Scalable Million-Token Inference (pass-KV
    and pass-Q), arXiv:2411.01783.
    """
    if isinstance(core, Recurrence) or is_one(scene.layout.cp):
        return ()
    entry = kv_entry_bytes(core, scene.precision)
    share = kv_share if isinstance(core, SoftmaxAttention | CrossAttention) else 1.0
    keys = scene.over_sequences(lambda q, c: q + c) * (entry * share)
    match core:
        case SoftmaxAttention():
            width = core.qk_head_dim + core.v_head_dim
        case LatentAttention():
            width = 2 * core.kv_lora_rank + core.qk_rope_head_dim
        case _:
            width = 2 * core.head_dim
    heads = core.num_heads / scene.layout.tp
    queries = scene.local_tokens * (heads * width * scene.activation_bytes)
    payload = np.minimum(keys, queries)
    return scene.message(
        "context.gather",
        "all_gather",
        "cp",
        payload_bytes=payload,
        group=scene.layout.cp,
        count=count,
    )


def _all_reduce(
    where: str, linears: tuple[Linear, ...], scene: Scene, count: Number
) -> tuple[Operation, ...]:
    """Return the sum over tp after the matrices that are cut by input, if there are any."""
    if not any(x.split == "row" for x in linears):
        return ()
    payload = scene.local_tokens * (scene.arch.hidden_size * scene.activation_bytes)
    return scene.message(
        f"{where}.all_reduce",
        "all_reduce",
        "tp",
        payload_bytes=payload,
        group=scene.layout.tp,
        count=count,
    )


def _elementwise(block: Block, scene: Scene, count: Number, kv_share: Number) -> Operation:
    """Return the norm with residual before the mixer, and rotary on queries and keys.

    The fused norm reads input and residual and writes both; rotary reads and writes q and k.
    """
    width: Number = 4.0 * scene.arch.hidden_size
    for core in block.mixer.cores:
        if isinstance(core, SoftmaxAttention):
            heads = core.num_heads / scene.layout.tp + core.num_kv_heads * kv_share
            width = width + 2 * heads * core.qk_head_dim
        elif isinstance(core, LatentAttention):
            heads = core.num_heads / scene.layout.tp + 1
            width = width + 2 * heads * core.qk_rope_head_dim
    vectors = (
        block.num_norm_params
        + block.num_other_params
        + block.mixer.num_vector_params
        + block.feed_forward.num_vector_params
    )
    return Operation(
        name="norm+rope",
        family="elementwise",
        component="elementwise",
        compute_format=scene.precision.activation.compute_format,
        count=count,
        weight_bytes=vectors * scene.precision.weight_bytes_of("norm"),
        activation_bytes=scene.local_tokens * (width * scene.activation_bytes),
    )


def _feed_forward_operations(
    ffn: FeedForward, scene: Scene, count: Number, imbalance: Imbalance | None
) -> list[Operation]:
    if not ffn.linears and ffn.experts is None:
        return []
    width: Number = 4.0 * scene.arch.hidden_size
    result: list[Operation] = []
    for group in gemm_groups(ffn.linears):
        component = "router" if group[0].weight_class == "router" else "ffn"
        result.append(gemm(group, scene, component=component, count=count, rows=scene.local_tokens))
        if group[0].split == "column":
            # The activation function reads what these matrices produce and writes one of them.
            outputs = sum(x.out_features for x in group) + group[0].out_features
            width = width + outputs / scene.layout.tp
    norm = Operation(
        name="norm+activation",
        family="elementwise",
        component="elementwise",
        compute_format=scene.precision.activation.compute_format,
        count=count,
        activation_bytes=scene.local_tokens * (width * scene.activation_bytes),
    )
    linears = ffn.linears
    if ffn.experts is not None:
        result += expert_operations(ffn, ffn.experts, scene, count, imbalance)
        linears = (*linears, *ffn.experts.linears)
    return [norm, *result, *_all_reduce("ffn", linears, scene, count)]


def _embedding(scene: Scene, count: Number) -> tuple[Operation, ...]:
    """Return the lookup of one row per token, and linears that run once outside the layers."""
    arch, precision = scene.arch, scene.precision
    row = arch.num_input_embedding_params / max(arch.vocab_size, 1)
    moved = precision.weight_bytes_of("embedding") + scene.activation_bytes
    lookup = Operation(
        name="embed_tokens",
        family="embedding",
        component="embedding",
        compute_format=precision.activation.compute_format,
        count=count,
        activation_bytes=scene.local_tokens * (row * moved),
    )
    extra = tuple(
        gemm(group, scene, component="embedding", count=count, rows=scene.local_tokens)
        for group in gemm_groups(arch.linears)
    )
    return (lookup, *extra)


def _head(scene: Scene, count: Number) -> list[Operation]:
    """Return the final norm and the LM head, on the tokens that need logits only."""
    arch, rows = scene.arch, scene.logit_tokens()
    norm = Operation(
        name="final_norm",
        family="elementwise",
        component="head",
        compute_format=scene.precision.activation.compute_format,
        count=count,
        weight_bytes=arch.num_final_norm_params * scene.precision.weight_bytes_of("norm"),
        activation_bytes=rows * (4.0 * arch.hidden_size * scene.activation_bytes),
    )
    if arch.head is None:
        return [norm]
    head = gemm([arch.head], scene, component="head", count=count, rows=rows)
    if arch.head.split == "replicated":
        return [norm, head]
    payload = rows * (head.shape["n"] * scene.activation_bytes)
    tp = scene.layout.tp
    return [
        norm,
        head,
        *scene.message(
            "logits.gather", "all_gather", "tp", payload_bytes=payload, group=tp, count=count
        ),
    ]
