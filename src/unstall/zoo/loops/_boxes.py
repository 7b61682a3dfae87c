"""Random windows, for more than one data set."""

import math


def random_window(draw, side):
    width = int(math.sqrt(draw.uniform(0.1, 0.5)) * side)
    return draw.randint(0, side - width), draw.randint(0, side - width), width
