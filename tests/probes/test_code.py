"""What of the user's source is kept: its shape and its names, not its words."""

from __future__ import annotations

import ast
import io
import sysconfig
import tokenize
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.zoo import ZOO

from unstall.evidence.code import functions_in, redact
from unstall.probes.code import read_source

STDLIB = Path(sysconfig.get_paths()["stdlib"])
REAL = [
    *sorted(ZOO.glob("*/*.py"))[::4],
    *sorted(STDLIB.glob("[a-l]*.py"))[::3],
    *sorted(STDLIB.glob("test/test_[fgst]*.py"))[::9],
]
WORDS = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.COMMENT)}


def tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def shape(source: str) -> list[tuple[int, object, object]]:
    """Everything but strings and comments, with its place."""
    return [(one.type, one.string, one.start) for one in tokens(source) if one.type not in {*WORDS, tokenize.NL}]


def check(source: str) -> str:
    """What holds for every source that Python can read."""
    clean = redact(source)
    assert [len(line) for line in clean.split("\n")] == [len(line) for line in source.split("\n")]
    assert shape(clean) == shape(source)
    assert [one.start for one in tokens(clean) if one.type == tokenize.STRING] == [
        one.start for one in tokens(source) if one.type == tokenize.STRING
    ]
    assert not [one for one in tokens(clean) if one.type == tokenize.COMMENT]
    ast.parse(clean)
    return clean


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


secrets = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=3, max_size=30).map(
    lambda text: f"SECRET{text}"
)
line = st.one_of(
    secrets.map(lambda text: f"x = {text!r}"),
    secrets.map(lambda text: f"call({text.encode()!r}, y)"),
    secrets.map(lambda text: f"x = 1  # {text.splitlines()[0]}"),
    secrets.map(lambda text: "x = '''" + text.replace("\\", "").replace("'", "") + "'''"),
    secrets.map(lambda text: "raw = r'" + "".join(one for one in text if one.isalnum()) + "'"),
    secrets.map(lambda text: "f(f'" + "".join(one for one in text if one.isalnum()) + " {y!r:>{width}} SECRET', z)"),
    st.sampled_from(["def f(a, *, b=None):", "if x:", "while True:", "class A:", "with lock:"]).map(
        lambda head: head + "\n    pass"
    ),
    st.just("x = (\n    'SECRET'  # SECRET\n    'SECRET'\n)"),
)


@given(st.lists(line, max_size=8).map("\n".join))
@example("x = 'SECRET'\n\f\ny = 'SECRET'  # SECRET")
@example("s = '''SECRET\x0c\x1c\u2028'''; t = 'SECRET'")
@example("'SECRET\\\nSECRET'; x = 'SECRET'")
@example("x = 'a'  # SECRET without an end of line")
@example("\tx = 1".strip() + "\n\n\n")
def test_no_word_survives(source: str) -> None:
    clean = check(source)
    assert "SECRET" not in clean


@pytest.mark.parametrize("kept", ["index.lock", "{}.lock", "r+b", "w", "__main__"])
def test_what_the_diagnosis_needs_stays(kept: str) -> None:
    assert redact(f"x = open({kept!r})") == f"x = open({kept!r})"


@pytest.mark.parametrize("text", ["my password", "/home/anna/index", "lock the door: 1234567890", "rw-secret"])
def test_other_strings_do_not(text: str) -> None:
    assert text not in redact(f"x = {text!r}")


@pytest.mark.parametrize("source", ["def f(:", "x = (", "'''", "\0", "if x:\n  y\n z", "x = 'a"])
def test_what_is_no_python_gives_nothing(source: str) -> None:
    redact(source)
    assert functions_in("/a.py", source, {("f", 1)}) == []


def test_functions_keep_their_lines() -> None:
    source = "import os\n\n\f\ndef outer():\n    '''SECRET'''\n    return inner()  # SECRET\n\n\n@cached\ndef inner():\n    return 'SECRET'\n"
    found = {one.name: one for one in functions_in("/a.py", source, {("outer", 6), ("<module>", 1)})}
    assert set(found) == {"outer", "inner", "<module>"}
    assert (found["outer"].first_line, found["inner"].first_line) == (4, 9)
    returned = next(node for node in ast.walk(found["inner"].tree) if isinstance(node, ast.Return))
    assert returned.lineno == 11
    assert "SECRET" not in "".join(one.text for one in found.values())


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.py"
    with huge.open("wb") as file:
        file.truncate(10 << 20)
    assert read_source(1, str(tmp_path)) is None
    assert read_source(1, str(tmp_path / "missing.py")) is None
    assert read_source(1, str(huge)) is None
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"x = 'caf\xe9'\n")
    assert read_source(1, str(latin)) == "x = 'caf\N{REPLACEMENT CHARACTER}'\n"


def test_commands_of_packages_are_nobodys_own_code() -> None:
    from unstall.probes.stacks import is_user_code

    assert not is_user_code("/home/user/project/.venv/bin/torchrun", "")
    assert is_user_code("/home/user/bin/train.py", "")
    assert is_user_code("/home/user/project/data.py", "")
