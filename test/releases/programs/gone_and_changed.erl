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
    show(net, fun() -> maps:find(load_nif_result, net:info()) end),
    show(socket, fun() ->
        #{io_backend := #{name := Backend}, eei := Eei} = socket:info(),
        {Backend, Eei}
    end),
    asynchronous().

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
