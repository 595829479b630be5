#!/bin/sh
# Get MicroPython, on which the tests run the firmware: Debian's own where the release has it, else the npm package.
# usage: micropython.sh FOLDER   (for the npm package)
set -eu
package=@micropython/micropython-webassembly-pyscript@1.27.0
command -v micropython >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && apt-cache show micropython >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends micropython >/dev/null && exit 0
fi
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    echo "No MicroPython: its tests will be skipped. Install micropython, or nodejs and npm." >&2
    exit 0
fi
npm install --silent --no-audit --no-fund --prefix "$1" "$package" ||
    echo "MicroPython could not be fetched: its tests will be skipped. Run: npm install --prefix $1 $package" >&2
