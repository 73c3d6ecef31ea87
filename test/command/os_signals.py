# SPDX-License-Identifier: Apache-2.0
"""Signals of the operating system, crash dumps, and the menu of the interrupt key on a terminal."""
import contextlib
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test
from harness.sanitizers import need_signals_at_once

from .suite import PATIENCE_S, Ended, native_flags, run

WAITS = 'main() -> io:format("ready~n"), receive never -> ok end.'


def tests(vmrun):
    return [
        Test('command', name, lambda case=case: case(vmrun))
        for name, case in [
            ('signals that end it', ending_signals),
            ('signals a program handles', handled_signals),
            ('ends of port programs are no signals', ends_of_port_programs),
            ('signals one after the other', signal_storm),
            ("signals with OTP's gen_event", signals_of_otp),
            ('the interrupt key off and without a terminal', interrupt_flags),
            ('a crash dump', crash_dump),
            ('a crash dump beside what does not stop', dump_beside_running),
            ('a crash dump of exhausted memory', dump_of_exhausted_memory),
            ('a crash dump of a full atom table', dump_of_full_atom_table),
            ('a crash dump of crashing native code', dump_of_crash),
            ('limits of a crash dump', dump_limits),
            ('halt with a slogan', halt_with_slogan),
            ('the menu of the interrupt key', break_menu),
            ('killing processes from the menu', kill_from_menu),
            ('a program reads on after the menu', input_after_menu),
        ]
    ]


def environment(**more):
    return {
        name: value
        for name, value in dict(ENVIRONMENT, **more).items()
        if not name.startswith('ERL_CRASH_DUMP') or name in more
    }


def needs_signals_at_once(vmrun):
    need_signals_at_once(vmrun)


