# SPDX-License-Identifier: Apache-2.0
"""vmrun as a command among others: descriptors that are closed or full, signals, memory that ends. Each
program must end by itself, with the status and the words that the documents promise."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.native import compile_library, need_c_compiler
from harness.results import Failure, Skip, Test
from harness.sanitizers import sanitizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 120  # none takes more than seconds: for what would never end


class Ended:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def expect(self, status, *, out=None, err=()):
        """out: all of it; err: regular expressions for parts, in order."""
        wrong = [f'status {self.status}, not {status}'] if self.status != status else []
        if out is not None and self.out != out:
            wrong.append(f'output is not {out!r}')
        at = 0
        for part in err:
            found = re.compile(part).search(self.err, at)
            if not found:
                wrong.append(f'standard error lacks {part!r}')
                break
            at = found.end()
        if wrong:
            raise Failure(
                '\n'.join([*wrong, f'output: {self.out[:1500]!r}', f'standard error: {self.err[:1500]!r}'])
            )
        return self


def run(vmrun, text, *flags, arguments=(), shell='"$@"', environment=None):
    """Runs a program given as text. `shell` is the command line around it, where "$@" stands for vmrun with
    all it is given."""
    if 'ulimit -v' in shell and sanitizer(vmrun):
        raise Skip("a sanitizer's shadow memory needs more addresses than the limit leaves")
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        script = pathlib.Path(folder) / 'program.act'
        script.write_text(text)
        command = [
            'bash',
            '-c',
            shell,
            'bash',
            os.path.abspath(vmrun),
            '+S',
            '2',
            *flags,
            str(script),
            *arguments,
        ]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors='replace',
                timeout=PATIENCE_S,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                env=dict(ENVIRONMENT, **(environment or {})),
            )
        except subprocess.TimeoutExpired as late:
            raise Failure(
                f'no end after {PATIENCE_S} s; standard error: {(late.stderr or b"")[-1000:]!r}'
            ) from None
        return Ended(done.returncode, done.stdout, done.stderr)


@functools.cache
def native_folder():
    """test/native's libraries `meeting` and `bad_term` and their modules, compiled, in a folder of their own
    that lives as long as the run."""
    need_c_compiler()
    folder = tempfile.TemporaryDirectory(prefix='vmrun-command-native-')
    for name in ('meeting', 'bad_term'):
        compile_library(
            ROOT / 'vm/include', ROOT / f'test/native/{name}.c', pathlib.Path(folder.name, f'{name}.so')
        )
        shutil.copy(ROOT / f'test/native/{name}.erl', folder.name)
    return folder


def native_flags():
    """Flags and environment of a program that calls `meeting`."""
    return ['-pa', native_folder().name], {'NATIVE_DIR': native_folder().name}


# Small programs that between them allocate in most places, and what they print.
ALLOCATING = {
    'messages and tables': (
        '''
main() ->
    Self = self(),
    Big = binary:copy(<<"x">>, 1000),
    Pids = [spawn(fun() -> receive {From, X} -> From ! {self(), [X, X]} end end) || _ <- lists:seq(1, 5)],
    [P ! {Self, Big} || P <- Pids],
    [receive {P, [_, _]} -> ok end || P <- Pids],
    T = ets:new(t, []),
    [ets:insert(T, {N, integer_to_list(N)}) || N <- lists:seq(1, 300)],
    io:format("~p~n", [{ets:info(T, size), maps:size(maps:from_list([{N, N} || N <- lists:seq(1, 100)]))}]).
''',
        '{300,100}\n',
    ),
    'texts and numbers': (
        '''
main() ->
    N = lists:foldl(fun(X, A) -> X * A end, 1, lists:seq(1, 2000)),
    B = iolist_to_binary([integer_to_list(N), term_to_binary({N, a})]),
    {match, _} = re:run(B, "1+2"),
    persistent_term:put(key, [B]),
    Parts = binary:split(zlib_free(B), <<"0">>, [global]),
    io:format("~p~n", [{byte_size(B), length(Parts)}]).
zlib_free(B) -> list_to_binary(binary_to_list(B)).
''',
        None,
    ),
}


def tests(build, vmrun):
    # which use what stands here
    from . import (
        command_line,
        compiler,
        hardening,
        installed_system,
        os_signals,
        otp_commands,
        perf_files,
        socket_natives,
        terminal,
        terminal_natives,
        transforms,
        zstd_natives,
    )

    return (
        [
            Test('command', name, lambda case=case: case(vmrun))
            for name, case in [
                ('a failing main without standard error', failing_main_unheard),
                ('reports with standard error closed or full', reports_unheard),
                ('init killed', init_killed),
                ('standard input closed', closed_input),
                ('standard output closed or full', closed_output),
                ('descriptors of the standard files stay theirs', standard_descriptors),
                ('no descriptor is left', no_descriptor),
                ('no descriptor is left: a crash dump', dump_without_descriptor),
                ('no descriptor is left: os:cmd', command_without_descriptor),
                ('no descriptor is left: names and code', names_without_descriptor),
                ('how main ends', main_ends),
                ('folders of modules', module_folders),
                ('modules of its own in place of applications', own_applications),
                ("terms read by an installed OTP's io_lib", terms_by_another_io_lib),
                ('what is open when it is stopped', open_when_stopped),
                ('the atom table full', atoms_full),
                ('the atom table full, uncaught', atoms_full_uncaught),
                ('the atom table too small for the program', atoms_for_program),
                ('the time offset by the mode of time warps', time_warp),
                ('the number of tables that the environment and the flag name', limit_of_tables),
                ('sizes beyond memory', sizes_beyond_memory),
                ('all threads that can be asked for', all_threads),
                ('processors that may be used', affinity),
                ('memory exhausted', memory_exhausted),
                ('memory exhausted while starting', memory_exhausted_at_start),
                *[
                    (
                        f'the n-th allocation fails: {name}',
                        functools.partial(nth_allocation_fails, text=text, out=out),
                    )
                    for name, (text, out) in ALLOCATING.items()
                ],
            ]
        ]
        + command_line.tests(vmrun)
        + compiler.tests(build, vmrun)
        + hardening.tests(build, vmrun)
        + os_signals.tests(vmrun)
        + installed_system.tests(vmrun)
        + otp_commands.tests(build)
        + perf_files.tests(vmrun)
        + transforms.tests(vmrun)
        + terminal.tests(build)
        + terminal_natives.tests(vmrun)
        + socket_natives.tests(vmrun)
        + zstd_natives.tests(vmrun)
    )


def failing_main_unheard(vmrun):
    for shell in (
        'exec "$@" 2>&-',
        'exec "$@" 2>/dev/full',
        '"$@" 2> >(exit 0)',
        'exec "$@" >&- 2>&-',
        'exec "$@" <&- >&- 2>&-',
    ):
        for text in (
            'main() -> error(oops).',
            'main() -> exit(oops).',
            'main() -> throw(oops).',
            'main() -> exit(self(), kill), receive after infinity -> ok end.',
        ):
            run(vmrun, text, shell=shell).expect(1)


def reports_unheard(vmrun):
    text = '''
main([Told]) ->
    {_, Ref} = spawn_monitor(fun() -> error(oops) end),
    receive {'DOWN', Ref, _, _, {oops, _}} -> ok end,
    logger:error("a report"),
    case catch io:format(standard_error, "text", []) of
        ok -> "ok" = Told;
        {'EXIT', {terminated, [{io, format, [standard_error, "text", []], _} | _]}} -> "terminated" = Told
    end,
    [default] = logger:get_handler_ids().
'''
    for shell, told in (('exec "$@" 2>&-', 'ok'), ('exec "$@" 2>/dev/full', 'terminated')):
        run(vmrun, text, arguments=[told], shell=shell).expect(0)


def module_folders(vmrun):
    """The last -pa comes first, as with erl; a module there that stands in for one of the library may be too
    little for it."""
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        for name, module, text in (
            ('one', 'where', 'here() -> one.'),
            ('two', 'where', 'here() -> two.'),
            ('lists', 'lists', 'here() -> x.'),
        ):
            (pathlib.Path(folder) / name).mkdir()
            (pathlib.Path(folder) / name / f'{module}.erl').write_text(
                f'-module({module}).\n-export([here/0]).\n{text}\n'
            )
        paths = [part for name in ('one', 'two') for part in ('-pa', f'{folder}/{name}')]
        run(vmrun, 'main() -> io:format("~p~n", [where:here()]).', *paths).expect(0, out='two\n')
        run(vmrun, 'main() -> io:format("~p~n", [lists:reverse([1])]).', '-pa', f'{folder}/lists').expect(
            1, err=['^vmrun: exception error, not reported since lists:[a-z]+/[0-9] is undefined\n$']
        )


def terms_by_another_io_lib(vmrun):
    """A file's server calls the io_lib that is in force. What that keeps between two lines differs by
    release, and is told where a character is no UTF-8."""
    ebins = list(pathlib.Path('/usr/lib/erlang/lib').glob('stdlib-*/ebin'))
    if not ebins:
        raise Skip('no stdlib of OTP in /usr/lib/erlang')
    text = r'''main([Good, Bad]) ->
        "io_lib.beam" = filename:basename(code:which(io_lib)),
        [io:format("~p~n", [file:consult(File)]) || File <- [Good, Bad]].'''
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        good, bad = (pathlib.Path(folder) / name for name in ('good', 'bad'))
        good.write_text('{a,\n1}.\n[b].\n')
        bad.write_bytes(b'{a,\n"\xff"}.\n')
        run(vmrun, text, '-pa', str(ebins[0]), arguments=[str(good), str(bad)]).expect(
            0, out='{ok,[{a,1},[b]]}\n{error,{2,file_io_server,invalid_unicode}}\n'
        )


def own_applications(vmrun):
    """The others are there all the same; without application there are none, and nobody waits."""
    text = (
        '-module(MODULE).\n-export([own/0, main/0]).\nown() -> own.\n'
        'main() -> io:format("~p ~p~n", [MODULE:own(), element(1, catch dets:open_file(x, [{file, '
        '"x"}]))]).\n'
    )
    for module, opened in (('global', 'ok'), ('application', "'EXIT'")):
        with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
            (pathlib.Path(folder) / f'{module}.act').write_text(text.replace('MODULE', module))
            run(vmrun, f'main() -> {module}:main().', '-pa', folder).expect(0, out=f'own {opened}\n')


def open_when_stopped(vmrun):
    """A table and a log on the disk are written and closed, as OTP's own system does; so they are after
    SIGTERM."""
    write = '''
main([Table, Log]) ->
    {ok, t} = dets:open_file(t, [{file, Table}]),
    {ok, l} = disk_log:open([{name, l}, {file, Log}]),
    [ok = dets:insert(t, {N, N}) || N <- lists:seq(1, 1000)],
    [ok = disk_log:alog(l, N) || N <- lists:seq(1, 1000)],
    STOP,
    receive never -> ok end.
'''
    read = '''
main([Table, Log]) ->
    {ok, t} = dets:open_file(t, [{file, Table}, {repair, false}]),
    {ok, l} = disk_log:open([{name, l}, {file, Log}, {repair, false}]),
    {_, Terms} = disk_log:chunk(l, start),
    io:format("~p ~p~n", [dets:info(t, size), length(Terms)]).
'''
    for stop in ('init:stop()', 'os:cmd("kill -TERM " ++ os:getpid())'):
        with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
            files = [f'{folder}/table', f'{folder}/log']
            run(vmrun, write.replace('STOP', stop), arguments=files).expect(0)
            run(vmrun, read, arguments=files).expect(0, out='1000 1000\n')


def init_killed(vmrun):
    wait = ', receive after infinity -> ok end.'
    run(vmrun, f'main() -> exit(whereis(init), kill){wait}').expect(
        1, err=[r'^System process <0\.\d+\.0> terminated: killed\n']
    )
    run(vmrun, f'main() -> spawn(fun() -> link(whereis(init)), exit(whereis(init), kill) end){wait}').expect(
        1
    )
    run(vmrun, f'main() -> exit(whereis(init), kill){wait}', shell='exec "$@" 2>&-').expect(1)
    dump = 'ERL_CRASH_DUMP=dump ERL_CRASH_DUMP_SECONDS=-1 "$@"; status=$?; sed -n 3p dump; exit $status'
    run(vmrun, f'main() -> exit(whereis(init), kill){wait}', shell=dump).expect(
        1, out='Slogan: System process <0.0.0> terminated: killed\n'
    )


def closed_input(vmrun):
    text = 'main() -> io:format("~p ~p~n", [io:get_line(""), io:get_chars("", 3)]).'
    run(vmrun, text, shell='exec "$@" <&-').expect(0, out='eof eof\n')


def closed_output(vmrun):
    """A write that fails says so once, in words that fit, and not with all that should have been written."""
    text = 'main() -> io:format("~s~n", [lists:duplicate(5000000, $x)]).'
    run(vmrun, text, shell='exec "$@" >&-').expect(0, err=['^$'])  # as into /dev/null
    for shell in ('exec "$@" >/dev/full', '"$@" > >(exit 0)'):
        ended = run(vmrun, text, shell=shell).expect(
            1, err=['vmrun: exception error: terminated', 'io:format/2', 'the device has terminated']
        )
        if len(ended.err) > 5000 or 'failed to format' in ended.err:
            raise Failure(f'{len(ended.err)} bytes: {ended.err[:1000]}')


def standard_descriptors(vmrun):
    """A file that is opened never gets the number of a standard file; what is written to a closed one goes
    nowhere."""
    text = '''
main() ->
    {ok, File} = file:open("opened", [write, raw]),
    ok = io:format("to nobody~n"),
    ok = io:format(standard_error, "to nobody~n", []),
    eof = io:get_line(""),
    ok = file:write(File, "own"),
    ok = file:close(File),
    {ok, <<"own">>} = file:read_file("opened").
'''
    run(vmrun, text, shell='exec "$@" <&- >&- 2>&-').expect(0)


def dump_without_descriptor(vmrun):
    """A crash dump is written when all descriptors are taken."""
    text = '''
main() -> take([]).
take(Files) -> case file:open("/etc/passwd", [read, raw]) of {ok, File} -> take([File | Files]);
    {error, emfile} -> halt("all taken") end.
'''
    with tempfile.TemporaryDirectory(prefix='vmrun-command-') as folder:
        path = pathlib.Path(folder) / 'dump'
        run(
            vmrun,
            text,
            shell='ulimit -n 60; exec "$@"',
            environment={'ERL_CRASH_DUMP': str(path), 'ERL_CRASH_DUMP_SECONDS': ''},
        ).expect(1, err=['done\n'])
        dump = path.read_text(errors='replace')
    if 'Slogan: all taken\n' not in dump or not dump.endswith('=end\n'):
        raise Failure(f'{dump[:300]!r} ... {dump[-300:]!r}')


def command_without_descriptor(vmrun):
    """os:cmd then fails as OTP's does, and nothing is reported; later it works."""
    text = '''
main() ->
    "once\n" = os:cmd("echo once"),
    Files = take([]),
    {'EXIT', {badarg, [{os, cmd, ["echo no"], Location} | _]}} = (catch os:cmd("echo no")),
    {error_info, #{cause := {open_port, emfile}, module := erl_kernel_errors}} = lists:keyfind(error_info, 1,
        Location),
    [file:close(F) || F <- Files],
    io:format("~s", [os:cmd("echo again")]).
take(Files) -> case file:open("/etc/passwd", [read, raw]) of {ok, File} -> take([File | Files]);
    {error, emfile} -> Files end.
'''
    run(vmrun, text, shell='ulimit -n 60; exec "$@"').expect(0, out='again\n', err=['^$'])


