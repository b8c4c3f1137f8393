"""The catalogue: devices, clusters, models and prices, each figure with its source."""

from ridgeline.catalog.store import Catalog, Kind, user_directory

__all__ = ["Catalog", "Kind", "user_directory"]
