"""The REST API under /api/v1 and the server of the page; computes nothing."""
