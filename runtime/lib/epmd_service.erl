%% SPDX-License-Identifier: Apache-2.0
%% Starts the installed epmd on this host where none runs. It lives on when this node has ended, because other
%% nodes register with it.
-module(epmd_service).

-export([start/0]).

-define(PORT, 4369).
-define(TRIES, 100).
-define(PAUSE_MS, 20).

%% Returns when something answers on the port, or will not. missing: none runs, and none is installed.
start() ->
    case init:get_argument(start_epmd) =:= {ok, [["false"]]} orelse answers() of
        true -> ok;
        false ->
            case command() of
                missing -> missing;
                Command ->
                    run(Command),
                    wait(?TRIES),
                    ok
            end
    end.

command() ->
    case init:get_argument(epmd) of
        {ok, [[Command] | _]} -> {spawn, Command};
        _ ->
            case installed() of
                false -> missing;
                Program -> {spawn_executable, Program, ["-daemon"]}
            end
    end.

installed() ->
    {ok, [[Root]]} = init:get_argument(root),
    Beside = filelib:wildcard(filename:join([Root, "erts-*", "bin"])),
    case os:find_executable("epmd") of
        false -> os:find_executable("epmd", string:join(Beside, ":"));
        Program -> Program
    end.

%% Until the program has gone into the background.
run(Command) ->
    Port = case Command of
               {spawn_executable, Program, Args} ->
                   open_port({spawn_executable, Program}, [exit_status, stderr_to_stdout, {args, Args}]);
               {spawn, _} -> open_port(Command, [exit_status, stderr_to_stdout])
           end,
    ended(Port).

ended(Port) ->
    receive
        {Port, {exit_status, _}} -> ok;
        {Port, _} -> ended(Port)
    end.

wait(0) -> ok;
wait(Tries) ->
    answers() orelse receive after ?PAUSE_MS -> wait(Tries - 1) end.

answers() ->
    case gen_tcp:connect({127, 0, 0, 1}, port(), [{active, false}]) of
        {ok, Socket} -> gen_tcp:close(Socket) =:= ok;
        {error, _} -> false
    end.

port() ->
    case init:get_argument(epmd_port) of
        {ok, [[Text | _] | _]} -> list_to_integer(Text);
        _ -> ?PORT
    end.
