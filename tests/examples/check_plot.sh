#!/bin/sh
# Runs the solver with --plot and checks the picture: check_plot.sh PROGRAM FILE
set -eu
rm -f "$2"
"$1" --grid 30 --no-compare --plot "$2"
head -n 1 "$2" | grep -q '^<svg xmlns="http://www.w3.org/2000/svg"'
tail -n 1 "$2" | grep -q '^</svg>$'
# A point for each of the iterations, of which there are some 60.
points=$(sed -n 's/.*<polyline.* points="\([^"]*\)".*/\1/p' "$2" | wc -w)
[ "$points" -ge 30 ] || { echo "only $points points" >&2; exit 1; }
rm -f "$2"