def names_without_descriptor(vmrun):
    """Names are resolved when all descriptors are taken, if one has been before; code that cannot be read
    then is only undef."""
    text = '''
main() ->
    ok = localhost(),
    Files = take([]),
    io:format("~p ~p~n", [localhost(), localhost()]),
    {error, nofile} = code:ensure_loaded(digraph),
    undef = try digraph:new() catch error:Reason -> Reason end,
    [file:close(File) || File <- Files],
    io:format("~p ~p~n", [localhost(), is_tuple(digraph:new())]).
localhost() ->
    case {inet:getaddr("localhost", inet), inet:gethostbyaddr({127, 0, 0, 1})} of
        {{ok, {127, 0, 0, 1}}, {ok, _}} -> ok;
        Other -> Other
    end.
take(Files) -> case file:open("/etc/passwd", [read, raw]) of {ok, File} -> take([File | Files]);
    {error, emfile} -> Files end.
'''
    run(vmrun, text, shell='ulimit -n 60; exec "$@"').expect(0, out='ok ok\nok true\n', err=['^$'])


def main_ends(vmrun):
    for text in ('main() -> whatever.', 'main() -> exit(normal).'):
        run(vmrun, text).expect(0, out='', err=[r'^$'])
    for reason in ('shutdown', '{shutdown, worker_done}', 'oops'):
        run(vmrun, f'main() -> inner(), ok.\ninner() -> exit({reason}).').expect(
            1,
            err=[
                r'^vmrun: exception exit: ' + re.escape(reason.replace(' ', '')),
                r'in function  program:inner/0 \(.*program\.act, line 2\)',
                r'in call from program:main/0 \(.*program\.act, line 1\)',
            ],
        )
    run(vmrun, 'main() -> exit(self(), kill), receive after infinity -> ok end.').expect(
        1, err=['^vmrun: exception exit: killed\n$']
    )


