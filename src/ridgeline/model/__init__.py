"""Architecture to parameters, state and operations; knows nothing of hardware."""
