#!/usr/bin/env bash
# Puts the entry of the menu, the icon and the type of design files where the desktop finds them (Linux, this user).
#   install.sh          from a checkout (packaging/desktop) or from the folder that runs without Python
#   install.sh --remove takes them away again
set -euo pipefail
here="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)"
data="${XDG_DATA_HOME:-$HOME/.local/share}"
entry="$data/applications/designer.desktop"
icon="$data/icons/hicolor/scalable/apps/designer.svg"
type="$data/mime/packages/designer.xml"
if [[ ${1:-} == --remove ]]; then
  rm -f "$entry" "$icon" "$type"
else
  if [[ -x $here/designer ]]; then
    program="\"$here/designer\" gui" picture="$here/designer.svg"
  else
    program="\"$(cd -- "$here/.." && pwd -P)/run\"" picture="$here/../../assets/icons/designer.svg"
  fi
  install -Dm644 "$here/designer.desktop" "$entry"
  # in an entry, a backslash and a percent sign are written twice
  program="${program//\\/\\\\}" program="${program//%/%%}"
  while IFS= read -r line; do
    [[ $line != Exec=* ]] || line="Exec=$program %F"
    printf '%s\n' "$line"
  done <"$here/designer.desktop" >"$entry"
  install -Dm644 "$picture" "$icon"
  install -Dm644 "$here/designer-mime.xml" "$type"
fi
command -v update-mime-database >/dev/null && update-mime-database "$data/mime"
command -v update-desktop-database >/dev/null && update-desktop-database "$data/applications"
exit 0
