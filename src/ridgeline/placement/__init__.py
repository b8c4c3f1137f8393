"""Layouts and expert placement: enumerate, prune, rank."""
