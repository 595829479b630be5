"""Run the scoring scripts of the larger collection of pictures over all that it holds: `make score`, one table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
COMPANION = REPOSITORY / ".venv" / "bin" / "companion"


def main() -> int:
    """Print every script's rows; 1 when one of them found something wrong, 2 when the collection is not here."""
    if not (SHARED / "tools").is_dir():
        print(f"{SHARED}: the collection of pictures is not here; nothing was scored", file=sys.stderr)
        return 2
    jobs = [
        *(("score_rules.py", (file,)) for file in sorted((SHARED / "vectors").glob("*.jsonl"))),
        *(
            ("score_read.py", ("--min-exact", "1", folder.parent))
            for folder in sorted((SHARED / "photos").glob("*/truth.jsonl"))
        ),
        *(("score_referee.py", (folder.parent,)) for folder in sorted((SHARED / "recordings").glob("*/truth.jsonl"))),
    ]
    return max(run(script, *words) for script, words in jobs)


def run(script: str, *words: object, companion: object = COMPANION) -> int:
    """One script's exit code; what it prints is shortened to the collection's own names."""
    command = [sys.executable, SHARED / "tools" / script, "--companion", companion, *words]
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False)  # noqa: S603
    print((done.stdout + done.stderr).replace(f"{SHARED}/", "").rstrip(), flush=True)
    return min(done.returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
