#!/bin/sh
# Install the program on Debian for arm64 under emulation as on a Raspberry Pi, referee the example recording there and
# here, and compare the events.
# usage: arm64.sh PYTHON [DIR]   as root, on any Debian; DIR keeps the other Debian for the next time, .arm64 if not given
# It takes most of an hour and 3 GB; KITS="" compiles the loops for all kits, not only for the one that is refereed, and
# takes longer.  Times under emulation say nothing of a Pi; memory includes the emulator's.
set -eu
export KITS="${KITS-domination}"
export QEMU_CPU=cortex-a72   # a Raspberry Pi 4's processor: what others have is not used
RELEASE=trixie          # Debian's name of the release that Raspberry Pi OS is made from
MIRROR=http://deb.debian.org/debian
STAND_INS="python3-picamera2 python3-lgpio"
EXAMPLE=examples/domination-1
FORMATS=/proc/sys/fs/binfmt_misc
STATE=/var/lib/stacking-games-referee

python=$(realpath -s "$1")
root=$(realpath -m "${2:-.arm64}")
begun=$(date +%s)

say() { echo "arm64, $(($(date +%s) - begun)) s: $*"; }
inside() {
    SYSTEMD_IN_CHROOT=1 HOME=/root LANG=C.UTF-8 \
        unshare --pid --fork --mount-proc="$root/proc" chroot "$root" "$@"
}

if [ "$(id -u)" != 0 ]; then
    echo "arm64: must run as root; try: sudo make arm64" >&2
    exit 2
fi
sh tools/system_libs.sh qemu-user-static debootstrap
[ -e $FORMATS/register ] || mount -t binfmt_misc binfmt_misc $FORMATS
[ -e $FORMATS/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$FORMATS/register

# In a change of root systemctl and udevadm do nothing, and say so.
[ -e "$root/usr/bin/udevadm" ] ||
    debootstrap --arch=arm64 --variant=minbase --include=ca-certificates,systemd,udev $RELEASE "$root" $MIRROR >/dev/null
cp -L /etc/resolv.conf "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
say "Debian $RELEASE: $(du -sm "$root" | cut -f1) MB"

# Raspberry Pi's own archive is not used: what only that has is an empty package here.
for package in $STAND_INS; do
    inside dpkg -s "$package" >/dev/null 2>&1 && continue
    folder=$(mktemp -d)
    mkdir "$folder/DEBIAN"
    printf '%s\n' "Package: $package" "Version: 0" "Architecture: all" "Maintainer: nobody <nobody@localhost>" \
        "Description: an empty package in place of the Raspberry Pi's own" >"$folder/DEBIAN/control"
    chmod 755 "$folder"
    dpkg-deb --build "$folder" "$root/tmp/$package.deb" >/dev/null
    rm -r "$folder"
    inside dpkg --install "/tmp/$package.deb" >/dev/null
done
say "not in Debian, empty packages here: $STAND_INS; so the Pi's own camera and pins are not part of this check"

rm -rf "$root/srv/referee"
mkdir "$root/srv/referee"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$root/srv/referee"
inside sh /srv/referee/deploy/install-pi.sh
say "installed: $(du -sm "$root/opt" | cut -f1) MB in /opt, $(du -sm "$root$STATE" | cut -f1) MB in $STATE"

set -- referee domination --json --recording
"$python" tools/first_line.py "$(dirname "$python")/companion" "$@" $EXAMPLE >"$root/tmp/here.json"
say "refereed on $(uname -m)"
inside runuser -u referee -- env HOME=$STATE /opt/stacking-games-referee/bin/python /srv/referee/tools/first_line.py \
    companion "$@" /srv/referee/$EXAMPLE >"$root/tmp/there.json"
say "refereed on $(inside uname -m)"
diff "$root/tmp/here.json" "$root/tmp/there.json"
say "the same $(wc -l <"$root/tmp/there.json") events on both"
