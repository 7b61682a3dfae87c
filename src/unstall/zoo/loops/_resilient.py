"""Decorators for storage that is sometimes away."""

import functools
import time


def retry(*errors, pause=0.5):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            delay = pause
            while True:  # stalls here
                try:
                    return function(*args, **kwargs)
                except errors:
                    time.sleep(delay)
                    delay = min(delay * 2, 8.0)

        return wrapper

    return decorate
