# SPDX-License-Identifier: Apache-2.0
"""OTP's own system, where one is installed, run by a link to vmrun named erl: each expression's output is a
stock erl's."""
import contextlib
import os
import pathlib
import shutil
import tempfile

from harness.golden import ENVIRONMENT, run_program
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

# The order of keys in a printed map is that of the machine's atoms, since OTP 26.
SORTED = (
    'Sorted = fun S(M) when is_map(M) -> {map, S(lists:sort(maps:to_list(M)))}; '
    'S(T) when is_tuple(T) -> list_to_tuple(S(tuple_to_list(T))); '
    'S([X | L]) -> [S(X) | S(L)]; S(X) -> X end, '
)
# What is asked of both machines: (what it is about, expression).
ASKED = [
    ('its kernel', 'io:format("~p~n", [[A || {A, _, _} <- application:which_applications()]])'),
    (
        'the compiler',
        'Forms = [{attribute,1,module,m}, {attribute,1,export,[{f,0}]}, '
        '{function,1,f,0,[{clause,1,[],[],[{integer,1,7}]}]}], '
        '{ok, m, Code} = compile:forms(Forms, []), {module, m} = code:load_binary(m, "m.beam", Code), '
        'io:format("~p~n", [m:f()])',
    ),
    ('its release', 'io:format("~p~n", [[erlang:system_info(K) || K <- [otp_release, version]]])'),
    (
        'application',
        'application:set_env(kernel, some_key, [1, 2]), io:format("~p~n", [application:get_env(kernel, '
        'some_key)])',
    ),
    ('fun2ms in an expression', 'io:format("~p~n", [ets:fun2ms(fun({A, B}) when A > 1 -> B end)])'),
    ('commands', 'io:format("~p~n", [os:cmd("echo from a shell")])'),
    (
        'dbg',
        'Me = self(), {ok, _} = dbg:tracer(process, {fun(E, _) -> Me ! {traced, setelement(2, E, me)} end, '
        'none}), {ok, _} = dbg:p(self(), [c]), '
        'Next = fun() -> receive {traced, E} -> io:format("~p~n", [E]) end end, '
        'io:format("~p~n", [dbg:tpl(lists, seq, x)]), lists:seq(1, 3), Next(), Next(), catch lists:seq(a, '
        '3), Next(), Next(), '
        'io:format("~p~n~p~n", [dbg:ctpl(lists, seq), dbg:tp(lists, seq, [{[1, \'_\'], [], [{message, '
        '{get_tcw}}]}])]), '
        'lists:seq(2, 3), lists:seq(1, 3), Next(), '
        'io:format("~p~n", [dbg:tp(lists, seq, [{[1 | a], [], []}, b])]), dbg:ltp(), io:format("~p ~p~n", '
        '[dbg:stop_clear(), erlang:trace_info({lists, seq, 2}, traced)])',
    ),
    (
        'net',
        f'{SORTED}io:format("~p~n", [Sorted([net:gethostname(), net:if_names(), net:if_name2index("lo"), '
        'net:getaddrinfo("localhost"), net:getifaddrs(all), '
        'prim_net:getifaddrs(#{netns => "/nonesuch"}), '
        '[net:getnameinfo(#{family => F, addr => A, port => 22}, [numerichost]) || {F, A} <- [{inet, {127, '
        '0, 0, 1}}, {inet, loopback}, {inet6, loopback}, '
        '{inet, any}, {inet6, any}]]])])',
    ),
    (
        'protocols of sockets',
        '[begin {ok, S} = socket:open(D, T), io:format("~p~n", [socket:getopt(S, {socket, protocol})]) end '
        '|| {D, T} <- [{local, stream}, {local, dgram}, {inet, stream}, {inet6, dgram}]]',
    ),
    (
        # The machine tells about each one, and before OTP 26 code_server does too, before it answers. A stock
        # machine tells later, but in the order of what has happened: the end of a process comes last.
        'modules that cannot be loaded',
        'Tell = fun(#{level := L, msg := M}, Pid) -> Pid ! {told, L, M}, stop end, '
        'ok = logger:add_primary_filter(told, {Tell, self()}), '
        'io:format("~p~n", [[code:load_binary(m, "m.beam", Bad) || Bad <- [<<1>>, <<"FOR1", 4:32, "BEAM">>, '
        '<<>>]]]), sys:get_state(logger), spawn(fun() -> error(last) end), '
        'Told = fun F() -> receive {told, _, {_, [_, {last, _}]}} -> []; {told, L, _} -> [L | F()] end end, '
        'io:format("~p~n", [Told()])',
    ),
    (
        'an on_load function that fails',
        'Forms = [{attribute,1,module,m}, {attribute,2,on_load,{f,0}}, '
        '{function,3,f,0,[{clause,3,[],[],[{atom,3,no}]}]}], {ok, m, Code} = compile:forms(Forms, []), '
        'io:format("~p ~p~n", [code:load_binary(m, "m.beam", Code), code:is_loaded(m)]), io:format("~p '
        '~p~n", [code:purge(m), catch m:g() =:= x])',
    ),
    (
        'who is in a module whose on_load function fails',
        'register(me, self()), Parsed = fun(T) -> {ok, Ts, _} = erl_scan:string(T), {ok, F} = '
        'erl_parse:parse_form(Ts), F end, '
        'Forms = [Parsed(T) || T <- ["-module(m).", "-on_load(f/0).", "wait() -> receive stop -> ok end.", '
        '"f() -> {P, R} = spawn_monitor(fun wait/0), me ! {P, R}, receive go -> no end."]], {ok, m, Code} = '
        'compile:forms(Forms, []), '
        'Loader = spawn_monitor(fun() -> exit(code:load_binary(m, "m.beam", Code)) end), '
        '{P, _} = receive {_, R} = W when is_reference(R) -> W end, M = monitor(process, P), '
        '[H ! go || {_, H} <- [{x, X} || X <- processes(), {current_function, {m, _, _}} <- '
        '[process_info(X, current_function)], X =/= P]], '
        'Ends = fun(Ref) -> receive {_, Ref, process, _, Why} -> Why end end, io:format("~p ~p~n", '
        '[Ends(element(2, Loader)), Ends(M)])',
    ),
    (
        'stacks without lines of preloaded modules',
        'try error(x) catch _:_:Stack -> io:format("~p~n", [lists:nthtail(length(Stack) - 2, Stack)]) end',
    ),
    ('words of the machine', 'io:format("~p~n", [tl(erlang:system_info(emu_args))])'),
    (
        'global',
        'yes = global:register_name(me, self()), io:format("~p~n", [global:whereis_name(me) =:= self()])',
    ),
]


