"""Shell completion."""

import shutil
import subprocess

import pytest

from companion.cli import main

ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
complete=($(complete -p companion))
"${{complete[-2]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
"""What bash does when the tab key is pressed."""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("companion ver", ["verify"]),
        ("companion referee dom", ["domination"]),
        ("companion mat zig", ["ziggurat"]),
        ("companion referee domination --lang", ["--language"]),
        ("companion referee domination --panel t", ["terminal"]),
        ("companion calibrate l", ["lens"]),
    ],
)
def test_bash_completes(tmp_path, capsys, words, completed):
    with pytest.raises(SystemExit) as ended:
        main(["--completion", "bash"])
    assert ended.value.code == 0
    script = tmp_path / "companion.bash"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    done = subprocess.run(
        [bash, "-c", ASK.format(script=script, words=words)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == completed


def test_another_shell_is_refused_in_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--completion", "ksh"])
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("companion: --completion: there is no completion for ksh; known are bash, ")
    assert err.count("\n") == 1
