"""Every causal family of transformers that is read here, with the defaults of its class.

A count may differ only with an `assumed` flag. Layers are cut to four where the class allows it.
"""

import os

import pytest

from ridgeline.errors import RidgelineError
from ridgeline.model.params import count_parameters
from ridgeline.readers import read_config
from ridgeline.readers.hf.families import READERS
from ridgeline.readers.hf.keys import class_defaults

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
modeling_auto = pytest.importorskip("transformers.models.auto.modeling_auto")

pytestmark = pytest.mark.filterwarnings("ignore")

CAUSAL = set(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
FAMILIES = sorted(CAUSAL & set(READERS))
# transformers allocates gate and up weights for zero experts; GIT is read only as Grok 2.
NOT_COMPARABLE = {"longcat_flash", "git"}
AT_LEAST = 95


def cut_to_four(model_type: str) -> dict[str, int]:
    entry = class_defaults()[model_type]
    key = entry.get("spellings", {}).get("num_hidden_layers", "num_hidden_layers")
    deep = entry["defaults"].get(key)
    return {key: 4} if isinstance(deep, int) and deep > 4 else {}


def test_most_families_are_read() -> None:
    assert len(FAMILIES) >= AT_LEAST


@pytest.mark.parametrize("model_type", sorted(set(FAMILIES) - NOT_COMPARABLE))
def test_class_defaults_count_exactly(model_type: str) -> None:
    changes = cut_to_four(model_type)
    try:
        config = transformers.AutoConfig.for_model(model_type, **changes)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config)
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"transformers cannot build its own defaults: {str(error)[:80]}")
    truth = sum(p.numel() for p in model.parameters())
    try:
        arch = read_config({"model_type": model_type, **changes}, name=model_type)
    except RidgelineError as error:
        pytest.skip(f"refused: {str(error)[:80]}")
    flags = [f for f in arch.flags if f.startswith("assumed") and "not in the file" not in f]
    assert flags or count_parameters(arch).num_params == truth
