"""Programs whose processes or threads wait for a lock that nobody gives back."""
