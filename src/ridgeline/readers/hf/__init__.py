"""Hugging Face config.json files as architectures, read as data only."""

from ridgeline.readers.hf.read import read_config

__all__ = ["read_config"]
