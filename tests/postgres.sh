#!/usr/bin/env bash
# Runs a command with a PostgreSQL of its own: `tests/postgres.sh COMMAND…`. The command finds its address in
# TAXPRABEN_TEST_POSTGRES; the database lies in a temporary folder and is gone afterwards. Where the variable is set
# already, that database is used. Where there is no PostgreSQL, Debian's is installed if we may; else the command runs
# without, and the tests say that SQLite alone was tried.
set -euo pipefail

if [ "$#" -eq 0 ]; then echo "usage: tests/postgres.sh COMMAND [ARGUMENT…]" >&2; exit 2; fi
if [ -n "${TAXPRABEN_TEST_POSTGRES:-}" ]; then exec "$@"; fi

find_programs() {
  PATH="$PATH:$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)"
  command -v initdb >/dev/null && command -v pg_ctl >/dev/null && command -v postgres >/dev/null
}

if ! find_programs; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql; } >/dev/null 2>&1 || true
  fi
  if ! find_programs; then
    echo "tests/postgres.sh: no PostgreSQL to be had (initdb, pg_ctl); the queue is tested on SQLite alone." >&2
    exec "$@"
  fi
fi

# PostgreSQL refuses to run as root.
as_user=()
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres
  as_user=(setpriv --reuid=postgres --regid=postgres --init-groups env "PATH=$PATH" "HOME=/tmp" LC_ALL=C.UTF-8)
else
  as_user=(env LC_ALL=C.UTF-8)
fi

folder=$(mktemp -d)
chmod 755 "$folder"
mkdir "$folder/data" "$folder/run"
if [ "$(id -u)" = 0 ]; then chown postgres "$folder/data" "$folder/run"; fi

stop() {
  (cd "$folder" && "${as_user[@]}" pg_ctl --pgdata "$folder/data" --mode immediate --silent stop) >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cd_home() { cd "$folder"; }
(cd_home && "${as_user[@]}" initdb --pgdata "$folder/data" --username taxpraben --auth trust --encoding UTF8 \
  --no-sync >"$folder/initdb.log" 2>&1) || { cat "$folder/initdb.log" >&2; exit 1; }

started=
for _ in 1 2 3 4 5; do
  port=$(( 20000 + RANDOM % 20000 ))
  # pg_ctl waits until the server answers; a port that somebody else holds fails at once.
  if (cd_home && "${as_user[@]}" pg_ctl --pgdata "$folder/data" --wait --timeout 60 --silent --log "$folder/run/log" \
      --options "-p $port -h 127.0.0.1 -k $folder/run" start) >/dev/null 2>&1; then started=1; break; fi
done
if [ -z "$started" ]; then cat "$folder/run/log" >&2; exit 1; fi

# Not exec: the trap stops the server when the command ends.
status=0
TAXPRABEN_TEST_POSTGRES="postgresql+psycopg://taxpraben@127.0.0.1:$port/postgres" "$@" || status=$?
exit "$status"