@contextlib.contextmanager
def started(vmrun, text, *flags, folder, **more):
    """A program that has printed `ready`."""
    needs_signals_at_once(vmrun)
    script = pathlib.Path(folder) / 'program.act'
    script.write_text(text)
    # Whoever runs the tests may ignore a signal (nohup does), and so would the program.
    program = subprocess.Popen(
        ['env', '--default-signal', os.path.abspath(vmrun), '+S', '2', *flags, str(script)],
        cwd=folder,
        env=environment(**more),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        if program.stdout.readline() != 'ready\n':
            raise Failure(f'it has not begun: {program.stderr.read()[:1000]}')
        yield program
    finally:
        program.kill()
        program.wait()


def end_of(program):
    try:
        out, err = program.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise Failure(f'no end after {PATIENCE_S} s') from None
    return Ended(program.returncode, out, err)


def after_signal(vmrun, number, text, *flags, **more):
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder, started(
        vmrun, text, *flags, folder=folder, **more
    ) as program:
        program.send_signal(number)
        return end_of(program)


def ending_signals(vmrun):
    after_signal(vmrun, signal.SIGTERM, WAITS).expect(0, err=['SIGTERM received - shutting down\n'])
    after_signal(vmrun, signal.SIGQUIT, WAITS).expect(0, out='', err=['^$'])
    for seconds in '0', 'soon':
        after_signal(vmrun, signal.SIGUSR1, WAITS, ERL_CRASH_DUMP_SECONDS=seconds).expect(
            1, out='', err=['^Received SIGUSR1\n$']
        )
    # All processors busy: the same.
    busy = (
        'main() -> [spawn(fun L() -> L() end) || _ <- [1, 2, 3]], io:format("ready~n"), receive never '
        '-> ok end.'
    )
    after_signal(vmrun, signal.SIGTERM, busy).expect(0)
    # A server that has ended: they are lost, until another one is there.
    gone = '''main() -> R = monitor(process, erl_signal_server), exit(whereis(erl_signal_server), kill),
    receive {'DOWN', R, _, _, _} -> ok end, io:format("ready~n"),
    Kill = fun(Signal) -> os:cmd("kill -s " ++ Signal ++ " " ++ os:getpid()) end,
    [Kill(Signal) || Signal <- ["TERM", "QUIT"]],
    register(erl_signal_server, self()), Kill("USR1"),
    receive {notify, sigusr1} -> io:format("told~n") end.'''
    after_signal(vmrun, signal.SIGTERM, gone).expect(0, out='told\n')
    for number in (signal.SIGHUP, signal.SIGUSR2, signal.SIGALRM):
        after_signal(vmrun, number, WAITS).expect(-number)


HANDLER = '''
-export([init/1, handle_event/2, handle_call/2]).
init(_) -> {ok, none}.
handle_call(_, S) -> {ok, ok, S}.
handle_event(Signal, S) -> main ! Signal, {ok, S}.
'''


def handled_signals(vmrun):
    needs_signals_at_once(vmrun)
    text = (
        HANDLER
        + '''
main() ->
    register(main, self()),
    [erl_signal_handler] = gen_event:which_handlers(erl_signal_server),
    ok = gen_event:swap_handler(erl_signal_server, {erl_signal_handler, []}, {program, []}),
    % sigchld first: where a port's program has just ended, one that is sent is one with that.
    Signals = [sigchld, sigterm, sigusr1, sigusr2, sighup, sigquit, sigalrm, sigtstp, sigcont, sigwinch],
    [ok = os:set_signal(S, handle) || S <- Signals],
    [begin
         os:cmd("kill -" ++ string:uppercase(tl(tl(tl(atom_to_list(S))))) ++ " " ++ os:getpid()),
         receive S -> io:format("~p ", [S]) end
     end || S <- Signals],
    [ok = os:set_signal(S, ignore) || S <- Signals],
    [os:cmd("kill -" ++ string:uppercase(tl(tl(tl(atom_to_list(S))))) ++ " " ++ os:getpid()) || S <- Signals],
    Wrong = [{sigint, handle}, {sigkill, ignore}, {sigterm, maybe_so}, {foo, handle}, {"sigterm", handle}],
    io:format("~w~n", [[catch element(1, element(2, {_, _} = (catch os:set_signal(S, O))))
        || {S, O} <- Wrong]]),
    io:format("~p~n", [os:cmd("echo still a child")]),
    ok = os:set_signal(sigterm, default),
    os:cmd("kill -TERM " ++ os:getpid()),
    receive never -> ok end.
'''
    )
    run(vmrun, text).expect(
        -signal.SIGTERM,
        out='sigchld sigterm sigusr1 sigusr2 sighup sigquit sigalrm sigtstp sigcont sigwinch '
        '[badarg,badarg,badarg,badarg,badarg]\n'
        '"still a child\\n"\n',
    )


def ends_of_port_programs(vmrun):
    """They are no SIGCHLD for the program, as with erl, whose port programs are children of another process:
    what somebody sends is one."""
    needs_signals_at_once(vmrun)
    text = (
        HANDLER
        + '''
main() ->
    register(main, self()),
    ok = gen_event:swap_handler(erl_signal_server, {erl_signal_handler, []}, {program, []}),
    [ok = os:set_signal(S, handle) || S <- [sigchld, sigusr1]],
    os:cmd("kill -CHLD " ++ os:getpid()),
    receive sigchld -> ok end,
    [ended = ends(N) || N <- lists:seq(1, 20)],
    os:cmd("kill -USR1 " ++ os:getpid()),
    io:format("~w~n", [heard()]).

ends(Status) ->
    Port = open_port({spawn, "sh -c 'exit " ++ integer_to_list(Status) ++ "'"}, [exit_status]),
    receive {Port, {exit_status, Status}} -> ended end.

heard() -> receive sigusr1 -> [sigusr1]; S -> [S | heard()] end.
'''
    )
    run(vmrun, text).expect(0, out='[sigusr1]\n')


def signal_storm(vmrun):
    """Signals while it starts, while it works, and while it ends: always an end of one of the kinds that
    signals have, in no time at all."""
    text = (
        'main() -> [spawn(fun L() -> self() ! x, receive x -> L() end end) || _ <- lists:seq(1, 100)], '
        'io:format("ready~n"), receive never -> ok end.'
    )
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder, started(
        vmrun, text, folder=folder
    ) as program:
        for number in (
            signal.SIGCHLD,
            signal.SIGCONT,
            signal.SIGWINCH,
            signal.SIGPIPE,
            signal.SIGTSTP,
            signal.SIGCONT,
        ) * 20:
            program.send_signal(number)
        if program.poll() is not None:
            raise Failure(f'ended with {program.returncode}')
        for _ in range(50):
            program.send_signal(signal.SIGTERM)
        end = end_of(program)
        if end.status not in (0, -signal.SIGTERM):
            end.expect(0)
    script = 'main() -> ok.'
    for delay_ms in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55):
        with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
            (pathlib.Path(folder) / 'program.act').write_text(script)
            program = subprocess.Popen(
                [os.path.abspath(vmrun), 'program.act'],
                cwd=folder,
                env=environment(),
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            time.sleep(delay_ms / 1000)  # any moment will do
            program.send_signal(signal.SIGTERM)
            end = end_of(program)
            if end.status not in (0, -signal.SIGTERM):
                end.expect(0)


MENU = (
    r'\nBREAK: \(a\)bort \(A\)bort with dump \(c\)ontinue \(p\)roc info \(i\)nfo\n +\(l\)oaded \(k\)ill '
    r'\(v\)ersion \(D\)b-tables \(d\)istribution \(h\)elp\n'
)


def signals_of_otp(vmrun):
    """The event manager of signals is that of an installed OTP if its library goes before ours."""
    ebins = list(pathlib.Path('/usr/lib/erlang/lib').glob('stdlib-*/ebin'))
    if not ebins:
        raise Skip('no stdlib of OTP in /usr/lib/erlang')
    text = '''main() ->
        [erl_signal_handler] = gen_event:which_handlers(erl_signal_server),
        "gen_event.beam" = filename:basename(code:which(gen_event)),
        io:format("ready~n"), receive never -> ok end.'''
    after_signal(vmrun, signal.SIGTERM, text, '-pa', str(ebins[0])).expect(
        0, err=['SIGTERM received - shutting down\n']
    )
    stopped = (
        'main() -> ok = gen_event:stop(erl_signal_server), io:format("~p~n", [whereis(erl_signal_server)]).'
    )
    for flags in ([], ['-pa', str(ebins[0])]):
        run(vmrun, stopped, *flags).expect(0, out='undefined\n')


def interrupt_flags(vmrun):
    end = after_signal(vmrun, signal.SIGINT, WAITS).expect(0)  # the menu, and then input ends
    if not re.fullmatch(MENU, end.out):
        raise Failure(repr(end.out))
    for flag in ('+B', '+Bd'):
        after_signal(vmrun, signal.SIGINT, WAITS, flag).expect(-signal.SIGINT, out='')
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder, started(
        vmrun, WAITS, '+Bi', folder=folder
    ) as program:
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGTERM)
        end_of(program).expect(0, err=['SIGTERM received'])


