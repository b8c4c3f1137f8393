"""One function per question."""