FILL_ATOMS = '''
fill(N) -> list_to_atom("atom number " ++ integer_to_list(N)), fill(N + 1).
'''


def atoms_full(vmrun):
    """Every way to a new atom says system_limit and leaves what is there in order; modules of the library
    still load, and compiling tells."""
    run(
        vmrun,
        FILL_ATOMS
        + '''
main([Folder]) ->
    error = try fill(0) catch error:system_limit -> error end,
    'atom number 17' = list_to_atom("atom number 17"),
    Full = fun(F) -> try F() of Value -> Value catch error:Reason -> Reason end end,
    Text = "never seen before",
    io:format("~p~n", [[Full(F) || F <- [
        fun() -> list_to_atom(Text) end,
        fun() -> binary_to_atom(list_to_binary(Text)) end,
        fun() -> list_to_existing_atom(Text) end,
        fun() -> binary_to_term(<<131, 119, 3, "neV">>) end,
        fun() -> element(1, erl_scan:string("never_seen_by_scanner.")) end]]]),
    io:format("~p ~p~n", [calendar:day_of_the_week(2024, 2, 29), sets:to_list(sets:from_list([{a, 1}]))]),
    ok = file:write_file(Folder ++ "/fresh.erl",
        "-module(fresh).\\n-export([f/0]).\\nf() -> an_atom_of_its_own.\\n"),
    io:format("~p~n", [Full(fun() -> fresh:f() end)]),
    {_, Ref} = spawn_monitor(fun() -> fill(0) end),
    receive {'DOWN', Ref, _, _, {system_limit, _}} -> io:format("and reported~n") end.
''',
        '+t',
        '8192',
        arguments=['.'],
    ).expect(
        0,
        out='[system_limit,system_limit,badarg,system_limit,system_limit]\n4 [{a,1}]\nundef\nand reported\n',
        err=['fresh.erl.*the atom table is full', 'Error in process <0.*with exit value:\n.*system_limit'],
    )