def sections(dump):
    """{name: [(identity, text)]}"""
    found = {}
    for part in re.split(r'^=', dump, flags=re.M)[1:]:
        head, _, text = part.partition('\n')
        name, _, identity = head.partition(':')
        found.setdefault(name, []).append((identity, text))
    return found


def crash_dump(vmrun):
    text = '''
main() ->
    register(main, self()),
    put(key, {value, 1.5, #{a => 1}}),
    ets:insert(ets:new(objects, [named_table, ordered_set]), {1, <<"abc">>}),
    [spawn(fun() -> receive never -> ok end end) || _ <- lists:seq(1, 2000)],
    P = spawn_link(fun() -> receive never -> ok end end),
    register(full, P),
    [P ! {message, N} || N <- lists:seq(1, 100000)],
    P ! binary:copy(<<"large">>, 1000),
    spawn(fun L() -> L() end),
    open_port({spawn, "cat"}, []),
    deep(3).
deep(0) -> spawn(fun() -> tell(whereis(main)) end), receive never -> ok end;
deep(N) -> X = deep(N - 1), {X, N}.
tell(Main) -> case process_info(Main, status) of {status, waiting} -> io:format("ready~n");
    _ -> tell(Main) end.
'''
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder, started(
        vmrun, text, folder=folder
    ) as program:
        program.send_signal(signal.SIGUSR1)
        end_of(program).expect(
            1, out='', err=['^Received SIGUSR1\n\nCrash dump is being written to: erl_crash.dump...done\n$']
        )
        dump = (pathlib.Path(folder) / 'erl_crash.dump').read_text(errors='replace')
    if (
        not dump.startswith('=erl_crash_dump:0.5\n')
        or 'Slogan: Received SIGUSR1\n' not in dump
        or not dump.endswith('=end\n')
    ):
        raise Failure(f'{dump[:300]!r} ... {dump[-300:]!r}')
    parts = sections(dump)
    if len(parts['proc']) < 2005 or len(parts['proc_stack']) < 2004:
        raise Failure(f'{len(parts["proc"])} processes, {len(parts["proc_stack"])} stacks')
    by_name = {m[1]: (pid, t) for pid, t in parts['proc'] if (m := re.search(r'^Name: (.*)$', t, re.M))}
    main, body = by_name['main']
    full, full_body = by_name['full']
    expect(
        body,
        r'State: Waiting\n',
        r'Spawned as: init:main/1\n',
        r'Link list: \[.*#Port<',
        r'Program counter: 0x\w+ \(program:deep/1 \+ \d+\)\n',
    )
    expect(full_body, r'Message queue length: 100001\n', rf'Link list: \[{main}\]')
    messages = dict(parts['proc_messages'])[full]
    if messages.count('\n') != 100001:
        raise Failure(f'{messages.count(chr(10))} messages')
    heap = dict(parts['proc_heap'])
    expect(heap[full], r'\w+:t2:A7:message,I1\n', r'\w+:Yc\w+:0:1388\n')
    expect(
        dict(parts['proc_stack'])[main],
        r'SReturn addr 0x\w+ \(program:deep/1 \+ \d+\)\ny0:I1\n',
        'y0:I2\n',
        'y0:I3\n',
    )
    expect(heap[main], r':t2:A3:key,H', r':t3:A5:value,H', r'F\w+:1.5')
    expect(dict(parts['ets'])[main], 'Name: objects\n', 'Objects: 1\n', 'Type: ordered_set\n')
    expect(parts['port'][0][1], 'Port controls external process: cat\n')
    expect(parts['memory'][0][1], r'total: \d+\nprocesses: \d+\n')
    expect(parts['atoms'][0][1], r'^objects$')
    if (
        'program' not in dict(parts['mod'])
        or len(parts['scheduler']) != 2
        or not any('Scheduled' in t for _, t in parts['proc'])
    ):
        raise Failure('modules, schedulers or a process that is scheduled')
    # Whatever is pointed to is there.
    for pid, text in parts['proc_heap']:
        there = set(re.findall(r'^(\w+):', text, re.M))
        for pointer in re.findall(r'\bH([0-9A-F]+)\b', re.sub(r':Y.*|:E.*|A\w+:[^,|\n]*', '', text)):
            if pointer not in there:
                raise Failure(f'{pid}: nothing at {pointer}')


