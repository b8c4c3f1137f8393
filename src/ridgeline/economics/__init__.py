"""Token cost, prices, ownership, cache tiers."""
