# SPDX-License-Identifier: Apache-2.0
"""Releases: an application with a supervisor, made into a release by systools and started from its own boot
script."""
import functools
import pathlib
import shutil

from harness.results import Failure, Test

from .suite import difference, machines, scratch

MODULES = {
    'shop.app': '{application, shop, [{description, "a shop"}, {vsn, "1.2"}, {modules, [shop_app, shop_sup, '
    'till, session]}, {registered, [shop_sup, till]},\n'
    ' {applications, [kernel, stdlib, sasl]}, {mod, {shop_app, [opening]}}, {env, [{price, 3}, {currency, '
    '"EUR"}]}]}.\n',
    'shop_app.erl': '-module(shop_app).\n-behaviour(application).\n-export([start/2, prep_stop/1, stop/1]).\n'
    'start(normal, [opening]) -> io:format("shop starts ~p~n", '
    '[lists:sort(application:get_all_env(shop))]), shop_sup:start_link().\n'
    'prep_stop(S) -> io:format("shop closes~n"), S.\nstop(_) -> io:format("shop closed~n").\n',
    'shop_sup.erl': '-module(shop_sup).\n-behaviour(supervisor).\n-export([start_link/0, init/1]).\n'
    'start_link() -> supervisor:start_link({local, ?MODULE}, ?MODULE, []).\n'
    'init([]) -> {ok, {#{strategy => one_for_one, intensity => 2, period => 10}, [#{id => till, start => '
    '{till, start_link, []}, shutdown => 1000}]}}.\n',
    'till.erl': '-module(till).\n-behaviour(gen_server).\n'
    '-export([start_link/0, sell/1, init/1, handle_call/3, handle_cast/2, terminate/2]).\n'
    'start_link() -> gen_server:start_link({local, till}, ?MODULE, [], []).\n'
    'sell(N) -> gen_server:call(till, {sell, N}).\n'
    'init([]) -> process_flag(trap_exit, true), {ok, P} = application:get_env(shop, price), {ok, {P, 0}}.\n'
    'handle_call({sell, N}, _, {P, Sum}) -> {reply, Sum + N * P, {P, Sum + N * P}};\n'
    'handle_call(break, _, _) -> exit(broken).\n'
    'handle_cast(_, S) -> {noreply, S}.\n'
    'terminate(Why, {_, Sum}) -> io:format("till: ~p ~p~n", [Why, Sum]).\n',
    # What a session does in the running release; it stops the machine in the end.
    'session.erl': '-module(session).\n-export([start/0, start/1, check/0, wait/0]).\ncheck() -> ok.\n'
    'start() -> start([]).\n'
    'start(Given) -> spawn(fun() -> wait(), session(Given) end).\n'
    'wait() -> case {init:get_status(), whereis(till)} of {{started, _}, T} when is_pid(T) -> ok; _ -> '
    'erlang:yield(), wait() end.\n'
    'session(Given) ->\n'
    '    io:format("~p ~p~n", [Given, [{A, V} || {A, _, V} <- lists:sort(application:which_applications()), '
    'A =:= shop]]),\n'
    '    io:format("~p ~p~n", [till:sell(2), till:sell(5)]),\n'
    '    Ref = monitor(process, till), catch gen_server:call(till, break), receive {\'DOWN\', Ref, _, _, W} '
    '-> io:format("~p~n", [W]) end,\n'
    '    wait(), io:format("~p ~p~n", [till:sell(1), supervisor:count_children(shop_sup)]),\n'
    '    io:format("~p ~p~n", [code:get_mode(), [lists:keyfind(N, 1, [{M, code:is_loaded(M) =/= false} || M '
    '<- [lists, dict, shop_app, orddict]]) || N <- [lists, dict, shop_app]]]),\n'
    '    io:format("~p ~p~n", [init:script_id(), release_handler:which_releases()]),\n'
    '    io:format("~p~n", [init:get_plain_arguments()]),\n'
    '    io:format("~p~n", [[init:get_argument(A) || A <- [own_flag, heart, mode]]]),\n'
    '    init:stop().\n',
    'shop.config': '[{shop, [{price, 10}, {extra, [a, "b"]}]}].\n',
    'sys.config': '[{shop, [{price, 20}]}, "./more.config"].\n',
    'more.config': '[{shop, [{currency, "SEK"}]}].\n',
    'shop.args': '# a comment\n-config shop\n-own_flag one "two words"\n-extra last \\# words\n',
    'vm.args': '-noinput -kernel logger_level none\n',
    'shop.appup': '{"1.3", [{"1.2", [{update, till, {advanced, [extra]}}]}], [{"1.2", [{update, till, '
    '{advanced, [extra]}}]}]}.\n',
    'make.escript': '#!/usr/bin/env escript\n'
    'main(_) ->\n'
    '    Versions = [begin application:load(A), {ok, V} = application:get_key(A, vsn), {A, V} end || A <- '
    '[kernel, stdlib, sasl]],\n'
    '    ok = file:write_file("shop.rel", io_lib:format("~p.~n", [{release, {"shop", "7"}, {erts, '
    'erlang:system_info(version)}, Versions ++ [{shop, "1.2"}]}])),\n'
    '    io:format("~p~n", [systools:make_script("shop", [{path, ["lib/shop/ebin"]}, silent, local])]),\n'
    '    {ok, [{script, Id, Steps}]} = file:consult("shop.script"),\n'
    '    io:format("~p ~p~n", [Id, [S || S <- Steps, element(1, S) =:= apply]]),\n'
    '    io:format("~p~n", [systools:make_tar("shop", [{path, ["lib/shop/ebin"]}, silent])]),\n'
    '    {ok, Names} = erl_tar:table("shop.tar.gz", [compressed]),\n'
    '    io:format("~p~n", [lists:sort([N || N <- Names, string:find(N, "shop") =/= nomatch])]).\n',
    # Release 8, what leads there from 7 and back, and a folder of releases.
    'next.escript': '#!/usr/bin/env escript\n'
    'main(_) ->\n'
    '    {ok, [{release, {Name, _}, Erts, Applications}]} = file:consult("shop.rel"),\n'
    '    ok = file:write_file("next.rel", io_lib:format("~p.~n", [{release, {Name, "8"}, Erts, '
    'lists:keyreplace(shop, 1, Applications, {shop, "1.3"})}])),\n'
    '    Options = [{path, ["old/shop-1.2/ebin", "new/shop-1.3/ebin"]}, silent],\n'
    '    io:format("~p~n", [[systools:make_script(F, [local | Options]) || F <- ["shop", "next"]]]),\n'
    '    {ok, Relup, _, _} = systools:make_relup("next", ["shop"], ["shop"], Options),\n'
    '    io:format("~p~n", [Relup]),\n'
    '    [begin\n'
    '         Folder = "releases/" ++ Number, ok = filelib:ensure_path(Folder),\n'
    '         [{ok, _} = file:copy(From, Folder ++ "/" ++ To) || {From, To} <- [{Files ++ ".rel", Files ++ '
    '".rel"}, {Files ++ ".boot", "start.boot"} | [{"relup", "relup"} || Number =:= "8"]]],\n'
    '         ok = file:write_file(Folder ++ "/sys.config", Config)\n'
    '     end || {Number, Files, Config} <- [{"7", "shop", "[]."}, {"8", "next", "[{shop, [{price, '
    '5}]}]."}]],\n'
    '    {ok, Here} = file:get_cwd(),\n'
    '    io:format("~p~n", [release_handler:create_RELEASES(Here, "releases", '
    'filename:absname("releases/7/shop.rel"), [{shop, "1.2", filename:absname("old")}])]).\n',
    'upgrades.erl': '-module(upgrades).\n-export([start/0]).\n'
    'start() -> spawn(fun() -> session:wait(), all(), init:stop() end).\n'
    'all() ->\n'
    '    says(before), says(release_handler:set_unpacked(filename:absname("releases/8/next.rel"), [{shop, '
    '"1.3", filename:absname("new")}])),\n'
    '    [says(catch release_handler:F(V)) || {F, V} <- [{check_install_release, "8"}, '
    '{check_install_release, "9"}, {install_release, "8"}, {make_permanent, "8"}, {remove_release, "8"},\n'
    '        {install_release, "7"}, {install_release, "8"}, {reboot_old_release, "9"}, {make_permanent, '
    '"7"}, {install_release, "7"}, {set_removed, "8"}]].\n'
    'says(What) ->\n'
    '    io:format("~p~n  ~p ~p~n", [What, [{V, State} || {_, V, _, State} <- '
    'release_handler:which_releases()], {till:sell(1), application:get_key(shop, vsn), '
    'lists:sort(application:get_all_env(shop))}]).\n',
}
UPGRADED = (
    'mkdir -p new/shop-1.3/ebin old; mv lib/shop old/shop-1.2; sed "s/1.2/1.3/" shop.app > '
    'new/shop-1.3/ebin/shop.app; cp shop.appup new/shop-1.3/ebin; '
    'sed "s/price), {ok, {P, 0}}/price), {ok, {2 * P, 0}}/; s/-export(\\[/-export([code_change\\/3, /" '
    'till.erl > new/till.erl; '
    'echo "code_change(V, {P, S}, [extra]) -> io:format(\\"from ~p~n\\", [V]), {ok, {P + 1, S}}." >> '
    'new/till.erl; '
    'erlc -o new/shop-1.3/ebin shop_app.erl shop_sup.erl session.erl new/till.erl; '
)
MAKE = (
    'mkdir -p lib/shop/ebin; erlc -o lib/shop/ebin shop_app.erl shop_sup.erl till.erl session.erl && cp '
    'shop.app lib/shop/ebin && escript make.escript'
)
START = 'erl -noinput -kernel logger_level none -boot ./shop -pa . -s session '

