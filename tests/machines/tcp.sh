# shellcheck shell=sh
# Host on a, targets that wait on b and c: tcp.sh APPLICATION
application=$1
on a "$application --ham-make-key=/run/key"
serve b "$(address b):7000" "$application"
serve c "$(address c):7000" "$application"

host="HAM_KEY=/run/key HAM_NODES="
expect "all is well" a "$host'tcp://$(address b):7000,tcp://$(address c):7000' $application check a b c"
expect "all is well" a "$host'shm:1,tcp://c:7000,tcp://b:7000,shm:1' $application check a a c b a"
expect "all is well" c "$host'tcp://b:7000' $application check c b"

if ip -n b -6 address show dev eth0 | grep -q "$(address6 b)/"; then
  serve b "[$(address6 b)]:7001" "$application"
  expect "all is well" a "$host'tcp://[$(address6 b)]:7001' $application check a b"
else
  echo "no IPv6 here"
fi
