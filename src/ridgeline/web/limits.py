"""What one request may ask for."""

MAX_BODY_BYTES = 1_000_000
MAX_PATH_BYTES = 4_000
"""Path and query together."""
MAX_DEPTH = 64
"""Of nested JSON; a config.json has fewer than ten."""
MAX_ROWS_WITH_PARTS = 2_000
"""A row with its parts takes 10 kB of JSON."""
MAX_ROWS = 20_000
MAX_LIST = 1_000
MAX_TEXT = 200
MAX_REQUESTS = 100_000
"""Of a trace."""
MAX_EXPERT_CELLS = 100_000
"""Layers x experts, or layers x sources x experts."""
BODY_S = 10.0
"""Within which a body must have arrived."""
QUICK_S = 20.0
LONG_S = 300.0
QUICK_QUEUE = 400
LONG_QUEUE = 16
KEPT_JOBS = 64
KEPT_S = 600.0
"""How long a finished job can be read."""
CACHE_BYTES = 8_000_000
WORKER_BYTES = 6 * 2**30
"""Address space of one worker process."""
