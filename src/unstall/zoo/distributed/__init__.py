"""Trainings over several ranks that wait for each other."""
