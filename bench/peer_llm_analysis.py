"""CPU seconds per decode estimate of llm-analysis (PyPI); run by bench/estimates.py."""

import logging
import time

from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import ModelConfig, ParallelismConfig, get_gpu_config_by_name

logging.disable(logging.CRITICAL)
LLAMA_70B = ModelConfig(
    name="llama-70b",
    num_layers=80,
    n_head=64,
    hidden_dim=8192,
    vocab_size=128256,
    max_seq_len=131072,
    num_key_value_heads=8,
    ffn_embed_dim=40960,
)
POINTS = 500

analysis = LLMAnalysis(
    LLAMA_70B,
    get_gpu_config_by_name("h100-sxm-80gb"),
    parallelism_config=ParallelismConfig(tp_size=8),
    flops_efficiency=0.7,
    hbm_memory_efficiency=0.9,
)
analysis.inference(batch_size_per_gpu=8, seq_len=2048)
start = time.process_time()
for batch in range(POINTS):
    analysis.inference(batch_size_per_gpu=batch % 64 + 1, seq_len=2048)
print((time.process_time() - start) / POINTS)
