#!/usr/bin/env bash
# Puts the entry of the menu, the icon and the type of design files where the desktop finds them (Linux, this user).
#   packaging/desktop/install.sh          --remove takes them away again
set -euo pipefail
here="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)"
data="${XDG_DATA_HOME:-$HOME/.local/share}"
entry="$data/applications/designer.desktop"
icon="$data/icons/hicolor/scalable/apps/designer.svg"
type="$data/mime/packages/designer.xml"
if [[ ${1:-} == --remove ]]; then
  rm -f "$entry" "$icon" "$type"
else
  install -Dm644 "$here/designer.desktop" "$entry"
  install -Dm644 "$here/../../assets/icons/designer.svg" "$icon"
  install -Dm644 "$here/designer-mime.xml" "$type"
fi
command -v update-mime-database >/dev/null && update-mime-database "$data/mime"
command -v update-desktop-database >/dev/null && update-desktop-database "$data/applications"
exit 0
