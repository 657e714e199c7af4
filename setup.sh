#!/bin/sh
# Sets up a development environment: a virtual environment with the packages, and an Arm compiler and emulator.
# apt's are used where apt is there and we are root or have sudo without a password (all published figures come from them);
# everywhere else the compiler and the emulator come from PyPI (extras `zig` and `unicorn`).
set -eu
: "${PYTHON:=python3}" "${VENV:=.venv}"

command -v "$PYTHON" >/dev/null || {
    echo "Arenite needs Python 3.11 or newer, and $PYTHON is not found. Install it, or say where it is: make PYTHON=/path/to/python3 ..." >&2
    exit 1
}
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Arenite needs Python 3.11 or newer; $PYTHON is $("$PYTHON" --version). Try: make PYTHON=python3.12 ..." >&2
    exit 1
}

as_root=""
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root="no"; fi
fi

apt_install() { # PACKAGE...: true when all of them are installed afterwards
    command -v apt-get >/dev/null && [ "$as_root" != no ] || return 1
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
        { $as_root apt-get update >/dev/null 2>&1 && $as_root apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1; }
}

has_arm_compiler() { # with a C library: Debian has newlib in a package of its own
    command -v arm-none-eabi-gcc >/dev/null && [ -f "$(arm-none-eabi-gcc -print-file-name=libc.a)" ]
}

[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV" || {
    echo "installing the venv module"
    apt_install python3-venv && "$PYTHON" -m venv "$VENV"
}

missing=""
command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || missing="$missing gcc libc6-dev"
command -v clang >/dev/null || missing="$missing clang"
has_arm_compiler || missing="$missing gcc-arm-none-eabi libnewlib-arm-none-eabi"
command -v qemu-system-arm >/dev/null || missing="$missing qemu-system-arm"
if [ -n "$missing" ]; then
    echo "installing:$missing"
    # shellcheck disable=SC2086 # a list of packages
    apt_install $missing || echo "not to be had here; using the compiler and emulator from PyPI"
fi

extras="dev,unicorn"
has_arm_compiler || extras="$extras,zig"
command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || extras="$extras,zig"
echo "installing Python packages ($extras)"
"$VENV/bin/python" -m pip install -qq --disable-pip-version-check --upgrade pip
"$VENV/bin/python" -m pip install -qq --disable-pip-version-check --editable ".[$extras]"