def atoms_full_uncaught(vmrun):
    run(vmrun, FILL_ATOMS + 'main() -> fill(0).', '+t', '8192').expect(
        1,
        out='',
        err=[
            '^vmrun: exception error: a system limit has been reached',
            'list_to_atom/1',
            'in call from program:fill/1',
        ],
    )


def atoms_for_program(vmrun):
    atoms = ', '.join(f'atom_{n}' for n in range(9000))
    run(vmrun, f'main() -> [{atoms}].', '+t', '8192').expect(1, out='', err=['the atom table is full'])
    run(vmrun, f'main() -> io:format("~p~n", [length([{atoms}])]).', '+t', '20000').expect(0, out='9000\n')
    run(vmrun, 'main() -> ok.', '+t', '8191').expect(2, err=['^vmrun: \\+t: expected a number from 8192 to'])
    for limit in ('9999', '67076096'):
        run(vmrun, 'main() -> io:format("~p~n", [erlang:system_info(atom_limit)]).', '+t', limit).expect(
            0, out=limit + '\n'
        )


def limit_of_tables(vmrun):
    for named, flags, limit in (
        ('20000', [], 20000),
        ('100', [], 8192),
        ('none', [], 8192),
        ('20000', ['+e', '10000'], 10000),
    ):
        run(
            vmrun,
            'main() -> io:format("~p~n", [erlang:system_info(ets_limit)]).',
            *flags,
            environment={**os.environ, 'ERL_MAX_ETS_TABLES': named},
        ).expect(0, out=f'{limit}\n')