CASES = {
    'made by systools': '',
    'started': START + 'start a b',
    'embedded': START + '-mode embedded',
    'interactive': START + '-mode interactive -extra words -more',
    'with a configuration': START + '-config shop',
    'with a configuration that has another': START + '-config sys',
    'with a configuration that is not there': START + '-config absent',
    'with a file of arguments': START + '-args_file shop.args',
    'with flags around its files of arguments': 'ERL_FLAGS="-own_flag environment" ERL_ZFLAGS="-own_flag '
    'last" ' + START + '-own_flag line -args_file vm.args',
    'from its archive': 'mkdir target; tar -C target -xzf shop.tar.gz; ls target target/lib target/releases '
    'target/releases/7 | grep -v sasl-; '
    'rm -r lib; erl -noinput -kernel logger_level none -boot ./target/releases/7/start -boot_var X target '
    '-pa . -pa target/lib/shop-1.2/ebin -s session',
    'a boot file that is not there': 'erl -noinput -boot ./absent',
    # Its boot process has nothing else to do. It is told before the application controller ends kernel and
    # then the machine; if it then needs code_server, which of the two ends the machine is chance.
    'an application that does not start': 'sed "s/opening/closed/" lib/shop/ebin/shop.app > x && mv x '
    'lib/shop/ebin/shop.app && sed -i "s/silent, local/&, no_dot_erlang/" make.escript && '
    'escript make.escript && erl -noinput -kernel logger_level none -boot ./shop',
    'in the background': 'mkfifo told; erl -detached -kernel logger_level none -boot ./shop -pa . -eval '
    '"os:cmd(io_lib:format(\\"echo ~p > told\\", [till:sell(4)])), init:stop()."; cat told',
    'with heart': START + '-heart 2>/dev/null',
    'heart asked': 'HEART_COMMAND="echo again" erl -noinput -boot ./shop -heart -pa . -kernel logger_level '
    'none -eval "io:format(\\"~p~n\\", [[heart:get_cmd(), heart:set_cmd(\\"true\\"), heart:get_cmd(), '
    'heart:clear_cmd(), heart:set_callback(session, check), heart:get_callback(), heart:clear_callback(), '
    'heart:get_options(), heart:set_options([check_schedulers]), is_pid(whereis(heart))]]), init:stop()." '
    '2>&1 | grep -v "^heart:\\|heart_beat_kill_pid"',
    'started anew by heart': 'mkfifo told; HEART_COMMAND="echo once more > told" erl -noinput -boot ./shop '
    '-heart -kernel logger_level none -eval "erlang:halt(3)." 2>/dev/null; echo $?; cat told',
    'restarted by itself': 'erl -noinput -boot ./shop -pa . -kernel logger_level none -eval "case '
    'os:getenv(\\"SECOND\\") of false -> os:putenv(\\"SECOND\\", \\"1\\"), io:format(\\"first~n\\"), '
    'init:restart(); '
    '_ -> io:format(\\"second~n\\"), init:stop() end."',
    'an upgrade': UPGRADED + 'erl -noinput -kernel logger_level none -pa old/shop-1.2/ebin -eval "{ok, _} = '
    'application:ensure_all_started(sasl), ok = application:start(shop), io:format(\\"~p~n\\", '
    '[till:sell(1)]), '
    'io:format(\\"~p~n\\", [release_handler:upgrade_app(shop, \\"new/shop-1.3\\")]), io:format(\\"~p '
    '~p~n\\", [till:sell(1), application:get_key(shop, vsn)]), init:stop()."',
    'releases installed one after another': UPGRADED + 'erlc upgrades.erl; escript next.escript && '
    'erl -noinput -kernel logger_level none -boot releases/7/start -config releases/7/sys -sasl '
    'releases_dir "\\"$PWD/releases\\"" -pa . -s upgrades; cat releases/start_erl.data',
}


def tests(programs):
    return [
        Test('systems', f'release: {name}', lambda shell=shell: agree(programs, shell))
        for name, shell in CASES.items()
    ]


@functools.cache
def made(machine):
    """A folder with the release, made by that machine, and what was printed while it was. It lasts as long as
    the run."""
    folder = scratch()
    for name, text in MODULES.items():
        (pathlib.Path(folder.name) / name).write_text(text)
    return folder, machine.run(folder.name, ['sh', '-c', MAKE])


def outcome(machine, shell):
    folder, printed = made(machine)
    if not shell or printed[0]:
        return printed
    with scratch() as own:
        shutil.copytree(folder.name, own, dirs_exist_ok=True)
        return machine.run(own, ['sh', '-c', shell])


def agree(programs, shell):
    ours, theirs = (outcome(machine, shell) for machine in machines(programs))
    if ours != theirs:
        raise Failure(difference(ours, theirs))
