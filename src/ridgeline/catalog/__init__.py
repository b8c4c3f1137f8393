"""Built-in devices, clusters, models and prices, and the user's own."""