# Flags of the machine, and what they change.
SHOWN = (
    'erlang:system_info(ets_limit), io:printable_range(), erlang:system_info(port_parallelism), '
    'erlang:system_info(time_correction), erlang:system_info(modified_timing_level), '
    'error_logger:warning_map(), '
    'erlang:system_info(message_queue_data), erlang:system_info(outstanding_system_requests_limit), '
    'maps:with([error_logger, kill], erlang:system_info(max_heap_size)), '
    'erlang:system_info(delayed_node_table_gc), erlang:system_info(schedulers), file:native_name_encoding(), '
    'erlang:port_info(open_port({spawn, "cat"}, []), parallelism), init:get_plain_arguments(), '
    'process_info(spawn(timer, sleep, [1000]), message_queue_data)'
)
LINES = (
    'try list_to_atom(x) catch _:_:Stack -> io:format("~p~n", [[lists:keymember(line, 1, Place) || '
    '{erl_eval, _, _, Place} <- lists:sublist(Stack, 2)]]) end'
)
NAMES = (
    '{ok, Before} = file:get_cwd(), Dir = os:cmd("printf %s $(mktemp -d)"), ok = file:set_cwd(Dir), ok = '
    'file:write_file(<<"a", 16#ff>>, ""), ok = file:write_file("b", ""), '
    '{ok, All} = file:list_dir_all("."), io:format("~0p ~0p ~0p~n", [file:list_dir("."), lists:sort(All), '
    'prim_file:internal_native2name(<<16#ff>>)]), ok = file:set_cwd(Before), file:del_dir_r(Dir)'
)
SCHEDULERS = (
    'io:format("~p~n", [[erlang:system_info(I) || I <- [schedulers, schedulers_online, '
    'dirty_cpu_schedulers, dirty_cpu_schedulers_online]]])'
)
FLAGS = [
    '+hmaxel false +hmaxk false +hmqd off_heap +e 10000 +pc unicode +spp true +c false +T 3 +W e +zosrl 100 '
    '+SP 50:50 +fnu',
    '+e 10 +W i +c +fnui +sbt u +stbt db +Mulmbcs 100 +Mulmbcs100 +MMscs 20 +sbwt none +swt low +sub true '
    '+K true',
    '+c true +a 100 +sss 100 +zdntgc 10 +zebwt short +C no_time_warp +hmbs 1000 +hpds 7 +R 25 +ec',
]
REFUSED = [
    '+S 4:4 +SP 50:101',
    '+hms abc',
    '+hms 0',
    '+hmaxk x',
    '+hmaxel x',
    '+hmqd x',
    '+pc x',
    '+spp x',
    '+zdntgc x',
    '+C x',
    '+T 99',
    '+W x',
    '+fnx',
    '+sbt x',
    '+stbt x',
    '+ssrct +sbt db',
    '+sbt db +sct L0',
    '+sct L0,1',
    '+sct x',
    '+sbwt x',
    '+swt x',
    '+hpds x',
    '+P 100',
    '+t 5',
    '+Q 100',
    '+A 5000',
    '+R 10',
    '+MXX',
    '+a 1',
    '+sss 1',
    '+zebwt x',
    '+scl x',
    '+rg x',
    '+JPperf x',
    '+IOp x',
    '+zdbbl 0',
    '+sub x',
    '+xyz',
]
BY_RELEASE = [
    f'+R {release}' for release in range(22, 31)
] + '+D,+Dibpl true,+JMsingle false,+JPcover function,+JPperfdirectory /tmp,+zhft 100,+pad true,+pad x'.split(
    ','
)
OWN = ['+random-sched 7 +S 1', '+yield-all +S 2', '+slice 20', '+gc-stress +verify-heap']
NOT_SUPPORTED = ['+fnl']


