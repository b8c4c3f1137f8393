"""Predicted against known."""
