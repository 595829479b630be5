#!/bin/sh
# Lock what the program and its checks install, for every platform, with hashes: locks/runtime.txt and locks/dev.txt.
# usage: lock.sh PYTHON [--upgrade]   (--upgrade: the newest versions; without it only what pyproject.toml asks for)
set -eu
python=$1
shift
"$python" -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
compile() {
    "$python" -m uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
        --python-version 3.11 pyproject.toml "$@"
}
compile --extra build --output-file locks/runtime.txt "$@"
compile --extra build --extra dev --constraint locks/runtime.txt --output-file locks/dev.txt "$@"
