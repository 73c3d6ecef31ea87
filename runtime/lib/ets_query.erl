%% A table as a handle for queries, ets:table/1,2: what qlc, of an installed OTP, has to know of it.
-module(ets_query).

-export([handle/2]).

%% Options besides those of qlc: traverse, n_objects. badarg: one of the two is wrong.
handle(Table, Given) ->
    Options = if is_list(Given) -> Given; true -> [Given] end,
    Traverse = option(traverse, Options, select),
    N = case option(n_objects, Options, default) of default -> 100; Other -> Other end,
    case is_traverse(Traverse) andalso is_integer(N) andalso N > 0 of
        true ->
            qlc:table(traversal(Traverse, Table, N),
                      [{pre_fun, fun(_) -> ets:safe_fixtable(Table, true) end},
                       {post_fun, fun() -> ets:safe_fixtable(Table, false) end},
                       {info_fun, fun(What) -> info(What, Table) end},
                       {format_fun, fun(What) -> shown(What, Table, Given) end},
                       {key_equality, case ets:info(Table, type) of ordered_set -> '=='; _ -> '=:=' end},
                       {lookup_fun, lookup(Traverse, Table)}
                       | [Option || Option <- Options, not is_own(Option)]]);
        false -> badarg
    end.

option(Key, Options, Default) ->
    case lists:keyfind(Key, 1, Options) of
        {_, Value} -> Value;
        false -> Default
    end.

is_own(Option) ->
    is_tuple(Option) andalso (element(1, Option) =:= traverse orelse element(1, Option) =:= n_objects).

is_traverse({select, _}) -> true;
is_traverse(Traverse) -> lists:member(Traverse, [first_next, last_prev, select]).

%% Objects as a list whose tail is a function that answers more.
traversal(first_next, Table, _) -> fun() -> objects(Table, ets:first(Table), fun ets:next/2) end;
traversal(last_prev, Table, _) -> fun() -> objects(Table, ets:last(Table), fun ets:prev/2) end;
traversal(select, Table, N) -> fun(Specification) -> selected(ets:select(Table, Specification, N)) end;
traversal({select, Specification}, Table, N) -> fun() -> selected(ets:select(Table, Specification, N)) end.

objects(_, '$end_of_table', _) -> [];
objects(Table, Key, Next) -> ets:lookup(Table, Key) ++ fun() -> objects(Table, Next(Table, Key), Next) end.

selected('$end_of_table') -> [];
selected({Objects, Continuation}) -> Objects ++ fun() -> selected(ets:select(Continuation)) end.

info(num_of_objects, Table) -> ets:info(Table, size);
info(keypos, Table) -> ets:info(Table, keypos);
info(is_unique_objects, Table) -> ets:info(Table, type) =/= duplicate_bag;
info(is_sorted_key, Table) -> ets:info(Table, type) =:= ordered_set;
info(_, _) -> undefined.

lookup({select, _}, _) -> undefined;
lookup(_, Table) -> fun(_, Keys) -> lists:append([ets:lookup(Table, Key) || Key <- Keys]) end.

shown({all, _, _}, Table, []) -> {ets, table, [Table]};
shown({all, _, _}, Table, Options) -> {ets, table, [Table, Options]};
shown({match_spec, Specification}, Table, Options) -> {ets, table,
                                                       [Table, [{traverse,
                                                                 {select, Specification}} | if is_list(Options) -> Options; true -> [Options] end]]};
shown({lookup, _, [Key], _, Element}, Table, _) -> io_lib:format("ets:lookup(~w, ~w)", [Table, Element(Key)]);
shown({lookup, _, Keys, _, Element}, Table, _) ->
    io_lib:format("lists:flatmap(fun(V) -> ets:lookup(~w, V) end, ~w)",
                  [Table, [Element(Key) || Key <- Keys]]).
