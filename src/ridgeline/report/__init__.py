"""Results as text, plots and JSON; computes nothing."""