def expect(text, *parts):
    for part in parts:
        if not re.search(part, text, re.M):
            raise Failure(f'lacks {part!r}: {text[:2000]!r}')


def dump_beside_running(vmrun):
    """Native code that never returns, on a scheduler and on dirty ones, does not keep the others from being
    written."""
    flags, more = native_flags()
    text = '''
main() ->
    meeting:module_info(),
    [meet(Kind) || Kind <- [dirty_cpu, dirty_io, on_scheduler]],
    io:format("ready~n"), receive never -> ok end.
%% One after the other: who is queued behind the one that keeps its scheduler might never begin.
meet(Kind) ->
    register(Kind, spawn(fun() -> meeting:Kind(2, x) end)),
    await(Kind).
await(Kind) ->
    case meeting:there(Kind) of 1 -> ok; 0 -> erlang:yield(), await(Kind) end.
'''
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder, started(
        vmrun, text, *flags, folder=folder, **more
    ) as program:
        program.send_signal(signal.SIGUSR1)
        end_of(program).expect(1, err=['done\n$'])
        parts = sections((pathlib.Path(folder) / 'erl_crash.dump').read_text(errors='replace'))
    by_name = {m[1]: t for _, t in parts['proc'] if (m := re.search(r'^Name: (.*)$', t, re.M))}
    for name, runs in (
        ('on_scheduler', 'RUNNING'),
        ('dirty_cpu', 'DIRTY_CPU_PROC | DIRTY_RUNNING'),
        ('dirty_io', 'DIRTY_IO_PROC | DIRTY_RUNNING'),
    ):
        expect(by_name[name], 'State: Running\n', rf'Internal State: .* \| ACTIVE \| {re.escape(runs)}\n')
    expect(by_name['init'], 'State: Waiting\n')
    if sum('NOT_STOPPED' in t for _, t in parts['scheduler']) != 1 or 'end' not in parts:
        raise Failure(str(parts['scheduler']))


