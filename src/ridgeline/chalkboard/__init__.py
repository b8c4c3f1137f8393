"""The lecture's closed forms; knows only numbers."""
