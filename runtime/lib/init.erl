%% SPDX-License-Identifier: Apache-2.0
%% The first process. The machine spawns it as init:boot(Config); README.md in
%% this folder has the contract. It starts the I/O servers and the program's
%% main process, keeps the command line, and is the one that ends the system.
%%
%% Everything here is on the path of the smallest program: other modules are
%% called only where something goes wrong or is asked for.
-module(init).

-export([boot/1, main/1, logger_proxy/0, signal_server/0, signals/0]).
-export([stop/0, stop/1, get_argument/1, get_arguments/0, get_plain_arguments/0,
         get_status/0, notify_when_started/1, script_name/0, script_id/0, reboot/0,
         objfile_extension/0, archive_extension/0, run_on_load_handlers/0]).

-define(FLUSH_MS, 5000).
-define(DEPTH, 30). % of the terms in a report
-define(CHARS, 2000).

-record(s, {main :: pid() | none,
            monitor :: reference() | none,
            reported = false :: boolean(), % main has told its failure already
            stays = false :: boolean(), % there is no script: the system outlives main
            started = true :: boolean(), % it is all there
            awaiting = [] :: [pid()],   % to be told of that
            stopping = false :: boolean(),
            config :: [{atom(), term()}]}).

boot(Config) ->
    register(init, self()),
    process_flag(trap_exit, true),
    In = case option(noinput, Config, false) orelse lists:keymember(user, 1, option(flags, Config, [])) of
             true -> eof;
             false -> 0
         end,
    User = spawn(user, server, [In, 1]),
    Error = spawn(user, server, [none, 2]),
    Logger = spawn(?MODULE, logger_proxy, []),
    register(user, User),
    register(standard_error, Error),
    register(logger, Logger),
    Signals = spawn(?MODULE, signal_server, []),
    register(erl_signal_server, Signals),
    group_leader(User, Signals),
    group_leader(User, self()),
    group_leader(User, Error),
    group_leader(User, Logger),
    Program = case {option(module, Config, undefined), option(expressions, Config, [])} of
                  {undefined, []} -> {init_flags, start, []};
                  {undefined, Expressions} -> {init_flags, evaluate, [Expressions]};
                  {Module, _} -> {Module, main, arguments(Config)}
              end,
    Entry = case is_node(Config) of
                true -> {node, Program};
                false -> Program
            end,
    {Main, Monitor} = spawn_monitor(?MODULE, main, [Entry]),
    Stays = Program =:= {init_flags, start, []},
    loop(#s{main = Main, monitor = Monitor, config = Config, stays = Stays, started = not Stays}).

is_node(Config) ->
    Flags = option(flags, Config, []),
    lists:keymember(sname, 1, Flags) orelse lists:keymember(name, 1, Flags).

arguments(Config) ->
    case lists:keyfind(arity, 1, Config) of
        {_, 0} -> [];
        _ -> [option(arguments, Config, [])]
    end.

option(Key, Config, Default) ->
    case lists:keyfind(Key, 1, Config) of
        {_, Value} -> Value;
        false -> Default
    end.

loop(S) ->
    receive
        {'DOWN', Monitor, process, _, _} when Monitor =:= S#s.monitor, S#s.stopping -> loop(S);
        {'DOWN', Monitor, process, _, normal} when Monitor =:= S#s.monitor, S#s.stays ->
            loop(S#s{stays = false});
        {'DOWN', Monitor, process, _, Reason} when Monitor =:= S#s.monitor -> main_ended(Reason, S);
        {main_failed, Main} when Main =:= S#s.main -> loop(S#s{reported = true});
        started ->
            [Pid ! {init, started} || Pid <- S#s.awaiting],
            loop(S#s{started = true, awaiting = []});
        {init, From, Ref, {notify_when_started, Pid}} when not S#s.started ->
            From ! {Ref, ok},
            loop(S#s{awaiting = [Pid | S#s.awaiting]});
        {init, From, Ref, get_status} ->
            From ! {Ref, {status(S), started}},
            loop(S);
        {init, From, Ref, Request} ->
            From ! {Ref, answer(Request, S#s.config)},
            loop(S);
        {stop, Status} when not S#s.stopping -> loop(stop_applications(Status, S));
        {stopped, Status} -> halt_system(Status);
        _ -> loop(S)
    end.

status(#s{stopping = true}) -> stopping;
status(#s{stays = true}) -> starting;
status(_) -> started.

%% If there are any, they may need this process while they stop.
stop_applications(Status, S) ->
    case whereis(installed_kernel) of
        undefined -> halt_system(Status);
        _ ->
            Init = self(),
            _ = spawn(fun() -> installed_kernel:stop(), Init ! {stopped, Status} end),
            S#s{stopping = true}
    end.

%% The main process

main({node, Program}) ->
    erl_distribution:boot(),
    main(Program);
main({M, F, Args}) ->
    try
        apply(M, F, Args)
    catch
        exit:normal -> ok;
        exit:Reason:Stack -> main_failed(exit, Reason, Stack, Reason);
        error:Reason:Stack -> main_failed(error, Reason, Stack, {Reason, Stack});
        throw:Thrown:Stack -> main_failed(error, {nocatch, Thrown}, Stack, {{nocatch, Thrown}, Stack})
    end.

main_failed(Class, Reason, Stack, Exit) ->
    report(Class, Reason, own_part(Stack)),
    init ! {main_failed, self()},
    exit(Exit).

%% Whatever becomes of the report, the system ends: standard error may be closed, and the reason may
%% be that there is no room for one more atom or module.
report(Class, Reason, Stack) ->
    try erl_error:format_exception(Class, Reason, Stack, #{format_fun => fun shown/2}) of
        Text -> to_standard_error(["vmrun: ", Text, $\n])
    catch _:Why:Where ->
        to_standard_error(["vmrun: exception ", atom_to_list(Class), unreported(Why, Where), $\n])
    end.

%% By itself when the I/O server fails: a module of the library may have another in its place (-pa).
to_standard_error(Text) ->
    try io:put_chars(standard_error, Text)
    catch _:_ -> catch vmrun_io:write(2, unicode:characters_to_binary(Text))
    end.

unreported(undef, [{M, F, Args, _} | _]) ->
    [", not reported since ", atom_to_list(M), $:, atom_to_list(F), $/, integer_to_list(length(Args)),
        " is undefined"];
unreported(_, _) -> [].

shown(Term, Col) -> io_lib:format("~.*tP", [Col, Term, ?DEPTH], [{chars_limit, ?CHARS}]).

own_part(Stack) -> [Entry || Entry <- Stack, element(1, Entry) =/= ?MODULE].

main_ended(normal, _) -> halt_system(0);
main_ended(_, #s{reported = true}) -> halt_system(1);
main_ended(Reason, S) ->
    %% By another process: what OTP's modules say of a reason may take questions to this one.
    Init = self(),
    _ = spawn(fun() -> try report(exit, Reason, []) after Init ! {stopped, 1} end end),
    loop(S#s{stopping = true}).

%% The log goes first, it writes through the I/O servers.
halt_system(Status) ->
    flush(logger),
    flush(user),
    flush(standard_error),
    case Status of
        N when is_integer(N) -> halt(N);
        Slogan -> halt(Slogan)
    end.

flush(Name) ->
    case whereis(Name) of
        undefined -> ok;
        Pid ->
            Ref = monitor(process, Pid),
            Pid ! {flush, self(), Ref},
            receive
                {flushed, Ref} -> ok;
                {'DOWN', Ref, _, _, _} -> ok
            after ?FLUSH_MS -> ok
            end
    end.

%% The process `logger`: takes the machine's reports and hands them on. What
%% is logged by calls does not pass here.

logger_proxy() ->
    receive
        {log, _, _, _, _} = Event -> logger_overload:log(Event);
        {log, _, _, _} = Event -> logger_overload:log(Event);
        {flush, From, Ref} -> From ! {flushed, Ref};
        _ -> ok
    end,
    logger_proxy().

%% The event manager of signals, erl_signal_server: nothing of it is loaded before something comes. From then
%% on it is a manager of gen_event, whose one, OTP's or ours, is in the code path, and this process hands on
%% to it what comes to the name.

signal_server() -> erlang:hibernate(?MODULE, signals, []).

signals() ->
    process_flag(trap_exit, true),
    {ok, Manager} = gen_event:start_link(),
    ok = gen_event:add_handler(Manager, erl_signal_handler, []),
    forward(Manager).

forward(Manager) ->
    receive
        {'EXIT', Manager, Reason} -> exit(Reason);
        Message ->
            Manager ! Message,
            forward(Manager)
    end.

%% Calls

stop() -> stop(0).

stop(Status) when is_integer(Status), Status >= 0 -> stop_with(Status);
stop(Slogan) when is_list(Slogan) -> stop_with(Slogan);
stop(Other) -> error(badarg, [Other]).

stop_with(Status) ->
    init ! {stop, Status},
    ok.

get_plain_arguments() -> request(get_plain_arguments).

get_argument(Flag) -> request({get_argument, Flag}).

get_arguments() -> request(get_arguments).

get_status() -> request(get_status).

%% started, or ok: a message {init, started} will come.
notify_when_started(Pid) -> request({notify_when_started, Pid}).

script_name() -> request(script_name).

%% Of the boot script that OTP's own system would have.
script_id() -> {"Erlang/OTP", erlang:system_info(otp_release)}.

%% Who watches the machine starts it again.
reboot() -> stop().

objfile_extension() -> ".beam".
archive_extension() -> ".ez".
run_on_load_handlers() -> ok. % the machine has run them

request(Request) ->
    Ref = monitor(process, init),
    init ! {init, self(), Ref, Request},
    receive
        {Ref, Answer} ->
            demonitor(Ref, [flush]),
            Answer;
        {'DOWN', Ref, _, _, Reason} -> exit(Reason)
    end.

answer({notify_when_started, _}, _) -> started;
answer(get_plain_arguments, Config) -> option(arguments, Config, []);
answer(get_arguments, Config) -> option(flags, Config, []);
answer(script_name, Config) -> option(script, Config, "");
answer({get_argument, Flag}, Config) ->
    case [Values || {F, Values} <- option(flags, Config, []), F =:= Flag] of
        [] -> error;
        All -> {ok, All}
    end.
