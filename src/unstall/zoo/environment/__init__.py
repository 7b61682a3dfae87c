"""Trainings that wait for somebody or something outside."""
