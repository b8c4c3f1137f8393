"""Requests and lengths."""
