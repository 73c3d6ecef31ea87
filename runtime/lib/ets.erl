%% Tables: what is not built into the machine.
-module(ets).

-export([foldl/3, foldr/3, select_delete/2, match_spec_run/2, test_ms/2, fun2ms/1, repair_continuation/2, init_table/2,
         tab2file/2, tab2file/3, file2tab/1, file2tab/2, tabfile_info/1, to_dets/2, from_dets/2, table/1,
         table/2,
         i/0, i/1, i/2, i/3]).

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
                                     parse_transform, 'or', called, with, a, 'fun', generated, in, the, shell]}}).

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

%% Files. The content is one external term, {ets_table, Info, Digest, Objects}; Info is what tabfile_info/1 answers.

tab2file(Table, File) -> tab2file(Table, File, []).

tab2file(Table, File, Options) ->
    try
        Extended = extended(Options, []),
        Info = [{Key, ets:info(Table, Key)} || Key <- [name, type, protection, named_table, keypos, size]]
            ++ [{extended_info, Extended}, {version, {1, 0}}],
        undefined =/= ets:info(Table, size) orelse throw(badtab),
        Objects = ets:tab2list(Table),
        write(File, term_to_binary({ets_table, Info, digest(Extended, Objects), Objects}), lists:member({sync, true}, Options))
    catch throw:Reason -> {error, Reason}
    end.

extended([], Extended) -> Extended;
extended([{sync, Sync} | Options], Extended) when is_boolean(Sync) -> extended(Options, Extended);
extended([{extended_info, Wanted} | Options], _) when is_list(Wanted) ->
    [W || W <- Wanted, W =/= md5sum, W =/= object_count] =:= [] orelse throw({unknown_option, {extended_info, Wanted}}),
    extended(Options, Wanted);
extended([Option | _], _) -> throw({unknown_option, Option}).

digest(Extended, Objects) ->
    case lists:member(md5sum, Extended) of
        true -> erlang:md5(term_to_binary(Objects));
        false -> none
    end.

write(File, Bytes, Sync) ->
    case file:write_file(File, Bytes, [raw | [sync || Sync]]) of
        ok -> ok;
        {error, Reason} -> throw({file_error, File, Reason})
    end.

file2tab(File) -> file2tab(File, []).

file2tab(File, Options) ->
    try
        Verify = verify(Options, false),
        {Info, Digest, Objects} = content(File),
        {extended_info, Extended} = lists:keyfind(extended_info, 1, Info),
        not Verify orelse Digest =:= digest(Extended, Objects) orelse throw(checksum_error),
        not Verify orelse {size, length(Objects)} =:= lists:keyfind(size, 1, Info) orelse throw(invalid_object_count),
        Table = created(Info),
        true = ets:insert(Table, Objects),
        {ok, Table}
    catch throw:Reason -> {error, Reason}
    end.

verify([], Verify) -> Verify;
verify([{verify, Verify} | Options], _) when is_boolean(Verify) -> verify(Options, Verify);
verify([Option | _], _) -> throw({unknown_option, Option}).

content(File) ->
    case file:read_file(File) of
        {ok, Bytes} ->
            try binary_to_term(Bytes) of
                {ets_table, Info, Digest, Objects} when is_list(Info), is_list(Objects) -> {Info, Digest, Objects};
                _ -> throw(badfile)
            catch error:badarg -> throw({read_error, {not_a_log_file, File}})
            end;
        {error, Reason} -> throw({read_error, {file_error, File, Reason}})
    end.

created(Info) ->
    [Name, Type, Protection, Named, Position] =
        [proplists:get_value(Key, Info) || Key <- [name, type, protection, named_table, keypos]],
    try ets:new(Name, [Type, Protection, {keypos, Position} | [named_table || Named]])
    catch error:_ -> throw(cannot_create_table)
    end.

tabfile_info(File) ->
    try content(File) of
        {Info, _, _} -> {ok, Info}
    catch throw:Reason -> {error, Reason}
    end.

%% With dets and qlc, of an installed OTP

to_dets(Table, Dets) ->
    case in_dets(fun() -> dets:from_ets(Dets, Table) end) of
        ok -> Dets;
        Reason -> error(Reason, [Table, Dets])
    end.

from_dets(Table, Dets) ->
    case in_dets(fun() -> dets:to_ets(Dets, Table) end) of
        Table -> true;
        Reason -> error(Reason, [Table, Dets])
    end.

%% What it answers, or the reason for which it has not.
in_dets(Copy) ->
    try Copy() of
        {error, Reason} -> Reason;
        Done -> Done
    catch _:Reason -> Reason
    end.

table(Table) -> table(Table, []).

table(Table, Options) ->
    case ets_query:handle(Table, Options) of
        badarg -> error(badarg, [Table, Options]);
        Handle -> Handle
    end.

%% To look at

i() -> ets_view:tables().
i(Table) -> i(Table, 40).
i(Table, Height) -> i(Table, Height, 80).
i(Table, Height, Width) -> ets_view:objects(Table, Height, Width).
