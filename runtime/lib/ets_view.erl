%% Tables for a person at a terminal: ets:i/0 lists them, ets:i/1,2,3 shows the objects of one, a
%% screenful at a time.
-module(ets_view).

-export([tables/0, objects/3]).

tables() ->
    row([id, name, type, size, mem, owner]),
    io:put_chars([$\s, lists:duplicate(76, $-), $\n]),
    lists:foreach(fun table/1, lists:sort(ets:all())).

table(Table) ->
    case [ets:info(Table, Item) || Item <- [name, type, size, memory, owner]] of
        [undefined | _] -> io:format("~-10s ... unreadable \n", [text(Table)]);
        [Name, Type, Size, Memory, Owner] -> row([Table, Name, Type, Size, Memory, name(Owner)])
    end.

name(Pid) ->
    case process_info(Pid, registered_name) of
        {registered_name, Name} -> Name;
        _ -> Pid
    end.

%% What is too long moves the rest of its line to the right.
row(Columns) ->
    io:put_chars([[[$\s, string:pad(text(Column), Width)]
                   || {Column, Width} <- lists:zip(Columns, [15, 17, 5, 6, 8, 0])], $\n]).

text(Term) -> lists:flatten(io_lib:format("~p", [Term])).

%% Objects are numbered. After Height of them it is asked what to do: to go on, to end, to show one
%% as it is, to delete the table, or to begin again with only those whose text matches a regular
%% expression.

-record(view, {table, height, width, expression = none}).

objects(Table, Height, Width) ->
    show(#view{table = Table, height = Height, width = Width}, ets:first(Table), 1, 1).

show(V, '$end_of_table', _, Number) ->
    ask(V, "EOT  (q)uit (p)Digits (k)ill /Regexp -->", '$end_of_table', Number);
show(#view{height = Height} = V, Key, Line, Number) when Line >= Height ->
    ask(V, "(c)ontinue (q)uit (p)Digits (k)ill /Regexp -->", Key, Number);
show(V, Key, Line, Number) ->
    Objects = wanted(V, Key),
    N = length(Objects),
    [io:format("<~-4w> ~s~n", [At, shortened(text(Object), V)])
     || {At, Object} <- lists:zip(lists:seq(Number, Number + N - 1), Objects)],
    show(V, ets:next(V#view.table, Key), Line + N, Number + N).

wanted(#view{table = Table, expression = none}, Key) -> ets:lookup(Table, Key);
wanted(#view{table = Table, expression = Expression}, Key) ->
    [Object || Object <- ets:lookup(Table, Key),
               re:run(text(Object), Expression, [{capture, none}]) =:= match].

shortened(Text, #view{width = Width}) when length(Text) > Width - 8 ->
    string:slice(Text, 0, Width - 13) ++ "  ...";
shortened(Text, _) -> Text.

ask(#view{table = Table} = V, Prompt, Key, Number) ->
    case line(io:get_line(Prompt)) of
        Go when Key =/= '$end_of_table', Go =:= "\n" orelse Go =:= "c\n" -> show(V, Key, 1, Number);
        "q\n" -> ok;
        eof -> ok;
        {error, _} -> ok;
        "k\n" ->
            ets:delete(Table),
            ok;
        [$p | Digits] ->
            try list_to_integer(string:trim(Digits)) of
                N -> show_one(V, ets:first(Table), N)
            catch error:badarg -> io:put_chars("Bad digits\n")
            end,
            ask(V, Prompt, Key, Number);
        [$/ | Text] ->
            case re:compile(string:trim(Text, trailing, "\n"), [unicode]) of
                {ok, Expression} -> show(V#view{expression = Expression}, ets:first(Table), 1, 1);
                {error, {Message, _}} ->
                    io:format("~ts\n", [Message]),
                    ask(V, Prompt, Key, Number)
            end;
        _ -> ask(V, Prompt, Key, Number)
    end.

line(Line) when is_binary(Line) -> unicode:characters_to_list(Line);
line(Line) -> Line.

show_one(V, Key, N) when Key =/= '$end_of_table', N > 0 ->
    Objects = wanted(V, Key),
    case length(Objects) of
        Here when N =< Here -> io:format("~p~n", [lists:nth(N, Objects)]);
        Here -> show_one(V, ets:next(V#view.table, Key), N - Here)
    end;
show_one(_, _, _) -> ok.
