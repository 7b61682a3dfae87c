"""Programs that have done their work and do not end."""
