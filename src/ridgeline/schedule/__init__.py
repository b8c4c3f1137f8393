"""Times in order: overlap and pipelines."""
