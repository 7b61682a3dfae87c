"""Programs that wait for a server that does not answer."""
