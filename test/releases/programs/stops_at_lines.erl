%% SPDX-License-Identifier: Apache-2.0
%% since: 28
%% flags: +D
%% A debugger that stops processes at every line of the functions below and prints what it sees of them:
%% places, variables, slots, frames.
-module(stops_at_lines).
-export([main/0, sum/1, guarded/2, tree/1, wide/12, bits/1, comprehension/1, server/1,
    hibernating/0, spin/2]).
-compile(beam_debug_info).
-define(LAST_LINE, 74).

%% ---- What is looked at: breakpoints are set here alone ----

sum([]) ->
    0;
sum([N | More]) ->
    Rest = sum(More),
    N + Rest.

guarded(F, Argument) ->
    try
        Value = F(Argument),
        {value, Value}
    catch
        error:Reason ->
            {failed, Reason}
    after
        erase(Argument)
    end.

tree({Left, Key, Right}) ->
    Low = tree(Left),
    High = tree(Right),
    Low ++ [Key] ++ High;
tree(leaf) ->
    [].

wide(A, B, C, D, E, F, G, H, I, J, K, L) ->
    First = A + B + C + D + E + F,
    Second = lists:sum([G, H, I, J, K, L]),
    [First, Second, A, L].

bits(<<Size, Data:Size/binary, Rest/binary>>) ->
    Text = binary_to_list(Data),
    [Text | bits(Rest)];
bits(<<>>) ->
    [].

comprehension(List) ->
    Twice = [begin
                 Double = 2 * N,
                 {N, Double}
             end || N <- List, N rem 2 =:= 1],
    maps:from_list(Twice).

server(State) ->
    receive
        {add, N} ->
            New = State + N,
            server(New);
        {get, From} ->
            From ! {state, State},
            server(State);
        stop ->
            State
    end.

hibernating() ->
    erlang:hibernate(?MODULE, sum, [[1, 2]]).

spin(Left, Right) ->
    spin(Right, Left).

%% ---- The debugger ----

main() ->
    {ok, Session} = erl_debugger:register(self()),
    spinning(),
    {ok, Functions} = erl_debugger:breakpoints(?MODULE),
    show("breakpoints", lists:sort(maps:to_list(Functions))),
    Info = code:get_debug_info(?MODULE),
    show("variables and calls", Info),
    [ok = erl_debugger:breakpoint(?MODULE, L, true) || Lines <- maps:values(Functions), L := _ <- Lines,
        L < ?LAST_LINE],
    [run(Session, Info, fun() -> apply(?MODULE, F, Arguments) end) || {F, Arguments} <- calls()],
    messages(Session, Info),
    suspended(),
    show("lines", [erl_debugger:breakpoint(?MODULE, Line, false) || Line <- lists:seq(1, 30)]).

calls() ->
    [{sum, [[1, 2, 3]]}, {guarded, [fun(N) -> 1 div N end, 0]},
     {guarded, [fun(N) -> N end, [a, long, list, with, words]]},
     {tree, [{{leaf, a, leaf}, b, {leaf, <<"text">>, leaf}}]}, {wide, lists:seq(1, 12)},
     {bits, [<<3, "abc", 2, "de">>]}, {bits, [<<9, "short">>]}, {comprehension, [[1, 2, 3]]}].

run(Session, Info, Fun) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit({result, result_of(Fun)}) end),
    follow(Session, Info, Pid, Ref).

result_of(Fun) ->
    try Fun() catch Class:Reason -> {Class, Reason} end.

%% Stops it at every line up to its end.
follow(Session, Info, Pid, Ref) ->
    receive
        {debugger_event, Session, {breakpoint, Pid, MFA, Line, Resume}} ->
            true = erlang:suspend_process(Pid),
            Frames = erl_debugger:stack_frames(Pid, 8),
            show(MFA, {Line, variables(Pid, Line, Frames, Info), [place(F) || F <- Frames]}),
            true = same_slots(Pid, Frames),
            true = erlang:resume_process(Pid),
            ok = Resume(),
            follow(Session, Info, Pid, Ref);
        {'DOWN', Ref, process, Pid, Result} -> show("end", Result)
    end.

%% The variables of the line, where the compiler says that they are.
variables(Pid, Line, Frames, Info) ->
    {_, ['<breakpoint>' = _, _ | _]} = {Line, [P || {_, P, _} <- tl(Frames)]},
    [_, {B, _, _}, {F, _, _} | _] = Frames,
    {Line, #{vars := Variables}} = lists:keyfind(Line, 1, Info),
    [{Name, case Where of
                {x, N} -> erl_debugger:peek_stack_frame_slot(Pid, B, N, 100);
                {y, N} -> erl_debugger:peek_stack_frame_slot(Pid, F, N, 100);
                Value -> Value
            end} || {Name, Where} <- Variables].

place({Number, '<breakpoint>', #{slots := [_Trace, {value, error} | Slots]}}) ->
    {Number, '<breakpoint>', trace, Slots};
place({Number, '<breakpoint>', #{slots := Slots}}) -> {Number, '<breakpoint>', Slots};
place({Number, #{function := {erts_internal, breakpoint, 4}}, _}) -> {Number, told};
place({Number, #{line := Line}, _}) when Line > ?LAST_LINE -> {Number, caller};
place({Number, Place, #{slots := Slots}}) -> {Number, Place, Slots}.

same_slots(Pid, Frames) ->
    lists:all(fun({F, _, #{slots := Slots}}) ->
                      Slots =:= [erl_debugger:peek_stack_frame_slot(Pid, F, N, 8)
                                 || {N, _} <- lists:enumerate(0, Slots)]
              end, Frames).

%% A process that waits for messages: suspended without a breakpoint too.
messages(Session, Info) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit({result, ?MODULE:server(5)}) end),
    Pid ! {add, 7},
    Pid ! stop,
    follow(Session, Info, Pid, Ref),
    Waiting = spawn(fun() -> ?MODULE:server(8) end),
    receive {debugger_event, Session, {breakpoint, Waiting, _, _, Resume}} -> Resume() end,
    running = erl_debugger:stack_frames(Waiting, 4),
    exit(Waiting, kill).

%% A process that is suspended where it calls, without a breakpoint.
spinning() ->
    Pid = spawn(fun() -> spin(same, same) end),
    calling(Pid, {?MODULE, spin, 2}),
    true = erlang:suspend_process(Pid),
    show("spinning", {[{P, S} || {_, P, #{slots := S}} <- erl_debugger:stack_frames(Pid, 4)],
                      [erl_debugger:peek_xreg(Pid, N, 9) || N <- [0, 1, 2]], erl_debugger:xregs_count(Pid)}),
    exit(Pid, kill).

suspended() ->
    Pid = spawn(fun() -> hibernating() end),
    receive {debugger_event, _, {breakpoint, Pid, _, _, Resume}} -> Resume() end,
    calling(Pid, {erlang, hibernate, 3}),
    true = erlang:suspend_process(Pid),
    show("hibernating", {[{P, S} || {_, P, #{slots := S}} <- erl_debugger:stack_frames(Pid, 8)],
                         [erl_debugger:peek_xreg(Pid, N, 9) || N <- [0, 1, 2, 3]],
                         erl_debugger:xregs_count(Pid)}),
    exit(Pid, kill).

calling(Pid, Function) ->
    case process_info(Pid, current_function) of
        {current_function, Function} -> ok;
        _ -> erlang:yield(), calling(Pid, Function)
    end.

show(What, Value) -> io:format("~0kp: ~0kp~n", [What, Value]).
