"""Run the scoring scripts of the larger picture collection on everything in it: `make score`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
COMPANION = REPOSITORY / ".venv" / "bin" / "companion"


def main() -> int:
    """Print the output of every script; return 1 if one of them failed, 2 if the collection is missing."""
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
    return max(run(script, *arguments) for script, arguments in jobs)


def run(script: str, *arguments: object, companion: object = COMPANION) -> int:
    """Run a script; print its output with paths relative to the collection; return 0 on success, else 1."""
    command = [sys.executable, SHARED / "tools" / script, "--companion", companion, *arguments]
    completed = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False)  # noqa: S603
    print((completed.stdout + completed.stderr).replace(f"{SHARED}/", "").rstrip(), flush=True)
    return min(completed.returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