ALL_CORES = 'L0-1023c1023-0'
TOPOLOGIES = [
    '+ssrct +stbt db',
    '+ssrct +sbt u',
    '+stbt db +sct L0',
    '+sct L65535 +sbt db',
    f'+sct {ALL_CORES} +sbt ns +S 2:1',
    f'+sct L0 +sct {ALL_CORES} +sct L3-4p0-1n1,0 +stbt s +sbt u',
    f'+sct {ALL_CORES} +ssrct +stbt tnnps +S 1',
    '+sct L3c1p1n7:L2c0p1n7:L9-10T1,0n4p0:L11p2n0 +S 3',
]
# The first scheduler has a processor, whichever this program may use.
BINDINGS = (
    'I = fun erlang:system_info/1, io:format("~0p~n", [[I(cpu_topology), I({cpu_topology, defined}), '
    'I({cpu_topology, detected}), I(scheduler_bind_type), I(scheduler_bindings)]])'
)

IDENTIFIERS = (
    'All = [{pid, self()}, {pid, lists:last([spawn(fun() -> ok end) || _ <- lists:seq(1, 40000)])}, {port, '
    'open_port({spawn, "cat"}, [])}, {ref, make_ref()}, {table, ets:new(t, [])}, '
    '{timer, erlang:start_timer(100000, self(), x)}, '
    '{timer, erlang:send_after(100000, self(), x)}, {alias, alias()}, {alias, alias([reply])}, {alias, '
    'monitor(process, whereis(init), [{alias, demonitor}])}, '
    '{monitor, monitor(process, whereis(init))}, {monitor, monitor(process, user)}, {monitor, '
    'monitor(process, {nobody, node()})}, {monitor, monitor(port, open_port({spawn, "cat"}, []))}, {monitor, '
    'monitor(time_offset, clock_service)}, {request, spawn_request(fun() -> ok end, [{reply, no}])}, '
    '{atomics, atomics:new(1, [])}, {counters, element(2, counters:new(1, []))}]'
)
VIEW = (
    'S = self(), spawn(fun() -> register(cdv_progress_handler, self()), S ! ready, (fun Told() -> receive '
    '{progress, {ok, done}} -> S ! done, Told(); {progress, {error, Why}} -> halt(Why); _ -> Told() end '
    'end)() end), '
    'receive ready -> ok end, {ok, _} = crashdump_viewer:start_link(), crashdump_viewer:read_file("PATH"), '
    'receive done -> ok end, {ok, Ps, _} = crashdump_viewer:processes(), '
    '[Holder] = [pid_to_list(element(2, P)) || P <- Ps, lists:member("holder", tuple_to_list(P))], {ok, _, '
    '_} = crashdump_viewer:proc_details(Holder), io:format("seen~n")'
)


def output(erl, expression, flags='', stdin=''):
    return run_program(
        [erl, *flags.split(), '-noshell', '-eval', expression, '-s', 'init', 'stop'], stdin, PATIENCE_S
    )


