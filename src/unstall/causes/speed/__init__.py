"""Trainings that crawl."""
