%% SPDX-License-Identifier: Apache-2.0
%% Functions of OTP 25 that newer releases lack, and what others of them do differently.
-module(gone_and_changed).
-export([main/0]).

main() ->
    [show(Name, F) || {Name, F} <- [
        {display_nl, fun() -> erlang:display_nl() end},
        {exported, fun() -> [erlang:function_exported(erlang, F, A) || {F, A} <- [{display_nl, 0},
            {display_string, 1}, {display_string, 2}]] end},
        {listed, fun() -> [T || {erlang, F, _} = T <- lists:sort(erlang:system_info(snifs)),
            lists:prefix("display", atom_to_list(F))] end},
        {display_string, fun() -> erlang:display_string(stdout, "one\ntwo\r\n") end},
        {display, fun() -> erlang:display({a, "b\n"}) end}]],
    show(open_port, fun() -> [try port_of(Name) catch error:Reason -> Reason end
        || Name <- ["/etc/passwd", '/etc/passwd', "nosuch", nosuch, [], "", tcp_inet, "udp_inet", 5]] end),
    Seven = lists:duplicate(1300000, $7),
    show(to_integer, fun() -> [string:list_to_integer(Seven), string:to_integer(Seven ++ "x"),
        string:to_integer(list_to_binary(Seven))] end),
    show(list_to_integer, fun() -> list_to_integer(Seven) end),
    show(summer_time, fun() -> erlang:localtime_to_universaltime({{2020, 7, 1}, {12, 0, 0}}, true) end),
    show(net, fun() -> lists:sort(maps:to_list(net:info())) end),
    show(socket, fun() ->
        #{io_backend := #{name := Backend}, eei := Eei} = socket:info(),
        {Backend, Eei}
    end),
    updates(),
    unset_meta(),
    asynchronous().

%% What an error of an update in a table names.
updates() ->
    [ets:insert(ets:new(T, [named_table, {keypos, N}]), {k, k, 2}) || {T, N} <- [{first, 1}, {second, 2}]],
    Changes = [{1, x}, {2, x}, {4, x}, {0, x}, [{3, y}, {4, x}], [{4, x}, {1, x}], [{4, x}, {1}], [a, {4, x}],
        [{2, x, y}, {4, x}], {1 bsl 70, x}, [{4, x} | b]],
    show(update_element, fun() -> [cause(update_element, [first, Key, Change | Default]) || Change <- Changes,
        {Key, Default} <- [{k, []}, {none, [{z, 1}]}]] end),
    show(default, fun() -> [cause(F, [T, Key, Change, Default]) ||
        {F, Changed} <- [{update_element, [{3, x}, {9, x}]}, {update_counter, [{3, 1}]}], Change <- Changed,
        T <- [first, second], Key <- [k, none], Default <- [a, {z}, {1, 2, 3}]] end).

cause(F, Args) ->
    try apply(ets, F, Args)
    catch error:Reason:Stack ->
        [{_, _, _, Info} | _] = Stack,
        {Reason, maps:get(cause, proplists:get_value(error_info, Info), none)}
    end.

%% A function that is traced for calls only, and one that has had a meta tracer.
unset_meta() ->
    Told = fun() -> [erlang:trace_info({lists, seq, 2}, Item) || Item <- [meta, all]] end,
    show(traced, fun() -> {erlang:trace_pattern({lists, seq, 2}, true, [local]), Told()} end),
    show(counted, fun() -> {[erlang:trace_pattern({lists, seq, 2}, Set, [Kind]) || {Set, Kind} <- [
        {true, meta}, {true, call_count}, {false, local}, {false, meta}]], Told()} end).

port_of(Name) ->
    port_close(open_port(Name, [])),
    opened.

%% Whether a process goes on after it has sent to a busy connection.
asynchronous() ->
    show(told, fun() -> {erlang:system_info(async_dist), process_info(self(), async_dist)} end),
    show(set, fun() -> [process_flag(async_dist, On) || On <- [true, false]] end),
    show(wrong, fun() -> process_flag(async_dist, x) end),
    show(spawned, fun() -> [process_info(spawn_opt(fun() -> receive after infinity -> ok end end, Options),
        [async_dist, trap_exit]) || Options <- [[], [{async_dist, true}]]] end),
    show(wrong, fun() -> spawn_opt(fun() -> ok end, [{async_dist, x}]) end).

show(Name, F) ->
    io:format("~p: ~p~n", [Name, try F() catch error:Reason -> {error, Reason} end]).
