"""A whole step as a breakdown."""
