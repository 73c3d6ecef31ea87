%% SPDX-License-Identifier: Apache-2.0
%% The configuration of logging: one map under a persistent term, which whoever logs reads without asking
%% anybody; as long as nothing is changed there is none, and logger's defaults count. Changes are made by one
%% process, one after the other; it begins with the first.
-module(logger_store).

-export([given/0, change/1]).

%% undefined: nothing has been changed.
given() -> persistent_term:get(?MODULE, undefined).

%% Change makes {Result, Config} of the configuration, or a Result alone: then nothing changes. It sees what
%% all earlier changes have made, and must be short, ask nobody and not fail.
change(Change) ->
    Server = case whereis(?MODULE) of
                 undefined -> spawn(fun begin_serving/0);
                 Pid -> Pid
             end,
    Ref = monitor(process, Server),
    Server ! {self(), Ref, Change},
    receive
        {Ref, Result} ->
            demonitor(Ref, [flush]),
            Result;
        {'DOWN', Ref, process, _, Reason} when Reason =:= second; Reason =:= noproc; Reason =:= killed ->
            change(Change);
        {'DOWN', Ref, process, _, Reason} -> exit(Reason)
    end.

begin_serving() ->
    try register(?MODULE, self())
    catch error:badarg -> exit(second)
    end,
    group_leader(whereis(init), self()),  % it belongs to none of the program's groups
    serve().

serve() ->
    receive
        {From, Ref, Change} -> From ! {Ref, changed(Change(logger:config()))};
        _ -> ok
    end,
    serve().

changed({Result, #{primary := _, handlers := _} = Config}) ->
    persistent_term:put(?MODULE, Config),
    Result;
changed(Result) -> Result.
