"""One good body for every question, and one bad one with the field at fault."""

SMALL = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 32_000,
}
LLAMA = {"model": "llama-3.3-70b", "on": "hgx-h100-8"}
PRICE = "google/gemini-3.1-pro-preview"
DAY = "2026-11-30"
GOOD = {
    "catalog": {"kind": "devices", "search": "h100"},
    "entry": {"kind": "clusters", "name": "gb200-nvl72"},
    "model": {"config": SMALL, "name": "small"},
    "estimate": {**LLAMA, "batch": [1, 64], "context": "4k", "tp": 8, "dtypes": {"ffn": "fp8"}},
    "estimate/sweep": {**LLAMA, "batch": 8, "sweep": "memory_bandwidth=0.5x,1x"},
    "pipelines": {"model": "deepseek-v3", "on": "gb200-nvl72", "pp": [1, 2]},
    "racks": {"model": "deepseek-v3", "num_racks": [1, 2], "ratios": [4], "context": "8k"},
    "cache": {**LLAMA, "hold": "5m", "usd_per_gb": {"host-ddr5": 36}, "only": ["hbm", "host-ddr5"]},
    "lecture": {"which": "C1-N7"},
    "chalk": {"claim": "C1-F2", "inputs": {"batch": 2000}},
    "quiz/check": {"claim": "K2", "answer": "0.82 ms"},
    "prices": {"pattern": "gemini-3.1", "date": DAY},
    "prices/sheet": {"model": PRICE, "date": DAY},
    "prices/cost": {"model": PRICE, "input_tokens": "250k", "output_tokens": 500, "date": DAY},
    "prices/decode": {"model": PRICE, "date": DAY, "draws": 2000},
    "prices/margin": {**LLAMA, "price": PRICE, "utilisation": 0.5, "speed": 30, "date": DAY},
    "validate": {},
    "plan": {**LLAMA, "isl": "2k", "osl": 512, "tpot_s": 0.05, "dtypes": ["auto"]},
    "experts": {"counts": [[1, 2, 3, 4], [4, 3, 2, 1]], "ranks": 2},
}
BAD = {
    "catalog": ({"kind": "chairs"}, "kind"),
    "entry": ({"kind": "devices", "name": "h100-sxmm"}, "name"),
    "model": ({"config": {"model_type": "bert"}}, "config"),
    "estimate": ({**LLAMA, "tp": 7}, "tp"),
    "estimate/sweep": ({**LLAMA, "sweep": "colour=1x"}, "sweep"),
    "pipelines": ({**LLAMA, "pp": [1], "batch": 0}, "batch"),
    "racks": ({"model": "deepseek-v3", "ratios": [0]}, "ratios"),
    "cache": ({**LLAMA, "stall": 2}, "stall"),
    "lecture": ({"which": "C9-N7"}, "which"),
    "chalk": ({"claim": "C1-F2", "inputs": {"colour": 1}}, "inputs"),
    "quiz/check": ({"claim": "K2", "answer": "fast"}, "answer"),
    "prices": ({"hour": 24}, "hour"),
    "prices/sheet": ({"model": "google/gemini-9"}, "model"),
    "prices/cost": ({"model": PRICE, "input_tokens": "many", "output_tokens": 1}, "input_tokens"),
    "prices/decode": ({"model": PRICE, "draws": 1}, "draws"),
    "prices/margin": ({**LLAMA, "price": PRICE, "utilisation": 2}, "utilisation"),
    "validate": ({"colour": 1}, "colour"),
    "plan": ({**LLAMA, "isl": 0, "osl": 1}, "isl"),
    "experts": ({"counts": [[1, 2]], "ranks": 4, "ranks_per_node": 3}, "ranks_per_node"),
}