@contextlib.contextmanager
def erl_of(vmrun):
    with tempfile.TemporaryDirectory(prefix='vmrun-system-') as folder:
        link = pathlib.Path(folder) / 'erl'
        link.symlink_to(os.path.abspath(vmrun))
        yield str(link)


def agree(vmrun, expression, *flags):
    if not (stock := shutil.which('erl')):
        raise Skip('no erl here')
    with erl_of(vmrun) as erl:
        for given in flags or ['']:
            ours, theirs = output(erl, expression, given), output(stock, expression, given)
            if ours[:2] != theirs[:2]:
                raise Failure(f'{given} status, output, standard error: {ours}\na stock erl: {theirs}')


def configured(vmrun):
    """A stock erl says so too, and besides that its descriptor 0 has gone."""
    with erl_of(vmrun) as erl:
        ended = output(
            erl,
            'io:format("~p~n", [[application:get_env(kernel, own_key), prim_file:file_desc_to_ref(1000, '
            '[read])]])',
            '-noinput -configfd 0',
            '[{kernel, [{own_key, 7}]}].',
        )
        if list(ended[:3]) != [0, '[{ok,7},{error,ebadf}]\n', '']:
            raise Failure(f'status, output, standard error: {ended}')


def dump_with_heart(vmrun):
    """There is none, for what is to be started again must not wait for it, unless it is said how long it may
    take."""
    for seconds in '', '-1':
        with erl_of(vmrun) as erl:
            dump = pathlib.Path(erl).with_name('dump')
            environment = {
                name: value for name, value in ENVIRONMENT.items() if name != 'ERL_CRASH_DUMP_SECONDS'
            } | {'ERL_CRASH_DUMP': str(dump)}
            if seconds:
                environment['ERL_CRASH_DUMP_SECONDS'] = seconds
            run_program(
                [erl, '-heart', '-noshell', '-eval', 'erlang:halt("over")'], '', PATIENCE_S, env=environment
            )
            if dump.exists() != bool(seconds):
                raise Failure(f'seconds: {seconds!r}, but there is {"one" if dump.exists() else "none"}')


def between_files(vmrun):
    """What an unnamed machine writes of identifiers an unnamed stock erl reads, and the other way about."""
    if not (stock := shutil.which('erl')):
        raise Skip('no erl here')
    with erl_of(vmrun) as erl:
        for writer, reader in (erl, stock), (stock, erl), (erl, erl):
            path = pathlib.Path(erl).with_name('identifiers')
            written = output(
                writer,
                f'{IDENTIFIERS}, ok = file:write_file("{path}", term_to_binary([{{K, '
                'term_to_binary(I)} || {K, I} <- All]))',
            )
            read = output(
                reader,
                f'{{ok, B}} = file:read_file("{path}"), io:format("~p~n", [[K || {{K, I}} <- '
                'binary_to_term(B), '
                'try T = binary_to_term(I), T =/= binary_to_term(term_to_binary(T)) catch error:badarg -> '
                'true end]])',
            )
            if (*written[:3], *read[:3]) != (0, '', '', 0, '[]\n', ''):
                raise Failure(f'written by {writer}: {written}\nread by {reader}: {read}')


def viewed_dump(vmrun):
    """OTP's crashdump_viewer reads a process that has references of all kinds in its dictionary and
    messages."""
    if (
        not (stock := shutil.which('erl'))
        or output(stock, 'io:put_chars(code:which(crashdump_viewer))')[0] != 0
    ):
        raise Skip('no crashdump_viewer here')
    with erl_of(vmrun) as erl:
        path = pathlib.Path(erl).with_name('dump')
        environment = {
            name: value for name, value in ENVIRONMENT.items() if name != 'ERL_CRASH_DUMP_SECONDS'
        } | {'ERL_CRASH_DUMP': str(path)}
        holds = (
            f'S = self(), P = spawn(fun() -> {IDENTIFIERS}, [put(K, I) || {{K, I}} <- All], self() ! All, '
            'S ! ready, receive never -> ok end end), '
            'register(holder, P), receive ready -> halt("slogan") end'
        )
        run_program([erl, '-noshell', '-eval', holds], '', PATIENCE_S, env=environment)
        seen = output(stock, VIEW.replace('PATH', str(path)))
        if seen[:2] != (0, 'seen\n'):
            raise Failure(f'a stock erl: {seen}')


def runs(vmrun, flags):
    """For each of the flags: them, and what it makes of an expression with them."""
    with erl_of(vmrun) as erl:
        for given in flags:
            yield given, *output(erl, 'io:format("runs~n")', given)[:3]