def time_warp(vmrun):
    """The offset of the time is told of when it is finalized, which is once with one mode and never with the
    others."""
    text = """
main() ->
    [Kept, _Given] = Monitors = [erlang:monitor(time_offset, clock_service) || _ <- [1, 2]],
    erlang:demonitor(lists:last(Monitors)),
    Tagged = erlang:monitor(time_offset, clock_service, [{tag, told}]),
    {monitors, Shown} = process_info(self(), monitors),
    States = [erlang:system_info(time_warp_mode), erlang:system_info(time_offset) |
              [erlang:system_flag(time_offset, finalize) || _ <- [1, 2]]],
    Told = [receive {Tag, Ref, time_offset, clock_service, Offset} -> Offset =:= erlang:time_offset()
        after 0 -> none end
            || {Tag, Ref} <- [{'CHANGE', Kept}, {told, Tagged}]],
    receive Other -> io:format("~p~n", [Other]) after 0 -> ok end,
    Gone = [erlang:demonitor(Kept, [info]) || _ <- [1, 2]],
    io:format("~w ~w ~w ~w~n", [States, Told, Shown, Gone]).
"""
    for mode, states, told in (
        ('no_time_warp', 'final,final,final', 'none,none'),
        ('single_time_warp', 'preliminary,preliminary,final', 'true,true'),
        ('multi_time_warp', 'volatile,volatile,volatile', 'none,none'),
    ):
        run(vmrun, text, '+C', mode).expect(
            0,
            out=f'[{mode},{states}] [{told}] [{{time_offset,clock_service}},{{time_offset,clock_service}}] '
            '[true,false]\n',
        )
    tolerant = 'main() -> io:format("~w~n", [erlang:system_info(tolerant_timeofday)]).'
    for mode, correction, answer in (
        ('no_time_warp', 'true', 'enabled'),
        ('no_time_warp', 'false', 'disabled'),
        ('single_time_warp', 'true', 'disabled'),
        ('multi_time_warp', 'true', 'disabled'),
    ):
        run(vmrun, tolerant, '+C', mode, '+c', correction).expect(0, out=answer + '\n')
    run(vmrun, text, '+C', 'backwards').expect(2, err=[r'^vmrun: \+C: expected one of no_time_warp, '])


