"""How `unstall run` explains an end: what stands on stderr, and what does not change by it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.zoo import ZOO, kill_session

LIMIT_S = 120
BADGE = "unstall: the training has ended"
HEAD = """
import os, sys, torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 40
"""
RAISES = """
    def __getitem__(self, index):
        if index == 13:
            raise ValueError("damaged")
        return torch.ones(3)
"""


def supervise(tmp_path: Path, code: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    program = tmp_path / "train.py"
    program.write_text(code)
    return start(tmp_path, [str(program), *arguments])


def start(tmp_path: Path, words: list[str]) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    result = tmp_path / "run.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "unstall", "run", "--json", str(result), *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        kill_session(process.pid)
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    return done, json.loads(result.read_text())


def alone(tmp_path: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "train.py"
    program.write_text(code)
    return subprocess.run(
        [sys.executable, str(program), *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S
    )


def main(loader: str, before: str = "", after: str = "") -> str:
    body = f"{before}\nfor batch in DataLoader(Rows(), {loader}):\n    pass\n{after}"
    return f'\nif __name__ == "__main__":\n{textwrap.indent(body, "    ")}\n'


def same(text: str) -> str:
    """Text without what differs from one run to the next."""
    return re.sub(r"0x[0-9a-f]+|\d{3,}", "N", text)


@pytest.mark.parametrize(
    "loader",
    [
        "batch_size=4",
        "batch_size=4, num_workers=2",
        "batch_size=4, num_workers=2, multiprocessing_context='spawn'",
        "batch_size=4, num_workers=2, multiprocessing_context='forkserver'",
        "batch_size=None, num_workers=1, persistent_workers=True",
    ],
)
def test_the_traceback_is_the_trainings_own_and_comes_first(loader: str, tmp_path: Path) -> None:
    code = HEAD + RAISES + main(loader)
    done, run = supervise(tmp_path, code)
    before = alone(tmp_path, code)
    traceback, _, explanation = done.stderr.partition(BADGE)
    assert same(traceback).strip() == same(before.stderr).strip()
    assert "unstall" not in traceback
    assert done.returncode == before.returncode == 1
    assert "sample 13 raises ValueError" in explanation
    assert f"{tmp_path}/train.py:11" in explanation
    assert len(explanation.splitlines()) <= 20
    assert (run["verdict"], run["exit_code"]) == ("crashed", 1)


def test_run_json_names_line_sample_and_worker(tmp_path: Path) -> None:
    _, run = supervise(tmp_path, HEAD + RAISES + main("batch_size=4, num_workers=2"))
    (diagnosis,) = run["diagnoses"]  # type: ignore[misc]
    finding = diagnosis["findings"][0]  # type: ignore[index]
    assert (finding["cause"], finding["confidence"], finding["sample"]) == ("sample-raises", "certain", 13)
    assert (finding["where"][0]["line"], finding["where"][0]["role"]) == (11, "worker 1")


WORDS = {
    "segfault": ("import ctypes; ctypes.string_at(0)", "segmentation fault", "worker-segfault"),
    "killed": ("os.kill(os.getpid(), 9)", "", "worker-killed-by-signal"),
    "leaves": ("sys.exit(3)", "", "worker-exited"),
}


@pytest.mark.parametrize("way", WORDS)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_that_dies(way: str, method: str, tmp_path: Path) -> None:
    statement, said, cause = WORDS[way]
    dies = f"\n    def __getitem__(self, index):\n        if index == 13: {statement}\n        return torch.ones(3)\n"
    code = HEAD + dies + main(f"batch_size=4, num_workers=2, multiprocessing_context='{method}'")
    done, run = supervise(tmp_path, code)
    finding = run["diagnoses"][0]["findings"][0]  # type: ignore[index]
    assert (finding["cause"], finding["sample"], finding["where"][0]["line"]) == (cause, 13, 10)
    assert said in done.stderr.partition(BADGE)[0], "torch's own message stays"
    assert done.returncode == 1


def test_a_fault_handler_of_the_program_stays_its_own(tmp_path: Path) -> None:
    """torch's handlers come after the program's; what then is printed is the same with and without unstall."""
    dies = (
        "\n    def __getitem__(self, index):\n        import ctypes, faulthandler\n        faulthandler.enable()\n"
        "        return ctypes.string_at(0)\n"
    )
    code = HEAD + dies + main("num_workers=1")
    done, run = supervise(tmp_path, code)
    assert "Fatal Python error: Segmentation fault" in alone(tmp_path, code).stderr
    assert "Fatal Python error: Segmentation fault" in done.stderr.partition(BADGE)[0]
    assert run["diagnoses"][0]["findings"][0]["cause"] == "worker-segfault"  # type: ignore[index]


@pytest.mark.parametrize(
    ("loader", "before", "after", "code"),
    [
        ("num_workers=1", "", "sys.exit(5)", 5),
        ("num_workers=1", "", "assert batch.sum() < 0", 1),
        ("num_workers=2", "", "os._exit(6)", 6),
        ("num_workers=2, worker_init_fn=lambda _: 1 / 0", "", "", 1),
        ("num_workers=2, collate_fn=lambda rows: rows[9]", "", "", 1),
    ],
)
def test_an_end_that_no_cause_explains(loader: str, before: str, after: str, code: int, tmp_path: Path) -> None:
    fine = "\n    def __getitem__(self, index):\n        return torch.ones(3)\n"
    done, run = supervise(tmp_path, HEAD + fine + main(loader, before, after))
    assert done.returncode == code
    assert run["verdict"] == "crashed"
    sure = [
        one["cause"]
        for diagnosis in run["diagnoses"]  # type: ignore[union-attr]
        for one in diagnosis["findings"]
        if one["confidence"] != "possible"
    ]
    assert sure == []


def test_ctrl_c_is_no_crash(tmp_path: Path) -> None:
    fine = "\n    def __getitem__(self, index):\n        return torch.ones(3)\n"
    done, run = supervise(tmp_path, HEAD + fine + main("num_workers=2", "", "raise KeyboardInterrupt"))
    assert done.returncode == -2
    assert (run["verdict"], run["diagnoses"]) == ("progressing", [])


def test_an_error_that_was_caught_is_none(tmp_path: Path) -> None:
    body = "try:\n    list(DataLoader(Rows(), num_workers=1))\nexcept ValueError:\n    print('went on')"
    code = HEAD + RAISES + f'\nif __name__ == "__main__":\n{textwrap.indent(body, "    ")}\n'
    done, run = supervise(tmp_path, code)
    assert (done.stdout, done.returncode, run["verdict"], run["diagnoses"]) == ("went on\n", 0, "finished", [])
    assert BADGE not in done.stderr


def test_indices_that_are_handed_on_are_an_ordinary_list(tmp_path: Path) -> None:
    """A dataset that takes a whole batch may send its indices to other processes."""
    code = (
        HEAD
        + """
    def __getitem__(self, index):
        return torch.ones(1) * index

    def __getitems__(self, indices):
        import copy, pickle
        assert type(pickle.loads(pickle.dumps(indices))) is type(copy.deepcopy(indices)) is list
        return [self[one] for one in pickle.loads(pickle.dumps(indices))]
