//! A disk that fills up: an error that says so, nothing half-written, and recovery once there is room.

use std::process::Command;

use crate::place::{Place, shown};
use crate::shared_store::JOB;

/// Works on a small disk that no other process sees. One run finds it full when it begins, another while it is under way, in the hands of whoever took it.
const SCENE: &str = r#"
mount -t tmpfs -o size=4m tmpfs disk && cp ledger.csv bank.csv job.yaml disk && cd disk || exit 9
export TRUEUP_STORE="sqlite:$PWD/store.db" TRUEUP_DATA_DIR="$OLDPWD/data" TRUEUP_LISTEN=127.0.0.1:0
run() { "$TRUEUP" run job.yaml --quiet; echo "exit $?"; }
fill() { dd if=/dev/zero of=fill bs=1k 2> /dev/null; }
"$TRUEUP" serve > /dev/null 2> "$OLDPWD/served" & server=$!
run
fill; run
rm fill; run
mv bank.csv bank && mkfifo bank.csv
run 2> "$OLDPWD/ran" & waiting=$!
exec 3> bank.csv
fill; cat bank >&3; exec 3>&-
until cat "$OLDPWD/served" "$OLDPWD/ran" | grep -q 'trying again.*no room is left'; do :; done
rm fill; wait $waiting
kill $server; wait $server
echo "server $?"
"#;

#[test]
fn a_full_disk_is_named_and_work_goes_on_once_there_is_room() {
    let place = Place::with_ledger_and_bank();
    std::fs::write(place.path().join("job.yaml"), JOB).unwrap();
    std::fs::create_dir(place.path().join("disk")).unwrap();
    let played = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", SCENE])
        .current_dir(place.path())
        .env("TRUEUP", env!("CARGO_BIN_EXE_trueup"))
        .output()
        .unwrap();
    insta::assert_snapshot!(shown(played), @r"
    exit 0
    UNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere
    exit 1
    exit 2
    UNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere
    exit 1
    UNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere
    exit 1
    server 130
    error: no room is left while committing: database or disk is full
    hint: free some space; nothing was half-written
    ");
}