def affinity(vmrun):
    """As many schedulers are online as there are processors that may be used, unless a flag says how many."""
    text = (
        'main() -> io:format("~w~n", [[erlang:system_info(I) || I <- [logical_processors_available, '
        'schedulers, schedulers_online, dirty_cpu_schedulers_online]]]).'
    )
    one = f'taskset -c {min(os.sched_getaffinity(0))} "$@"'
    run(vmrun, text, shell=one).expect(0, out='[1,2,1,1]\n', err=['^$'])
    run(vmrun, text, '+S', '3:2', shell=one).expect(0, out=f'[1,3,2,{min(2, os.cpu_count())}]\n', err=['^$'])
    run(vmrun, text, '+S', ':-1', shell=one).expect(
        2, err=[r'^vmrun: \+S: there are 1 processors, not more than 1']
    )
    later = (
        'main() -> Asked = [update_cpu_info, logical_processors_available, update_cpu_info], '
        f'_ = os:cmd("taskset -p {1 << min(os.sched_getaffinity(0)):x} " ++ os:getpid()), '
        'io:format("~w~n", [[erlang:system_info(I) || I <- Asked]]).'
    )
    changed = 'changed' if len(os.sched_getaffinity(0)) > 1 else 'unchanged'
    run(vmrun, later).expect(0, out=f'[{changed},1,unchanged]\n', err=['^$'])


