"""Trainings that are slow, quiet or odd, and all right."""
