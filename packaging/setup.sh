# Sourced by run, test and smoke: installs what a new machine lacks. Prints to stderr only.
# shellcheck shell=bash

root="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)"

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONNOUSERSITE=1
unset PYTHONPATH PYTHONHOME

# System libraries of Qt, looked up by soname however they were installed, each with its Debian package.
libraries=(
  libEGL.so.1=libegl1
  libGL.so.1=libgl1
  libglib-2.0.so.0=libglib2.0-0
  libfontconfig.so.1=libfontconfig1
  libdbus-1.so.3=libdbus-1-3
  libxkbcommon.so.0=libxkbcommon0
  libxkbcommon-x11.so.0=libxkbcommon-x11-0
  libX11-xcb.so.1=libx11-xcb1
  libxcb-cursor.so.0=libxcb-cursor0
  libxcb-icccm.so.4=libxcb-icccm4
  libxcb-image.so.0=libxcb-image0
  libxcb-keysyms.so.1=libxcb-keysyms1
  libxcb-randr.so.0=libxcb-randr0
  libxcb-render-util.so.0=libxcb-render-util0
  libxcb-shape.so.0=libxcb-shape0
  libxcb-xinerama.so.0=libxcb-xinerama0
  libxcb-xkb.so.1=libxcb-xkb1
  libwayland-cursor.so.0=libwayland-cursor0
  libwayland-egl.so.1=libwayland-egl1
)

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 2
}

# apt_install PACKAGE...: as root, or by sudo; fails where there is no apt or no right to use it.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local as=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || return 1
    as=(sudo)
    [[ -t 0 && -z ${CI:-} ]] || as+=(-n) # nobody there to type a password
  fi
  say "installing with apt: $*"
  # Package lists that are old or partly unreachable may be sufficient, so only the installation decides.
  "${as[@]}" apt-get update -qq </dev/null >&2 || true
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" </dev/null >&2
}

# The system libraries of Qt. A failure is only a warning: the command line does not need them.
ensure_libraries() {
  [[ $(uname -s) == Linux ]] || return 0
  local known entry missing=()
  known="$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null || true)"
  for entry in "${libraries[@]}"; do
    [[ $known == *"${entry%%=*} "* ]] || missing+=("${entry#*=}")
  done
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}" ||
    say "warning: the window may not open; install what Qt needs: ${missing[*]}"
}

# find_python: prints the first Python that is 3.11 or newer.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null &&
      "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# ensure_python: sets $python to one that is 3.11 or newer and can create virtual environments.
ensure_python() {
  if ! python="$(find_python)"; then
    apt_install python3 python3-venv || true
    python="$(find_python)" || die "Python 3.11 or newer is needed; install it, or name it in PYTHON"
  fi
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    local version
    version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
    apt_install "python$version-venv" || die "$python cannot make virtual environments; install python$version-venv"
  fi
}

checksum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }

# ensure_venv NAME EXTRAS [OPTION...]: a virtual environment in the checkout with the project (editable) and these
# extras, installed with these options of pip.
# A stamp file in it records the path and the pyproject.toml it was created for, so that the next call returns at once.
ensure_venv() {
  local venv="$root/$1" extras="$2" stamp="$root/$1/designer.stamp" now place="" hash="" holds="" extra complete=yes
  now="$(checksum <"$root/pyproject.toml")"
  if [[ -x $venv/bin/python && -f $stamp ]]; then
    { read -r place && read -r hash && read -r holds; } <"$stamp" || true
    for extra in ${extras//,/ }; do
      [[ ",$holds," == *",$extra,"* ]] || complete=no
    done
    if [[ $place == "$root" && $hash == "$now" && $complete == yes ]] && "$venv/bin/python" -c '' 2>/dev/null; then
      return
    fi
  fi
  ensure_python
  # Scripts in a virtual environment contain its path: create it again if it was moved or its creation interrupted.
  if [[ -n $place && $place != "$root" ]] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "creating $1 with $python"
    "$python" -m venv --clear "$venv"
  fi
  # Extras installed earlier are kept: packaging/run after packaging/test must not remove the tools.
  extras="$(tr ',' '\n' <<<"$extras,$holds" | sort -u | sed '/^$/d' | paste -sd, -)"
  say "installing designer[$extras] into $1; the first time takes a few minutes"
  rm -f "$stamp"
  "$venv/bin/python" -m pip install --quiet "${@:3}" --editable "$root[$extras]" </dev/null >&2
  # An editable install has no bytecode; where none can be written, every start would compile the program.
  "$venv/bin/python" -m compileall -q "$root/designer" || true
  printf '%s\n' "$root" "$now" "$extras" >"$stamp"
}
