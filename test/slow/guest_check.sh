# Runs inside the guest: each module attached to a vmrun that does a little of everything, again and again until the trace has
# a line for every pattern of NAME.live, since a module says that it traces before all its probes are in place. Leaves in
# results/: NAME.trace, NAME.err (staprun's), NAME.vmrun, and NAME.fault, why it was given up if it was.
fault() { echo "$2" >>"results/$1.fault"; }

all_seen() {
    local pattern
    while read -r pattern; do grep -sqxE -- "$pattern" "results/$1.trace" || return 1; done <"$1.live"
}

check() {
    local name=$1 vm tracer rounds=0
    mkfifo "in.$name"
    vmrun +S 2 +zdbbl 1 $NODE everything@127.0.0.1 everything_loop.act <"in.$name" >"results/$name.vmrun" 2>&1 &
    vm=$!
    exec 3>"in.$name"
    # A module that comes while a program is being loaded may miss it.
    until grep -qx ready "results/$name.vmrun"; do
        kill -0 $vm 2>/dev/null || { fault "$name" 'vmrun ends before it is ready'; break; }
        sleep 0.1
    done
    staprun -x $vm -o "results/$name.trace" "$name.ko" 2>"results/$name.err" &
    tracer=$!
    for turn in $(seq 100); do
        sleep 0.3
        kill -0 $tracer 2>/dev/null || { wait $tracer; fault "$name" "staprun ended by itself, status $?"; break; }
        kill -0 $vm 2>/dev/null || break
        grep -sqx tracing "results/$name.trace" || continue
        rounds=$((rounds + 1))
        echo go >&3
        # Four rounds at the least: what a script prints only at its end has no pattern to wait for.
        [ $rounds -lt 4 ] || ! all_seen "$name" || break
    done
    kill -INT $tracer 2>/dev/null && { wait $tracer || fault "$name" "staprun: status $?"; }
    echo end >&3
    exec 3>&-
    wait $vm || fault "$name" "vmrun: status $?"
    echo "$name: $rounds rounds"
}

trap '' PIPE
export ERL_EPMD_ADDRESS=127.0.0.1
NODE='-setcookie guest -name'
epmd -daemon
vmrun +S 1 $NODE partner@127.0.0.1 partner.act >results/partner 2>&1 &
until grep -qx ready results/partner; do kill -0 $! || exit; sleep 0.1; done
for module in *.ko; do check "${module%.ko}"; done
