#!/bin/sh
# A run that goes on from a checkpoint, and checkpoints that are damaged: restart.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
file=$folder/checkpoint
grid="--columns 37 --rows 29"

# shellcheck disable=SC2086
"$program" $grid --steps 40 --every 15 --checkpoint "$file" --frames "$folder/frames"
[ "$(find "$folder/frames" -name 'frame_*' | wc -l)" -eq 3 ]
output=$("$program" --steps 60 --every 15 --restart "$file")
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -Eq 'numbers that differ from the serial run +0\.00 .* ok$'

# Says TEXT and ends with 2: fails TEXT ARGS...
fails() {
  text=$1
  shift
  status=0
  output=$("$program" "$@" 2>&1) || status=$?
  printf '%s\n' "$output"
  [ "$status" -eq 2 ]
  printf '%s\n' "$output" | grep -qF "$text"
}
fails "is at step 40; --steps must be more" --steps 40 --restart "$file"
fails "is of 37 x 29 cells, not 37 x 30" --columns 37 --rows 30 --restart "$file"
head -c 1000 "$file" >"$folder/short"
fails "is damaged: it has 1000 bytes" --steps 60 --restart "$folder/short"
head -c 20 "$file" >"$folder/head"
fails "is no checkpoint" --steps 60 --restart "$folder/head"
cp "$file" "$folder/flipped"
printf 'x' | dd of="$folder/flipped" bs=1 seek=5000 conv=notrunc 2>/dev/null
fails "is damaged: its checksum is wrong" --steps 60 --restart "$folder/flipped"
