%% SPDX-License-Identifier: Apache-2.0
%% Tables: what is not built into the machine. Tables in files, for dets, for qlc and for people are an
%% installed OTP's.
-module(ets).

-export([foldl/3, foldr/3, select_delete/2, match_spec_run/2, test_ms/2, fun2ms/1, repair_continuation/2,
         init_table/2, '$handle_undefined_function'/2]).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

%% The table is fixed, so that objects may be deleted on the way.
foldl(F, Acc, Table) when is_function(F, 2) ->
    ets:safe_fixtable(Table, true),
    try fold(F, Acc, ets:first(Table), Table, fun ets:next/2)
    after ets:safe_fixtable(Table, false)
    end.

foldr(F, Acc, Table) when is_function(F, 2) ->
    ets:safe_fixtable(Table, true),
    try fold(F, Acc, ets:last(Table), Table, fun ets:prev/2)
    after ets:safe_fixtable(Table, false)
    end.

fold(_, Acc, '$end_of_table', _, _) -> Acc;
fold(F, Acc, Key, Table, Next) ->
    fold(F, lists:foldl(F, Acc, ets:lookup(Table, Key)), Next(Table, Key), Table, Next).

select_delete(Table, Spec) -> ets:internal_select_delete(Table, Spec).

match_spec_run(Objects, Compiled) -> lists:reverse(ets:match_spec_run_r(Objects, Compiled, [])).

test_ms(Tuple, Spec) ->
    case erlang:match_spec_test(Tuple, Spec, table) of
        {ok, Result, _, _} -> {ok, Result};
        {error, _} = Error -> Error
    end.

%% A compiler's parse transform would have replaced the call.
fun2ms(F) when is_function(F) ->
    exit({badarg, {?MODULE, fun2ms, [function, called, with, real, 'fun', should, be, transformed, with,
                                     parse_transform, 'or', called, with, a, 'fun', generated, in, the,
                                     shell]}}).

%% Specifications are plain terms here, so a continuation stays good.
repair_continuation(Continuation, _) -> Continuation.

%% Fills a table with what a function reads, which answers {Objects, NextFunction} or end_of_input.
init_table(Table, Read) ->
    ets:delete_all_objects(Table),
    try filled(Table, Read(read))
    catch throw:Thrown -> exit(Thrown)
    end.

filled(_, end_of_input) -> true;
filled(Table, {Objects, Read}) when is_list(Objects), is_function(Read, 1) ->
    true = ets:insert(Table, Objects),
    filled(Table, Read(read)).
