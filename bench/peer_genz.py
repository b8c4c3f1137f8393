"""CPU seconds per decode estimate of GenZ (PyPI genz-llm); run by bench/estimates.py."""

import time

from GenZ import decode_moddeling

QUESTION = {
    "model": "meta-llama/Llama-3.1-70B",
    "input_tokens": 2048,
    "output_tokens": 1,
    "Bb": 1,
    "system_name": "H100_GPU",
    "tensor_parallel": 8,
    "bits": "bf16",
}
BATCHES = (1, 4, 16, 64)

decode_moddeling(batch_size=8, **QUESTION)
start = time.process_time()
for batch in BATCHES:
    decode_moddeling(batch_size=batch, **QUESTION)
print((time.process_time() - start) / len(BATCHES))