"""
        + main("batch_size=4, num_workers=1", after="print(int(batch.sum()))")
    )
    done, run = supervise(tmp_path, code)
    assert (done.stdout, run["verdict"]) == (f"{36 + 37 + 38 + 39}\n", "finished"), done.stderr


def test_words_are_written_though_no_descriptor_is_left(tmp_path: Path) -> None:
    opens = "\n    def __getitem__(self, index):\n        kept.append(open(os.devnull))\n        return torch.ones(1)\n"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"
    done, run = supervise(tmp_path, HEAD + opens + "\nkept = []\n" + main("batch_size=2", limit))
    finding = run["diagnoses"][0]["findings"][0]  # type: ignore[index]
    assert "Too many open files" in done.stderr.partition(BADGE)[0]
    assert (finding["cause"], finding["where"][0]["line"]) == ("fd-exhausted", 10)


@pytest.mark.parametrize("program", ["memory/shm_exhausted", "workers/worker_oom_killed"])
def test_ends_for_want_of_memory(program: str, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("a small /dev/shm or a memory group can only be made by root")
    done, run = start(tmp_path, [str(ZOO / f"{program}.py")])
    if " here" in done.stderr.splitlines()[0]:
        pytest.skip(done.stderr.splitlines()[0])
    finding = run["diagnoses"][0]["findings"][0]  # type: ignore[index]
    assert finding["cause"] == program.rpartition("/")[2].replace("_", "-")
    assert done.returncode == 1
