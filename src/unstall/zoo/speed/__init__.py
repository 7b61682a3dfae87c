"""Trainings that crawl: data, cores and locks that they wait for."""
