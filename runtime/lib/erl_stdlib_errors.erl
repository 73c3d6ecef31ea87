%% Why a function of the standard library refused its arguments, for erl_error. Most have a row of what their arguments must be, as
%% in refused_arguments. What a failed call to ets met at that time is in the entry of the stack as `cause`: the table may be gone now.
-module(erl_stdlib_errors).

-export([format_error/2]).

-spec format_error(term(), [tuple()]) -> #{pos_integer() | general => binary()}.
format_error(Reason, Stack) -> refused_arguments:in_binaries(faults(Reason, Stack)).

faults(badarith, [{math, _, [X | _], _} | _]) when is_number(X) -> #{1 => "is outside the domain for this function"};
faults({badkey, _}, [{maps, get, [_, _], _} | _]) -> #{1 => "not present in map"};
faults({badkey, _}, [{maps, take, [_, _], _} | _]) -> #{1 => "not present in map"};
faults({badkey, _}, [{maps, F, [Key, _ | _], _} | _]) when F =:= update; F =:= update_with ->
    #{1 => io_lib:format("key ~tp not present in map", [Key])};
faults(system_limit, _) -> #{};
faults(_, [{maps, F, Args, _} | _]) -> refused(maps(F, length(Args)), Args);
faults(_, [{ets, F, Args, Loc} | _]) -> ets(F, Args, maps:get(cause, proplists:get_value(error_info, Loc, #{}), none));
faults(Reason, [{io, F, Args, _} | _]) -> io(F, Reason, Args);
faults(_, [{re, F, [_, Pattern | _] = Args, _} | _]) when F =/= compile -> re(Pattern, Args);
faults(_, [{M, F, Args, _} | _]) -> refused(rows(M, F, length(Args)), Args);
faults(_, _) -> #{}.

rows(binary, F, 2) when F =:= at -> [binary, {position, 1}];
rows(binary, copy, _) -> [binary, natural];
rows(binary, decode_unsigned, _) -> [binary];
rows(binary, encode_unsigned, _) -> [natural];
rows(binary, F, 1) when F =:= first; F =:= last -> [nonempty_binary];
rows(binary, F, 1) when F =:= longest_common_prefix; F =:= longest_common_suffix -> [binaries];
rows(binary, part, 2) -> [binary, {range, 1}];
rows(binary, part, 3) -> [binary, {start, 1}, {size, 2, 1}];
rows(binary, F, N) when N >= 2, F =:= match orelse F =:= matches orelse F =:= split orelse F =:= replace -> [binary, pattern];
rows(binary, compile_pattern, 1) -> [pattern];
rows(binary, _, _) -> [binary];
rows(lists, F, 3) when F =:= keyfind; F =:= keymember; F =:= keysearch -> [any, positive, list];
rows(lists, member, 2) -> [any, list];
rows(lists, reverse, 2) -> [list];
rows(lists, seq, 2) -> [integer, integer];
rows(lists, seq, 3) -> [integer, integer, step];
rows(math, _, 1) -> [number];
rows(math, _, 2) -> [number, number];
rows(re, compile, N) -> [iodata | [compile_options || N =:= 2]];
rows(unicode, characters_to_list, N) -> lists:sublist([chardata, encoding], N);
rows(unicode, characters_to_binary, N) -> lists:sublist([chardata, encoding, encoding], N);
rows(_, _, _) -> [].

maps(F, 2) when F =:= filter; F =:= filtermap; F =:= foreach; F =:= map -> [{function, 2}, map_or_iterator];
maps(fold, 3) -> [{function, 3}, any, map_or_iterator];
maps(F, 2) when F =:= find; F =:= get; F =:= is_key; F =:= remove; F =:= take -> [any, map];
maps(F, 3) when F =:= put; F =:= update -> [any, any, map];
maps(get, 3) -> [any, map];
maps(from_list, 1) -> [pairs];
maps(from_keys, 2) -> [list];
maps(groups_from_list, 2) -> [{function, 1}, list];
maps(groups_from_list, 3) -> [{function, 1}, {function, 1}, list];
maps(F, 2) when F =:= merge; F =:= intersect -> [map, map];
maps(F, 3) when F =:= merge_with; F =:= intersect_with -> [{function, 3}, map, map];
maps(next, 1) -> [iterator];
maps(to_list, 1) -> [map];
maps(update_with, 3) -> [any, {function, 1}, map];
maps(update_with, 4) -> [any, {function, 1}, any, map];
maps(F, 2) when F =:= with; F =:= without -> [list, map];
maps(_, _) -> [map].

refused(Kinds, Args) ->
    {Own, Common} = lists:partition(fun({_, Kind, _}) -> is_own(Kind) end, number(1, Kinds, Args)),
    maps:from_list([{N, Why} || {N, Kind, Arg} <- Own, Why <- [why(Kind, Arg)], Why =/= ok]
                   ++ [Fault || {N, Kind, _} <- Common,
                                {At, _} = Fault <- maps:to_list(refused_arguments:explain(lists:duplicate(N - 1, any) ++ [Kind], Args)), At =:= N]).

number(N, [Kind | Kinds], [Arg | Args]) -> [{N, Kind, Arg} | number(N + 1, Kinds, Args)];
number(_, _, _) -> [].

is_own({function, _}) -> true;
is_own(Kind) ->
    lists:member(Kind, [map_or_iterator, iterator, pairs, binaries, pattern, chardata, encoding, step, compile_options]).

why({function, N}, F) when is_function(F, N) -> ok;
why({function, 1}, _) -> "not a fun that takes one argument";
why({function, 2}, _) -> "not a fun that takes two arguments";
why({function, 3}, _) -> "not a fun that takes three arguments";
why(map_or_iterator, M) ->
    case is_map(M) orelse is_iterator(M) of
        true -> ok;
        false -> "not a map or an iterator"
    end;
why(iterator, I) ->
    case is_iterator(I) of
        true -> ok;
        false -> "not a valid iterator"
    end;
why(pairs, L) when not is_list(L) -> "not a list";
why(pairs, _) -> ok;
why(binaries, L) ->
    case is_list(L) andalso L =/= [] andalso lists:all(fun is_binary/1, L) of
        true -> ok;
        false -> "not a flat list of binaries"
    end;
why(pattern, P) ->
    try binary:match(<<"x">>, P) of
        _ -> ok
    catch error:_ -> "not a valid pattern"
    end;
why(chardata, C) ->
    try unicode:characters_to_list(C, latin1) of
        _ -> ok
    catch error:_ -> "not valid character data (an iodata term)"
    end;
why(encoding, E) ->
    try unicode:characters_to_list(<<>>, E) of
        _ -> ok
    catch error:_ -> "not a valid encoding"
    end;
why(step, Step) when is_integer(Step), Step > 0 -> ok;
why(step, Step) when is_integer(Step), Step < 0 -> "not a negative increment";
why(step, Step) when is_integer(Step) -> "not a positive increment";
why(step, _) -> "not an integer";
why(compile_options, L) when not is_list(L) -> "not a list";
why(compile_options, L) ->
    try re:compile("", L) of
        _ -> ok
    catch error:_ -> "invalid options"
    end.

is_iterator({_, _, _}) -> true;
is_iterator(none) -> true;
is_iterator([_ | Map]) -> is_map(Map);
is_iterator(_) -> false.

%% --- Tables ---

ets(F, [_], _) when F =:= match; F =:= match_object; F =:= select; F =:= select_reverse -> #{1 => "invalid continuation"};
ets(F, Args, Cause) ->
    Table = table(Args, Cause),
    maps:merge(Table, besides(F, Args, Cause, Table =:= #{})).

table([Table | _], type) when is_reference(Table) -> #{1 => "not a valid table identifier"};
table(_, type) -> #{1 => "not an atom or a table identifier"};
table(_, id) -> #{1 => "the table identifier does not refer to an existing ETS table"};
table(_, access) -> #{1 => "the table identifier refers to an ETS table with insufficient access rights"};
table(_, table_type) -> #{1 => "the table identifier refers to an ETS table of a type not supported by this operation"};
table(_, _) -> #{}.

%% What is wrong with the arguments behind the table. The last argument: whether the table is fine, so that it must be one of them.
besides(new, [_, _], already_exists, _) -> #{1 => "table name already exists"};
besides(new, [Name, Options], _, _) when is_atom(Name), is_list(Options) -> #{2 => "invalid options"};
besides(new, Args, _, _) -> refused([atom, list], Args);
besides(whereis, _, _, _) -> #{1 => "invalid table name (must be an atom)"};
besides(match_spec_compile, _, _, _) -> #{1 => "not a valid match specification"};
besides(rename, [_, Name], _, _) when not is_atom(Name) -> #{2 => "invalid table name (must be an atom)"};
besides(give_away, [_, Pid, _], _, _) when not is_pid(Pid) -> #{2 => "not a pid"};
besides(give_away, _, owner, _) -> #{2 => "the process is already the owner of the table"};
besides(give_away, _, not_owner, _) -> #{2 => "the current process is not the owner"};
besides(F, [_, Objects], _, _) when F =:= insert; F =:= insert_new -> objects(Objects);
besides(delete_object, [_, Object], _, _) -> tuple(2, Object);
besides(F, [_, _, _] = Args, _, _) when F =:= match; F =:= match_object -> refused([any, any, positive], Args);
besides(F, [_, Spec, _] = Args, _, _) when F =:= select; F =:= select_reverse -> maps:merge(specification(Spec), refused([any, any, positive], Args));
besides(lookup_element, Args, Cause, Fine) ->
    case refused([any, any, positive], Args) of
        Faults when Cause =:= badkey -> Faults#{2 => "not a key that exists in the table"};
        Faults when Faults =:= #{}, Fine -> #{3 => "position is greater than the size of the object"};
        Faults -> Faults
    end;
besides(update_counter, [_, _, _, _], _, false) -> #{};
besides(update_counter, [_, _, Update | Default], Cause, _) ->
    Faults = maps:merge(update(Update), case Default of [] -> #{}; [Object] -> tuple(4, Object) end),
    case Cause of
        badkey -> Faults#{2 => "not a key that exists in the table"};
        keypos -> Faults#{3 => "the position is the same as the key position"};
        position -> #{3 => "the position in the update operation is out of range"};
        none when Faults =:= #{} -> #{3 => "the value in the given position, in the object, is not an integer"};
        _ -> Faults
    end;
besides(update_element, _, keypos, _) -> #{3 => "the position is the same as the key position"};
besides(update_element, [_, _, Changes | _], _, Fine) ->
    case all(fun({Place, _}) -> is_integer(Place) andalso Place > 0; (_) -> false end, Changes) of
        false -> #{3 => "is not a valid element specification"};
        true when Fine -> #{3 => "out of range"};
        true -> #{}
    end;
besides(F, _, _, true) -> mostly(F);
besides(_, _, _, false) -> #{}.

%% What is wrong when nothing else is.
mostly(give_away) -> #{2 => "the pid refers to a terminated process"};
mostly(rename) -> #{2 => "table name already exists"};
mostly(F) when F =:= next; F =:= prev -> #{2 => "not a key that exists in the table"};
mostly(info) -> #{2 => "not a valid info item"};
mostly(safe_fixtable) -> #{2 => "not a boolean value"};
mostly(setopts) -> #{2 => "invalid options"};
mostly(slot) -> #{2 => "out of range"};
mostly(F) when F =:= select; F =:= select_count; F =:= internal_select_delete; F =:= select_replace; F =:= select_reverse ->
    #{2 => "not a valid match specification"};
mostly(_) -> #{}.

specification(Spec) ->
    try ets:match_spec_compile(Spec) of
        _ -> #{}
    catch error:_ -> #{2 => "not a valid match specification"}
    end.

tuple(_, Tuple) when tuple_size(Tuple) > 0 -> #{};
tuple(N, {}) -> #{N => "is an empty tuple"};
tuple(N, _) -> #{N => "not a tuple"}.

objects(Object) when not is_list(Object) -> tuple(2, Object);
objects(Objects) ->
    case all(fun(Object) -> is_tuple(Object) andalso Object =/= {} end, Objects) of
        true -> #{};
        false -> #{2 => "not a non-empty tuple or a list of non-empty tuples"}
    end.

update(Update) ->
    case all(fun(N) when is_integer(N) -> true;
                ({Place, N}) -> is_integer(Place) andalso is_integer(N);
                ({Place, N, Limit, Set}) -> lists:all(fun is_integer/1, [Place, N, Limit, Set]);
                (_) -> false
             end, Update) of
        true -> #{};
        false -> #{3 => "not a valid update operation"}
    end.

%% One, or a proper list of them.
all(Is, [One | List]) -> Is(One) andalso (List =:= [] orelse is_list(List) andalso all(Is, List));
all(_, []) -> true;
all(Is, One) -> Is(One).

%% --- Input and output ---

io(F, terminated, Args) -> device(F, Args, "the device has terminated");
io(F, badarg, Args) ->
    case named_device(F, Args) of
        {ok, Device, Rest} when is_atom(Device), Device =/= standard_io, Device =/= standard_error ->
            case whereis(Device) of
                undefined -> #{1 => "the device does not exist"};
                _ -> moved(text(F, Rest))
            end;
        {ok, Device, Rest} when is_pid(Device); is_atom(Device) -> moved(text(F, Rest));
        {ok, _, _} -> #{1 => "the device does not exist"};
        none -> text(F, Args)
    end;
io(_, _, _) -> #{}.

device(F, Args, Text) ->
    case named_device(F, Args) of
        {ok, _, _} -> #{1 => Text};
        none -> #{general => Text}
    end.

named_device(F, [Device, Format, Args]) when F =:= format; F =:= fwrite -> {ok, Device, [Format, Args]};
named_device(F, [Device, X]) when F =:= put_chars; F =:= write -> {ok, Device, [X]};
named_device(nl, [Device]) -> {ok, Device, []};
named_device(_, _) -> none.

moved(Faults) -> maps:from_list([{N + 1, Text} || {N, Text} <- maps:to_list(Faults)]).

text(put_chars, [Chars]) ->
    case why(chardata, Chars) of
        ok -> #{};
        Text -> #{1 => Text}
    end;
text(F, [Format]) when F =:= format; F =:= fwrite -> text(F, [Format, []]);
text(F, [_, Args]) when F =:= format orelse F =:= fwrite, not is_list(Args) -> #{2 => "not a list"};
text(F, [Format, Args]) when F =:= format; F =:= fwrite ->
    try controls(characters(Format), 0) of
        {invalid, Text} -> #{1 => ["format string invalid (", Text, ")"]};
        N when N =/= length(Args) -> #{1 => "wrong number of arguments"};
        _ -> #{1 => "failed to format string"}
    catch error:_ -> #{1 => "format string invalid (not a format)"}
    end;
text(_, _) -> #{}.

characters(Format) when is_atom(Format) -> atom_to_list(Format);
characters(Format) -> lists:flatten(unicode:characters_to_list(Format)).

%% How many arguments a format takes: one for each control, one for each asterisk.
controls([$~ | Format], N) -> field(Format, N);
controls([_ | Format], N) -> controls(Format, N);
controls([], N) -> N.

field([C | Format], N) when C >= $0, C =< $9; C =:= $-; C =:= $. -> field(Format, N);
field([$* | Format], N) -> field(Format, N + 1);
field([C | Format], N) when C =:= $t; C =:= $l; C =:= $k; C =:= $K -> field(Format, N);
field([C | Format], N) when C =:= $~; C =:= $n -> controls(Format, N);
field([C | Format], N) when C =:= $W; C =:= $P; C =:= $x; C =:= $X -> controls(Format, N + 2);
field([C | Format], N) ->
    case lists:member(C, "cfegswpbB#+i") of
        true -> controls(Format, N + 1);
        false -> {invalid, ["invalid control ~", C]}
    end;
field([], _) -> {invalid, "truncated"}.

%% --- Regular expressions ---

re(Pattern, [Subject | _] = Args) ->
    Faults = case why(chardata, Subject) of
                 ok -> #{};
                 _ -> #{1 => "not an iodata term"}
             end,
    Wrong = if
                is_tuple(Pattern) -> ok;
                true ->
                    try re:compile(Pattern) of
                        {ok, _} -> ok;
                        {error, {Text, At}} ->
                            ["could not parse regular expression\n", Text, " on character ", integer_to_list(At)]
                    catch error:_ -> "neither an iodata term nor a compiled regular expression"
                    end
            end,
    case Wrong of
        ok when map_size(Faults) =:= 0 -> #{length(Args) => "invalid options"};
        ok -> Faults;
        _ -> Faults#{2 => Wrong}
    end.
