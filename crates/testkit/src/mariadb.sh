# Runs a MariaDB in the folder $1, with the settings $2, for as long as standard input is open, then ends it and removes the folder.
# Says `ready BIN` on standard output once it listens, where BIN is the folder of its client; all else is in $1/log.
set -eu
dir=$1 settings=$2
cd "$dir"

# Where Debian has servers, for users that do not look there.
PATH=$PATH:/usr/sbin
for program in mariadbd mariadb-install-db mariadb; do
    command -v "$program" >/dev/null || { echo "no $program on the PATH" >log; exit 1; }
done

# MariaDB refuses to run as root.
if [ "$(id -u)" = 0 ]; then
    user=mysql
    id "$user" >/dev/null 2>&1 || user=nobody
    chown -R "$user" "$dir"
    exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- sh "$0" "$dir" "$settings"
fi

# A server that starts clears its folder for temporary tables, so each has its own.
mkdir tmp
mariadb-install-db --no-defaults --datadir="$dir/data" --tmpdir="$dir/tmp" --auth-root-authentication-method=normal --skip-test-db >log 2>&1
# What $2 holds are words.
mariadbd --no-defaults --datadir="$dir/data" --tmpdir="$dir/tmp" --socket="$dir/socket" --pid-file="$dir/pid" --innodb-flush-log-at-trx-commit=0 \
    --innodb-flush-method=nosync --sync-frm=0 --innodb-buffer-pool-size=64M --character-set-server=utf8mb4 --local-infile=0 $settings >>log 2>&1 </dev/null &
server=$!
until [ -S socket ]; do
    kill -0 "$server" 2>/dev/null || exit 1
    sleep 0.05
done
echo "ready $(dirname "$(command -v mariadb)")"
read -r word || true
# Nothing of it is kept, so it need not put anything in order.
kill -KILL "$server"
wait "$server" || true
rm -rf "$dir"
