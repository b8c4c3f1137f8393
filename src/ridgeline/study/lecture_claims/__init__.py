"""What the lecture claims, one small record each, and the chalkboard call that recomputes it."""
