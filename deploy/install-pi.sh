#!/bin/sh
# Install the referee on a Raspberry Pi (Raspberry Pi OS based on Debian 13) so that it runs from the start.
# Run as root from the checkout: sudo make install-pi.  Running it again brings the installation up to date.
# KITS="domination citadel" compiles the loops over pixels for these kits only; else for all.
set -eu

NAME=stacking-games-referee
HOME_DIR=/opt/$NAME
CONFIG=/etc/$NAME
STATE=/var/lib/$NAME
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

if [ "$(id -u)" != 0 ]; then
    echo "install-pi: must run as root; try: sudo make install-pi" >&2
    exit 2
fi

# Camera and pins come from apt: their libraries belong to the system's own kernel and libcamera.
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv python3-picamera2 python3-lgpio espeak-ng alsa-utils libgl1 libglib2.0-0

id referee >/dev/null 2>&1 || useradd --system --home-dir "$STATE" --shell /usr/sbin/nologin referee

[ -x "$HOME_DIR/bin/python" ] || python3 -m venv --system-site-packages "$HOME_DIR"
"$HOME_DIR/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/../locks/runtime.txt"
"$HOME_DIR/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade "$here/.."
ln -sf "$HOME_DIR/bin/companion" /usr/local/bin/companion

mkdir -p "$CONFIG"
[ -e "$CONFIG/table.toml" ] || install -m 644 "$here/table.toml" "$CONFIG/table.toml"
install -d -o referee -g referee -m 700 "$STATE"

install -m 644 "$here/60-$NAME.rules" /etc/udev/rules.d/
udevadm control --reload
udevadm trigger --subsystem-match=tty
install -m 644 "$here/$NAME.service" /etc/systemd/system/
systemctl daemon-reload

# The loops over pixels are compiled once, for the user that the service runs as: a quarter of an hour or so on a Pi 4.
# shellcheck disable=SC2086  # a word for each kit
runuser -u referee -- env HOME="$STATE" "$HOME_DIR/bin/python" -m vision.warm_up ${KITS:-}

# The sounds of everything that may be said, for the user that the service runs as.
runuser -u referee -- env STATE_DIRECTORY="$STATE" "$HOME_DIR/bin/companion" voice "$CONFIG/table.toml" \
    || echo "install-pi: no voice yet; mend $CONFIG/table.toml and run this again" >&2

if [ -e "$CONFIG/camera.toml" ]; then
    systemctl enable --quiet "$NAME"
    systemctl restart "$NAME"
    echo "installed and running: systemctl status $NAME"
else
    echo "installed. Next: measure the lens and learn the pieces into $CONFIG (docs/build.md), then run this again."
fi