def all_threads(vmrun):
    """Every dirty scheduler runs a call at the same time, and every scheduler one that keeps it from all
    else. 1536 threads take less than 1 MiB each, so the allocator takes no huge pages for them."""
    flags, environment = native_flags()
    text = """
main() ->
    meeting:module_info(),
    Parent = self(),
    Meet = fun(Kind, N) ->
        Pids = [spawn(fun() -> Parent ! {self(), meeting:Kind(N, I)} end) || I <- lists:seq(1, N)],
        lists:sum([receive {P, I} -> I end || P <- Pids])
    end,
    io:format("~p ~p ~p~n", [Meet(dirty_cpu, 512), Meet(dirty_io, 512), Meet(on_scheduler, 500)]),
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [KiB]} = re:run(Status, "VmHWM:[^0-9]*([0-9]+)", [{capture, [1], list}]),
    io:format("~p~n", [list_to_integer(KiB) < 1536 * 1024]).
"""
    run(
        vmrun, text, '+S', '512:512', '+SDcpu', '512:512', '+SDio', '512', *flags, environment=environment
    ).expect(0, out=f'{512 * 513 // 2} {512 * 513 // 2} {500 * 501 // 2}\ntrue\n', err=['^$'])
    for flag in ('+S', '+SDcpu', '+SDio', '+A'):
        run(vmrun, text, flag, '1025').expect(
            2, err=[rf'^vmrun: \{flag}: expected a number from [01] to 1024']
        )


OUT_OF_MEMORY = r'^vmrun: out of memory: cannot allocate \d+ bytes for [a-z]'


def no_descriptor(vmrun):
    """Whoever needs one is told; what is there goes on; and once some are closed new ones are to be had, also
    by who waits for connections."""
    run(
        vmrun,
        """
main() ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}, {backlog, 200}]),
    {ok, Port} = inet:port(L),
    Connect = fun() -> gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]) end,
    Clients = until_error(Connect, []),
    io:format("~w~n", [[gen_tcp:accept(L), gen_tcp:listen(0, []), gen_udp:open(0),
        file:read_file("/etc/passwd")]]),
    [ok = gen_tcp:close(C) || C <- tl(Clients)],
    accept(L, length(Clients)),
    {ok, _} = Connect(),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(S, "here"),
    io:format("~p~n", [length(Clients) > 10]).
until_error(Connect, Cs) ->
    case Connect() of
        {ok, C} -> until_error(Connect, [C | Cs]);
        Error -> io:format("~p~n", [Error]), Cs
    end.
accept(_, 0) -> ok;
accept(L, N) ->
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:close(S),
    accept(L, N - 1).
""",
        shell='ulimit -n 60; exec "$@"',
    ).expect(0, out='{error,emfile}\n[' + ','.join(['{error,emfile}'] * 4) + ']\ntrue\n')


