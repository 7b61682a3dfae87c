"""Every program of the zoo, run for real and looked into: the cause, the line, the sample; nothing for healthy ones."""

from __future__ import annotations

import pytest

from tests.support.table import observe, problems
from tests.support.zoo import Program, programs
from unstall.workflows.why import judge

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

LOOKS = 3  # where other programs use the cores, one look may not last long enough to be sure
HEALTHY_NOW = ("bursty", "lock_", "slow_", "file_lock", "skipped_steps")  # the others are run with the long tests


def _is_main(program: Program) -> bool:
    """One program per cause, and some healthy ones, are run every time."""
    if program.cause is None:
        return program.path.stem.startswith(HEALTHY_NOW)
    return program.path.stem == program.cause.replace("-", "_")


@pytest.mark.parametrize(
    "program",
    [pytest.param(one, id=one.name, marks=() if _is_main(one) else pytest.mark.long) for one in programs()],
)
def test_what_is_said_of_it(program: Program) -> None:
    if not program.can_run:
        pytest.skip(f"{program.needs} is not installed")
    for _ in range(LOOKS):
        diagnosis = judge(observe(program))
        found = problems(program, diagnosis)
        if not found or program.cause is None:  # a healthy one must not be accused even once
            break
    assert found == [], f"{diagnosis.verdict}: {diagnosis.summary}"
