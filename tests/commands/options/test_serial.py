"""The option for the pillar controller's serial port."""

from __future__ import annotations

import pytest

from companion.cli import main


@pytest.mark.parametrize("url", ["", "  "])
def test_an_empty_port_is_a_mistake(capsys: pytest.CaptureFixture[str], url: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["referee", "diamond", "--simulate", "--serial", url])
    assert ended.value.code == 2
    assert "--serial: give a device path" in capsys.readouterr().err