def sizes_beyond_memory(vmrun):
    """What no machine has is system_limit, as OTP says."""
    calls = [
        'atomics:new((1 bsl 36) - 1, [])',
        'atomics:new(1 bsl 59, [])',
        'atomics:new(1 bsl 62, [])',
        'counters:new(1 bsl 36, [])',
        'counters:new((1 bsl 36) - 1, [write_concurrency])',
        '<<0:(N bsl 40)>>',
        '<<0:(N bsl 60)>>',
        '<<0:(N bsl 70)>>',
        'binary:copy(<<"abc">>, 1 bsl 40)',
        'binary:copy(<<"abc">>, 1 bsl 58)',
        'N bsl (1 bsl 40)',
        'N bsl (1 bsl 70)',
        'lists:duplicate(N bsl 40, x)',
        'lists:duplicate(N bsl 70, x)',
        'lists:seq(1, N bsl 40)',
        'lists:seq(-(N bsl 70), 1)',
        'lists:seq(1, N bsl 40, 7)',
        'lists:seq(N bsl 70, 1, -1)',
        'lists:duplicate(1 bsl 30, x)',
    ]
    funs = ', '.join(f'fun() -> {call} end' for call in calls)
    # More than the limit, but less than a machine may lend: what it says must not depend on how much it would
    # lend.
    run(
        vmrun,
        f'main() -> N = length(init:get_plain_arguments()), '
        f'io:format("~w~n", [lists:usort([try F() of _ -> made catch error:R -> R end || F <- [{funs}]])]).',
        arguments=['1'],
        shell='ulimit -v 8000000; exec "$@"',
    ).expect(0, out='[system_limit]\n', err=['^$'])


def memory_exhausted(vmrun):
    limited = 'ulimit -v 2000000; exec "$@"'
    for text in (
        'main() -> grow(0). grow(N) -> [N | grow(N + 1)].',
        'main() -> grow([]). grow(L) -> grow([L, L | L]).',
        'main() -> T = ets:new(t, []), fill(T, 0). fill(T, N) -> ets:insert(T, {N, lists:duplicate(1000, '
        'N)}), fill(T, N + 1).',
        'main() -> keep([]). keep(L) -> keep([<<0:800000000>> | L]).',
        'main() -> put_terms(1). put_terms(N) -> persistent_term:put(N, lists:seq(1, 1000000)), put_terms(N '
        '+ 1).',
        'main() -> P = spawn(fun() -> receive never -> ok end end), flood(P, lists:seq(1, 100000)).\n'
        'flood(P, L) -> P ! L, flood(P, L).',
    ):
        ended = run(vmrun, text, shell=limited)
        if 'exception error: a system limit' not in ended.err:  # a binary that is not to be had
            ended.expect(1, out='', err=[OUT_OF_MEMORY + '.*\n$'])


def memory_exhausted_at_start(vmrun):
    """With ever less memory to start with: it works, or says why not. Compiling a large program likewise."""
    clauses = '\n'.join(f'f({n}) -> [X || X <- lists:seq(1, {n}), X rem 7 =:= {n % 7}];' for n in range(2000))
    large = f'-export([f/1]).\nmain() -> ok.\n{clauses}\nf(_) -> [].'
    sizes = (3000000, 1500000, 1250000, 1200000, 1150000, 1100000, 600000, 300000, 100000)
    # Where threads start that find no memory for what they begin with.
    for text, limits in (('main() -> ok.', (*sizes, *range(1470000, 1600000, 10000))), (large, sizes)):
        for kilobytes in limits:
            ended = run(vmrun, text, shell=f'ulimit -v {kilobytes}; exec "$@"')
            if ended.status != 0:
                ended.expect(1, err=[OUT_OF_MEMORY + '|^vmrun: cannot start the thread'])
                if ended.err.count('vmrun: ') != 1:
                    raise Failure(f'{kilobytes}: more than one line: {ended.err!r}')


def nth_allocation_fails(vmrun, text, out):
    """Whichever fails, the output is right, or the end is one that is told: never a signal, never silence."""
    whole = run(vmrun, text).expect(0)
    if out is not None:
        whole.expect(0, out=out)
    at, ends = 1, 0
    while True:
        ended = run(vmrun, text, '+fail-alloc', str(at))
        if ended.status == 0:
            ended.expect(0, out=whole.out)
        else:
            ended.expect(
                1,
                err=[
                    OUT_OF_MEMORY
                    + '|^vmrun: cannot start the thread|^vmrun: exception|^Error in process|^=ERROR REPORT'
                ],
            )
            ends += 1
        step = max(1, at // 25)  # closely at first, later every twenty-fifth
        at += step
        if at > 40000:
            break
    if ends < 50:
        raise Failure(f'only {ends} ends')
