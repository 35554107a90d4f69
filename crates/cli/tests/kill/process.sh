# Runs "$@" until standard input closes, which it does however the test ends, and kills it then; says its process id first.
"$@" >/dev/null &
echo $!
read -r word
kill -s KILL $!
wait $! 2>/dev/null
