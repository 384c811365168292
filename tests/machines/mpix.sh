# shellcheck shell=sh
# Parents on a and b spawn children on b and c: mpix.sh MPI LAUNCHER PROGRAM KERNEL_HOST LIBRARY
mpi=$1
launcher=$2
program=$3
kernel_host=$4
library=$5
# shellcheck source=launch.sh
. "$(dirname "$script")/launch.sh"

for what in calls crash_segv; do
  launch "children on b c" a:1,b:2,c:1 2 "$program" "$kernel_host" "$library" $what b,c
done
launch "children on c c" a:2,c:2 2 "$program" "$kernel_host" "$library" calls c
