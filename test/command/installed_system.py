"""OTP's own system, where one is installed, run by a link to vmrun named erl: each expression's output is a stock erl's."""
import os
import pathlib
import shutil
import tempfile

from harness.golden import run_program
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

# What is asked of both machines: (what it is about, expression).
ASKED = [
    ('its kernel', 'io:format("~p~n", [[A || {A, _, _} <- application:which_applications()]])'),
    ('the compiler',
     'Forms = [{attribute,1,module,m}, {attribute,1,export,[{f,0}]}, {function,1,f,0,[{clause,1,[],[],[{integer,1,7}]}]}], '
     '{ok, m, Code} = compile:forms(Forms, []), {module, m} = code:load_binary(m, "m.beam", Code), io:format("~p~n", [m:f()])'),
    ('its release', 'io:format("~p~n", [[erlang:system_info(K) || K <- [otp_release, version]]])'),
    ('application', 'application:set_env(kernel, some_key, [1, 2]), io:format("~p~n", [application:get_env(kernel, some_key)])'),
    ('fun2ms in an expression', 'io:format("~p~n", [ets:fun2ms(fun({A, B}) when A > 1 -> B end)])'),
    ('commands', 'io:format("~p~n", [os:cmd("echo from a shell")])'),
    ('dbg',
     'Me = self(), {ok, _} = dbg:tracer(process, {fun(E, _) -> Me ! {traced, setelement(2, E, me)} end, none}), {ok, _} = dbg:p(self(), [c]), '
     'Next = fun() -> receive {traced, E} -> io:format("~p~n", [E]) end end, '
     'io:format("~p~n", [dbg:tpl(lists, seq, x)]), lists:seq(1, 3), Next(), Next(), catch lists:seq(a, 3), Next(), Next(), '
     'io:format("~p~n~p~n", [dbg:ctpl(lists, seq), dbg:tp(lists, seq, [{[1, \'_\'], [], [{message, {get_tcw}}]}])]), '
     'lists:seq(2, 3), lists:seq(1, 3), Next(), '
     'io:format("~p~n", [dbg:tp(lists, seq, [{[1 | a], [], []}, b])]), dbg:ltp(), io:format("~p ~p~n", [dbg:stop_clear(), erlang:trace_info({lists, seq, 2}, traced)])'),
    ('net', 'io:format("~p~n", [[net:gethostname(), net:if_names(), net:if_name2index("lo"), net:getaddrinfo("localhost"), net:getifaddrs(all), '
            'prim_net:getifaddrs(#{netns => "/nonesuch"}), '
            '[net:getnameinfo(#{family => F, addr => A, port => 22}, [numerichost]) || {F, A} <- [{inet, {127, 0, 0, 1}}, {inet, loopback}, {inet6, loopback}, '
            '{inet, any}, {inet6, any}]]]])'),
    ('protocols of sockets', '[begin {ok, S} = socket:open(D, T), io:format("~p~n", [socket:getopt(S, {socket, protocol})]) end '
                             '|| {D, T} <- [{local, stream}, {local, dgram}, {inet, stream}, {inet6, dgram}]]'),
    ('global', 'yes = global:register_name(me, self()), io:format("~p~n", [global:whereis_name(me) =:= self()])'),
]


def output(erl, expression):
    return run_program([erl, '-noshell', '-eval', expression, '-s', 'init', 'stop'], '', PATIENCE_S)


def agree(vmrun, expression):
    if not (stock := shutil.which('erl')):
        raise Skip('no erl here')
    with tempfile.TemporaryDirectory(prefix='vmrun-system-') as folder:
        link = pathlib.Path(folder) / 'erl'
        link.symlink_to(os.path.abspath(vmrun))
        ours, theirs = output(str(link), expression), output(stock, expression)
    if ours[:2] != theirs[:2]:
        raise Failure(f'status, output, standard error: {ours}\na stock erl: {theirs}')


def tests(vmrun):
    return [Test('command', f"OTP's system: {name}", lambda e=expression: agree(vmrun, e)) for name, expression in ASKED]
