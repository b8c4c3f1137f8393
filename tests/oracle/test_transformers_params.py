"""Parameter counts against the classes of transformers, built on the meta device."""

import os

import pytest

from ridgeline.model.params import count_parameters
from ridgeline.readers import read_config
from small_configs import SMALL, small

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore")


def built(model_type: str, changes: dict[str, object]) -> int:
    values = dict(SMALL[model_type])
    values.update(changes)
    config = transformers.AutoConfig.for_model(model_type, **values)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    return sum(p.numel() for p in model.parameters())


# transformers allocates gate and up weights for experts without weights (see the test below).
NOT_COMPARABLE = {"longcat_flash"}


@pytest.mark.parametrize("model_type", sorted(set(SMALL) - NOT_COMPARABLE))
def test_small_models_count_exactly(model_type: str) -> None:
    """Every unique weight, tied ones once."""
    arch = read_config(small(model_type), name=model_type)
    assert count_parameters(arch).num_params == built(model_type, {})


@pytest.mark.parametrize(
    "model_type", ["llama", "qwen3", "qwen3_moe", "deepseek_v3", "gemma3_text", "qwen3_next"]
)
@pytest.mark.parametrize(
    "changes",
    [
        {"tie_word_embeddings": True},
        {"tie_word_embeddings": False},
        {"attention_bias": True},
        {"vocab_size": 131, "hidden_size": 80, "num_attention_heads": 5, "num_key_value_heads": 5},
        {"num_hidden_layers": 7},
    ],
    ids=str,
)
def test_changed_models_count_exactly(model_type: str, changes: dict[str, object]) -> None:
    """Keys that change shapes do so here too."""
    arch = read_config(small(model_type, **changes), name=model_type)
    assert count_parameters(arch).num_params == built(model_type, changes)


def test_zero_experts_carry_no_weights() -> None:
    """Transformers allocates 2·32·64 gate and up weights for each of 4 zero experts in 2 layers."""
    ours = count_parameters(read_config(small("longcat_flash"), name="x")).num_params
    assert built("longcat_flash", {}) - ours == 2 * 4 * 2 * 32 * 64
