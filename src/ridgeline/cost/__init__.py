"""Operations on hardware: time."""
