# Runs a PostgreSQL in the folder $1, with the settings $2, for as long as standard input is open, then stops it and removes the folder.
# Says `ready BIN` on standard output once it answers, where BIN is the folder of its programs; all else is in $1/log.
# A line `keep` before the end of input leaves the folder, so that the same server can be started again; `crash` does so, too, and stops it without a farewell.
set -eu
dir=$1 settings=$2
cd "$dir"

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ ! -x "$bin/pg_ctl" ]; then
    program=$(command -v pg_ctl) || { echo 'no pg_ctl on the PATH, nor below /usr/lib/postgresql' >log; exit 1; }
    bin=$(dirname "$(readlink -f "$program")")
fi

# PostgreSQL refuses to run as root.
if [ "$(id -u)" = 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown -R "$user" "$dir"
    exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- sh "$0" "$dir" "$settings"
fi

if [ ! -d data ]; then
    "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >log 2>&1
fi
"$bin/pg_ctl" start -w -D data -l log -o "-k '$dir' -c listen_addresses= -c max_connections=300 $settings" >>log 2>&1 </dev/null
echo "ready $bin"
read -r word || word=
case $word in
    crash) "$bin/pg_ctl" stop -w -D data -m immediate >>log 2>&1 ;;
    keep) "$bin/pg_ctl" stop -w -D data -m fast >>log 2>&1 ;;
    *) "$bin/pg_ctl" stop -w -D data -m fast >>log 2>&1; rm -rf "$dir" ;;
esac
