# SPDX-License-Identifier: Apache-2.0
"""Nodes started by other nodes, through `peer` and `slave`: vmrun as what they start, and as who starts; and
the flags that run something without a script, as erl has them."""
import functools
import os
import pathlib

from harness.golden import ENVIRONMENT, run_program
from harness.results import Failure, Test
from nodes.cluster import Cluster, patience_s


def tests(vmrun):
    return [
        Test('nodes', name, functools.partial(function, os.path.abspath(vmrun)))
        for name, function in (
            ('without a script', without_script),
            ('in the background', detached),
            ('peer: erl starts ours', lambda v: peers(v, 'erl', v)),
            ('peer: ours starts ours', lambda v: peers(v, 'vmrun', v)),
            ('peer: ours starts erl', lambda v: peers(v, 'vmrun', 'erl')),
            ('slave', slave),
        )
    ]


def printed(vmrun, *words, status=0):
    got, out, err = run_program([vmrun, *words], '', patience_s(), env=ENVIRONMENT)
    if got != status:
        raise Failure(f'{words}: status {got}, not {status}\n{out}{err}')
    return (out if status == 0 else err).splitlines()


def same(got, wanted):
    if got != wanted:
        raise Failure(f'got    {got}\nwanted {wanted}')


def without_script(vmrun):
    same(
        printed(
            vmrun,
            '-noinput',
            '-eval',
            'X = 1 + 2, io:format("~p~n", [X])',
            '-pa',
            '/tmp',
            '/usr',
            '-mine',
            'a',
            'b',
            '-s',
            'init',
            'stop',
        ),
        ['3'],
    )
    same(
        printed(
            vmrun,
            '-noinput',
            '-eval',
            'io:format("~p ~p ~p~n", [init:get_status(), init:get_argument(mine), '
            'init:get_plain_arguments()]), halt(0).',
            '-mine',
            'a',
            'b',
            '-env',
            'OF_MINE',
            'c',
            '-mine',
            '--',
            'd',
            '-eval',
            'exit(late)',
            '-extra',
            '-e',
        ),
        ['{starting,started} {ok,[["a","b"],[]]} ["d","-e"]'],
    )
    same(
        printed(
            vmrun,
            '-noinput',
            '-env',
            'OF_MINE',
            'c',
            '-eval',
            'io:format("~s~n", [os:getenv("OF_MINE")]), halt(0)',
        ),
        ['c'],
    )
    same(
        printed(
            vmrun,
            '-noinput',
            '-eval',
            'io:format("~p~n", [lists:sublist(code:get_path(), 3)]), halt(0)',
            '-pa',
            '/tmp',
            '/usr',
        ),
        ['["/usr","/tmp","."]'],
    )
    same(printed(vmrun, '-noinput', '-run', 'io', 'put_chars', 'said', '-run', 'init', 'stop'), ['said'])
    until = (
        'spawn(fun() -> (fun W() -> case init:get_status() of {started, _} -> init:stop(); _ -> W() '
        'end end)() end)'
    )
    same(
        printed(
            vmrun, '-noinput', '-eval', f'io:format("~p~n", [init:notify_when_started(self())]), {until}'
        ),
        ['started'],
    )
    same(printed(vmrun, '-noinput', '-eval', 'exit(enough)', status=1)[0], 'vmrun: exception exit: enough')
    same(
        printed(vmrun, '-noinput', '-eval', '1 +', status=1)[0],
        '-eval:1:4: error: unexpected end of the expressions: expected an expression',
    )
    told = 'io:format("~0p ~0p~n", [init:get_argument(kernel), init:get_argument(setcookie)]), halt(0)'
    same(
        printed(
            vmrun,
            '-noinput',
            '-setcookie',
            'se@cret',
            '-kernel',
            'inet_dist_listen_min',
            '9100',
            'check_ip',
            'true',
            '-kernel',
            'net_ticktime',
            '9',
            '-setcookie',
            'a@b',
            'c',
            '-eval',
            told,
        ),
        [
            '{ok,[["inet_dist_listen_min","9100","check_ip","true"],["net_ticktime","9"]]} '
            '{ok,[["se@cret"],["a@b","c"]]}'
        ],
    )
    same(
        printed(vmrun, '-mine', 'a', status=2)[0],
        "vmrun: unknown flag '-mine'; what is for the program stands behind its name",
    )