def last_dump(vmrun, text, *flags, shell='"$@"', status, err, slogan, more=None):
    """What is written when the machine cannot go on."""
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        path = pathlib.Path(folder) / 'dump'
        run(
            vmrun,
            text,
            *flags,
            shell=shell,
            environment=dict(more or {}, ERL_CRASH_DUMP=str(path), ERL_CRASH_DUMP_SECONDS=''),
        ).expect(status, err=[err + re.escape(f'\nCrash dump is being written to: {path}...done\n') + r'\Z'])
        dump = path.read_text(errors='replace')
    expect(dump, f'^Slogan: {slogan}$', r'\n=end\n\Z')
    parts = sections(dump)
    by_name = {m[1]: (pid, t) for pid, t in parts['proc'] if (m := re.search(r'^Name: (.*)$', t, re.M))}
    # One that waits is shown with all it has, the one at fault is not looked at.
    expect(by_name['waits'][1], r'^Program counter: 0x\w+ \(program:wait/1 \+ \d+\)$')
    expect(dict(parts['proc_stack'])[by_name['waits'][0]], 'y0:I17\n')
    expect(by_name['at_fault'][1], '^State: Running$')


WAITS_AND_FAILS = '''
main() ->
    Main = self(),
    spawn(fun() -> register(waits, self()), Main ! ready, wait(17) end),
    receive ready -> ok end,
    spawn(fun() -> register(at_fault, self()), fail() end),
    receive never -> ok end.
wait(X) -> receive never -> ok end, X.
'''


# Another thread may want a little just then.
EXHAUSTED = "(?:a process heap|the machine's own data)"


def dump_of_exhausted_memory(vmrun):
    # Literals and the allocator (since mimalloc 3) reserve 1 GB of addresses each.
    last_dump(
        vmrun,
        WAITS_AND_FAILS + 'fail() -> [1 | fail()].',
        shell='ulimit -v 3000000; exec "$@"',
        status=1,
        err=rf'^vmrun: out of memory: cannot allocate \d+ bytes for {EXHAUSTED}\n',
        slogan=rf'Cannot allocate \d+ bytes for {EXHAUSTED}',
    )
    run(
        vmrun,
        WAITS_AND_FAILS + 'fail() -> [1 | fail()].',
        shell='ulimit -v 3000000; exec "$@"',
        environment={'ERL_CRASH_DUMP_SECONDS': '0'},
    ).expect(1, err=[rf'^vmrun: out of memory: cannot allocate \d+ bytes for {EXHAUSTED}\n\Z'])


def dump_of_full_atom_table(vmrun):
    """Native code cannot be told that there is no room for an atom."""
    flags, more = native_flags()
    last_dump(
        vmrun,
        WAITS_AND_FAILS + 'fail() -> bad_term:atoms().',
        '+t',
        '8192',
        *flags,
        status=1,
        more=more,
        err=r'^vmrun: the atom table is full \(limit 8192, .*\)\n',
        slogan='The atom table is full',
    )