def take(vmrun, flags):
    for given, status, out, err in runs(vmrun, flags):
        if (status, out, err) != (0, 'runs\n', ''):
            raise Failure(f'{given}: status {status}, output {out!r}, standard error {err!r}')


def accept_the_same(vmrun, flags):
    """Flags that stock erl of this release knows run the program, the others do not."""
    with erl_of(vmrun) as ours:
        for given in flags:
            command = [*given.split(), '-noshell', '-eval', 'halt()']
            here, there = (run_program([erl, *command], '', PATIENCE_S) for erl in (ours, 'erl'))
            if (here[0] == 0) != (there[0] == 0):
                raise Failure(f'{given}: {here}; stock: {there}')


def refuse(vmrun, flags, words):
    """Those flags end it before anything runs, and it says why."""
    for given, status, out, err in runs(vmrun, flags):
        if status == 0 or out or not err.startswith('erl: ') or not any(word in err for word in words):
            raise Failure(f'{given}: status {status}, output {out!r}, standard error {err!r}')


def tests(vmrun):
    return [
        Test('command', f"OTP's system: {name}", lambda e=expression: agree(vmrun, e))
        for name, expression in ASKED
    ] + [
        Test(
            'command',
            "OTP's system: flags of the machine",
            lambda: agree(vmrun, f'{SORTED}io:format("~p~n", [Sorted([{SHOWN}])])', *FLAGS),
        ),
        Test(
            'command',
            "OTP's system: heaps to start with",
            lambda: agree(
                vmrun, 'io:format("~p~n", [erlang:system_info(min_heap_size)])', '+hms 1000', '+h 5000'
            ),
        ),
        Test(
            'command',
            "OTP's system: how many schedulers",
            lambda: agree(
                vmrun,
                SCHEDULERS,
                '+S 0 +n d +rg 100',
                '+S 0:0',
                '+S :1',
                '+SP 0:0',
                '+SP :1',
                '+S 8:8 +SP50:25',
                '+SP50:25 +S 8:8',
                '+SP 25:25 +SP 200',
                '+SP:50 +S 4',
                '+S 8:4 +SP 25',
                '+SP 50 +S 16:2',
                '+S 16:4 +SP 50',
                '+SDcpu 0',
                '+SDcpu :1',
                '+SDPcpu 0',
                '+SDcpu 2:2 +S 2:1',
                '+SDcpu 2:2 +S 1',
                '+SDcpu 5:2 +S 4',
                '+SDcpu 4:2 +S 4:1',
                '+SDPcpu 100:100 +S 4:2',
            ),
        ),
        Test(
            'command',
            "OTP's system: no topology of processors",
            lambda: agree(vmrun, 'io:format("~p~n", [erlang:system_info(cpu_topology)])', '', '+ssrct'),
        ),
        Test(
            'command',
            "OTP's system: topologies that are stated, and schedulers bound by them",
            lambda: agree(vmrun, BINDINGS, *TOPOLOGIES),
        ),
        Test('command', "OTP's system: flags of this machine alone", lambda: take(vmrun, OWN)),
        Test(
            'command',
            "OTP's system: names of files that are no UTF-8",
            lambda: agree(vmrun, NAMES, '+fnue', '+fnui', '+fnuw -kernel logger_level error'),
        ),
        Test('command', "OTP's system: a configuration from a descriptor", lambda: configured(vmrun)),
        Test(
            'command',
            "OTP's system: its end with heart",
            lambda: agree(vmrun, 'io:format("~p~n", [whereis(heart) =/= undefined])', '-heart'),
        ),
        Test('command', "OTP's system: a crash dump with heart", lambda: dump_with_heart(vmrun)),
        Test('command', "OTP's system: no lines", lambda: agree(vmrun, LINES, '', '+L')),
        Test('command', "OTP's system: identifiers between files", lambda: between_files(vmrun)),
        Test('command', "OTP's system: a crash dump before OTP's viewer", lambda: viewed_dump(vmrun)),
        Test('command', "OTP's system: flags by release", lambda: accept_the_same(vmrun, BY_RELEASE)),
        Test(
            'command',
            "OTP's system: bad flags",
            lambda: refuse(
                vmrun, REFUSED, ['bad value', 'expected', 'unknown flag', 'invalid type', 'topology']
            ),
        ),
        Test(
            'command',
            "OTP's system: flags that are not supported",
            lambda: refuse(vmrun, NOT_SUPPORTED, ['not supported: ']),
        ),
    ]
