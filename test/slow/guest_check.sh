# Runs inside the guest, in /stap: each script attached to a vmrun that does a little of everything. A script is good when
# every text of NAME.wanted shows in what it prints. Work is repeated until then, since a module reports before all its
# probes are in place.
failed=0
for module in *.ko; do
    name=${module%.ko}
    mkfifo in.$name
    vmrun +S 2 everything_loop.act <in.$name >out.$name 2>&1 &
    vm=$!
    exec 3>in.$name
    staprun -x $vm -o trace.$name $module 2>err.$name &
    tracer=$!
    good=no
    for turn in $(seq 40); do
        echo go >&3
        sleep 0.5
        [ "$turn" -lt 4 ] || { good=yes; while read -r text; do
            grep -qF -- "$text" trace.$name || good=no
        done <now.$name 2>/dev/null || :; }
        [ -s now.$name ] || grep -v '^END ' $name.wanted >now.$name
        [ $good = no ] || break
    done
    kill -INT $tracer
    wait $tracer
    echo end >&3
    exec 3>&-
    wait $vm || { echo "$name: vmrun ended with status $?"; good=no; cat out.$name; }
    while read -r _ text; do grep -qF -- "$text" trace.$name || good=no; done < <(grep '^END ' $name.wanted)
    echo "$name: $good"
    [ $good = yes ] || { failed=1; echo '--- wanted'; cat $name.wanted; echo '--- got'; tail -20 trace.$name; cat err.$name; }
done
exit $failed