def dump_of_crash(vmrun):
    flags, more = native_flags()
    last_dump(
        vmrun,
        WAITS_AND_FAILS + 'fail() -> bad_term:crash().',
        *flags,
        status=-signal.SIGSEGV,
        more=more,
        err=r"^vmrun: .*bad_term.so' crashed with signal SEGV in bad_term:crash/0\n",
        slogan='crashed with signal SEGV',
    )


def dump_limits(vmrun):
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        path = pathlib.Path(folder) / 'elsewhere'
        end = after_signal(
            vmrun, signal.SIGUSR1, WAITS, ERL_CRASH_DUMP=str(path), ERL_CRASH_DUMP_BYTES='2000'
        )
        end.expect(1, err=[re.escape(f'written to: {path}...done')])
        dump = path.read_text()
        if len(dump) > 2100 or 'CRASH_DUMP_SIZE_LIMIT_REACHED' not in dump:
            raise Failure(f'{len(dump)} bytes')
        after_signal(vmrun, signal.SIGUSR1, WAITS, ERL_CRASH_DUMP=f'{folder}/no/such').expect(
            1, err=['No such file or directory']
        )
        after_signal(vmrun, signal.SIGUSR1, WAITS, ERL_CRASH_DUMP='/dev/full').expect(1)


def halt_with_slogan(vmrun):
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        path = pathlib.Path(folder) / 'dump'
        more = {'ERL_CRASH_DUMP': str(path), 'ERL_CRASH_DUMP_SECONDS': ''}
        for call in (
            'halt("my slogan")',
            'erlang:halt("my slogan", [{flush, true}])',
            'init:stop("my slogan"), receive never -> ok end',
        ):
            run(vmrun, f'main() -> {call}.', environment=more).expect(
                1, err=[f'^my slogan\n\nCrash dump is being written to: {path}...done\n$']
            )
            expect(path.read_text(), '^Slogan: my slogan$', r'\n=end\n\Z')
            path.unlink()
        run(vmrun, 'main() -> halt(abort).', environment=more).expect(-signal.SIGABRT)
        run(vmrun, 'main() -> halt(7).', environment=more).expect(7)
        if path.exists():
            raise Failure('a dump that nobody asked for')


