"""Causes in trainings of several ranks: they wait for each other."""