def detached(vmrun):
    """The command ends at once; what it has started goes on."""
    with Cluster(vmrun) as cluster:
        meeting = (
            'register(meeting, self()), receive {there, Pid} -> ok end, io:format("~p~n", '
            '[rpc:call(node(Pid), os, getpid, []) =/= os:getpid()]), Pid ! leave'
        )
        node = cluster.evaluate('vmrun', 'host', meeting + ', halt(0)')
        there = f'{{meeting, \'{node.full}\'}} ! {{there, self()}}, receive leave -> halt() end'
        command = [
            vmrun,
            *cluster.flags('away'),
            '-detached',
            '-eval',
            f"(fun W() -> case rpc:call('{node.full}', erlang, whereis, [meeting]) of P when is_pid(P) -> "
            f"ok; _ -> W() end end)(), {there}",
        ]
        same(run_program(command, '', patience_s(), env=cluster.environment), (0, '', ''))
        node.wait_for('true')
        same(node.end()[0], 0)


def peers(vmrun, who, what):
    """Each kind of connection: by the distribution, by TCP, by standard files; input and output go to who has
    started it."""
    with Cluster(vmrun) as cluster:
        node = cluster.evaluate(
            who,
            'starter',
            f'''
            Exec = {'os:find_executable("erl")' if what == 'erl' else f'"{what}"'},
            Cookie = ["-setcookie", "{cluster.cookie}"],
            lists:foreach(fun({{Name, Options}}) ->
                {{ok, Pid, Node}} = peer:start(Options#{{exec => Exec, args => Cookie}}),
                Call = fun(M, F, A) -> case Options of #{{connection := _}} -> peer:call(Pid, M, F, A); _ ->
                    erpc:call(Node, M, F, A) end end,
                Node = Call(erlang, node, []),
                10 = Call(lists, sum, [[1, 2, 3, 4]]),
                ok = Call(io, format, ["~s is there~n", [Name]]),
                {{exception, badarith}} = try Call(erlang, '+', [a, 1]) catch error:badarith ->
                    {{exception, badarith}}; error:{{exception, E, _}} -> {{exception, E}} end,
                ok = peer:stop(Pid)
            end, [{{"distribution", #{{name => by_dist, host => "localhost"}}}},
                {{"tcp", #{{connection => 0}}}},
                {{"named tcp", #{{connection => 0, name => by_tcp, host => "localhost"}}}},
                  {{"standard_io", #{{connection => standard_io}}}}]),
            {{ok, Last, LastNode}} = peer:start_link(#{{exec => Exec, connection => standard_io,
                peer_down => continue, args => Cookie}}),
            peer:cast(Last, erlang, halt, []),
            (fun W() -> case peer:get_state(Last) of running -> receive after 10 -> W() end; {{down, _}} ->
                ok end end)(),
            io:format("all ended ~p~n", [LastNode]), halt(0)''',
        )
        status, text = node.end()
        wanted = [
            'distribution is there',
            'tcp is there',
            'named tcp is there',
            'standard_io is there',
            'all ended nonode@nohost',
        ]
        same((status, [line for line in text.splitlines() if line in wanted]), (0, wanted))


def slave(vmrun):
    """The older way: by -master and -s, program and cookie known from the one who starts."""
    with Cluster(vmrun) as cluster:
        (pathlib.Path(cluster.folder) / '.erlang.cookie').write_text(cluster.cookie)
        (pathlib.Path(cluster.folder) / '.erlang.cookie').chmod(0o400)
        node = cluster.evaluate(
            'vmrun',
            'master',
            '''
            Slave = slave,  % deprecated, says the compiler
            {ok, Node} = Slave:start_link(localhost, worker, "-mine yes"),
            {ok, [["yes"]]} = rpc:call(Node, init, get_argument, [mine]),
            rpc:call(Node, io, format, ["~p~n", [Node]]),
            {error, {already_running, Node}} = Slave:start(localhost, worker),
            monitor_node(Node, true),
            ok = Slave:stop(Node),
            receive {nodedown, Node} -> halt(0) end''',
        )
        same(node.end(), (0, 'worker@localhost\n'))