class Terminal:
    """vmrun on a terminal of its own."""

    def __init__(self, vmrun, folder, text):
        needs_signals_at_once(vmrun)
        script = pathlib.Path(folder) / 'program.act'
        script.write_text(text)
        path = os.path.abspath(vmrun)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(folder)
                os.execve(path, ['vmrun', '+S', '2', str(script)], environment())
            finally:
                os._exit(127)
        self.text = ''

    def await_text(self, *patterns):
        """Until all are there, in this order, behind what was waited for before."""
        end = time.monotonic() + PATIENCE_S
        for pattern in patterns:
            while not (found := re.search(pattern, self.text)):
                if time.monotonic() > end or not self.read(1):
                    raise Failure(f'no {pattern!r} in {self.text[-1500:]!r}')
            self.text = self.text[found.end() :]

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # how a terminal ends
            return False
        self.text += data.decode(errors='replace').replace('\r\n', '\n')
        return bool(data)

    def type(self, text):
        os.write(self.fd, text.encode())

    def status(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.read(0.1):
            pass
        pid, status = os.waitpid(self.pid, os.WNOHANG if time.monotonic() >= end else 0)
        self.pid = 0
        if not pid:
            raise Failure('no end')
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@contextlib.contextmanager
def terminal(vmrun, text):
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        t = Terminal(vmrun, folder, text)
        try:
            t.await_text('ready\n')
            t.folder = folder
            yield t
        finally:
            t.close()


def break_menu(vmrun):
    text = '''
main() ->
    register(main, self()),
    ets:new(some_table, [named_table]),
    Counter = counters:new(1, []),
    spawn(fun L() -> counters:add(Counter, 1, 1), L() end),
    io:format("ready~n"),
    deep(Counter).
deep(Counter) -> X = loop(Counter, io:get_line("")), {X, Counter}.
loop(Counter, _) -> Was = counters:get(Counter, 1), await(Counter, Was), io:format("going on~n"),
    loop(Counter, io:get_line("")).
await(Counter, Was) -> case counters:get(Counter, 1) > Was of true -> ok; false -> await(Counter, Was) end.
'''
    with terminal(vmrun, text) as t:
        t.type('\x03')
        t.await_text(MENU)
        t.type('p\n')
        t.await_text(
            r'=proc:<0\.\d+\.0>\nState: \w+\nName: init\n',
            r'Name: main\n',
            r'Stack dump:\n',
            r'Return addr 0x\w+ \(program:(main|deep)/\d \+ \d+\)',
        )
        t.type('i\n')
        t.await_text(r'=memory\ntotal: \d+\n', r'=scheduler:2\n', r'Processes: \d+\n')
        t.type('l\n')
        t.await_text(r'Current code: \d+\n', '=mod:init\n')
        t.type('v\n')
        t.await_text('vmrun .*OTP')
        t.type('D\n')
        t.await_text('Name: some_table\n')
        t.type('d\n')
        t.await_text("=node:'nonode@nohost'\n=no_distribution\n")
        t.type('?\n')
        t.await_text(MENU)
        t.type('c\n')
        t.type('a line\n')
        t.await_text('going on\n')
        t.type('\x03')
        t.await_text(MENU)
        t.type('a\n')
        if t.status() != 0:
            raise Failure('abort does not end with 0')
    with terminal(vmrun, WAITS) as t:
        t.type('\x03')
        t.await_text(MENU)
        t.type('\x03')
        if t.status() != 0:
            raise Failure('a second interrupt does not end with 0')
    with terminal(vmrun, WAITS) as t:
        t.type('\x03')
        t.await_text(MENU)
        t.type('A\n')
        t.await_text('Crash dump is being written to: erl_crash.dump...done\n')
        if t.status() != -signal.SIGABRT:
            raise Failure('abort with a dump does not abort')
        expect(
            (pathlib.Path(t.folder) / 'erl_crash.dump').read_text(), '^Slogan: Crash dump requested by user$'
        )


def kill_from_menu(vmrun):
    """Processes are shown one by one; the one that is killed ends when the machine goes on, the others
    live."""
    text = '''
main() ->
    Pids = [spawn(fun() -> register(Name, self()), receive never -> ok end end)
        || Name <- [one, victim, three]],
    Refs = [monitor(process, P) || P <- Pids],
    io:format("ready~n"),
    receive {'DOWN', _, process, P, Why} -> io:format("~p ~p~n", [P =:= lists:nth(2, Pids), Why]) end,
    io:format("~p left~n", [length([P || P <- Pids, is_process_alive(P)])]),
    receive never -> Refs end.
'''
    with terminal(vmrun, text) as t:
        t.type('\x03')
        t.await_text(MENU)
        t.type('k\n')
        prompt = r'\(k\)ill \(n\)ext \(r\)eturn:\n'
        for _ in range(100):
            while not (found := re.search(prompt, t.text)):
                if not t.read(PATIENCE_S):
                    raise Failure(t.text)
            shown, t.text = t.text[: found.start()], t.text[found.end() :]
            if 'Name: victim\n' in shown:
                break
            t.type('n\n')
        t.type('k\n')
        t.await_text(prompt)
        t.type('r\n')
        t.type('c\n')
        t.await_text('true killed\n', '2 left\n')


def input_after_menu(vmrun):
    """What is typed while the menu is shown is the menu's, before and after it is the program's, which waits
    for input meanwhile."""
    with terminal(
        vmrun,
        'main() -> io:format("ready~n"), loop(). loop() -> io:format("got ~p~n", [io:get_line("")]), loop().',
    ) as t:
        t.type('one\n')
        t.await_text(r'got "one\\n"\n')
        for _ in range(3):
            t.type('\x03')
            t.await_text(MENU)
            t.type('v\n')
            t.await_text('vmrun .*OTP')
            t.type('c\n')
            t.type('two\n')
            t.await_text(r'got "two\\n"\n')
