%% Starts epmd on this host where none runs: the installed one, or else the one inside vmrun (runtime/epmd). Either lives on
%% when this node has ended, as other nodes register with it.
-module(epmd_service).

-export([start/0]).

-define(TRIES, 100).
-define(PAUSE_MS, 20).

%% started: something answers on the port now; none: nothing was started, or it does not answer.
start() ->
    case init:get_argument(start_epmd) of
        {ok, [["false"] | _]} -> none;
        _ ->
            run(command()),
            wait(?TRIES)
    end.

command() ->
    case init:get_argument(epmd) of
        {ok, [[Command] | _]} -> {spawn, Command};
        _ ->
            case installed() of
                false -> {spawn_executable, own(), ["-epmd", "-daemon"]};
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

own() ->
    {ok, Program} = file:read_link("/proc/self/exe"),
    Program.

%% Until the program has gone into the background.
run(Command) ->
    Port = case Command of
               {spawn_executable, Program, Args} -> open_port({spawn_executable, Program}, [exit_status, stderr_to_stdout, {args, Args}]);
               {spawn, _} -> open_port(Command, [exit_status, stderr_to_stdout])
           end,
    ended(Port).

ended(Port) ->
    receive
        {Port, {exit_status, _}} -> ok;
        {Port, _} -> ended(Port)
    end.

wait(0) -> none;
wait(Tries) ->
    case gen_tcp:connect({127, 0, 0, 1}, erl_epmd:port(), [{active, false}]) of
        {ok, Socket} ->
            gen_tcp:close(Socket),
            started;
        {error, _} ->
            receive after ?PAUSE_MS -> wait(Tries - 1) end
    end.
