%% SPDX-License-Identifier: Apache-2.0
%% Text from terms. Formatting is in io_lib_format, line breaking in
%% io_lib_pretty, reading with a format in io_lib_fread; here are the plain
%% writer, quoting, the tests for character lists, and the collectors that the
%% I/O protocol names in its requests.
-module(io_lib).

-export([bformat/2, bformat/3, bfwrite/2, bfwrite/3, bwrite/2, bwrite_string/3]).
-export([format/2, format/3, fwrite/2, fwrite/3, fread/2, fread/3, scan_format/2,
         unscan_format/1, build_text/1, build_text/2, print/1, print/4,
         indentation/2, nl/0]).
-export([write/1, write/2, write/3, write/5, write_atom/1, write_atom_as_latin1/1,
         write_string/1, write_string/2, write_string_as_latin1/1,
         write_string_as_latin1/2, write_unicode_string/1, write_latin1_string/1,
         write_latin1_string/2, write_char/1, write_char_as_latin1/1,
         write_unicode_char/1, write_latin1_char/1, write_binary/3, quote_atom/2]).
-export([char_list/1, latin1_char_list/1, unicode_char_list/1, deep_char_list/1,
         deep_latin1_char_list/1, deep_unicode_char_list/1, printable_list/1,
         printable_latin1_list/1, printable_unicode_list/1, chars_length/1,
         limit_term/2, map_pairs/2]).
-export([format_prompt/1, format_prompt/2, collect_chars/3, collect_chars/4,
         collect_line/3, collect_line/4, get_until/3, get_until/4]).

-type chars() :: [char() | chars()].
-export_type([chars/0]).

%% To binaries in UTF-8

bformat(Format, Args) -> bfwrite(Format, Args).

bformat(Format, Args, Options) -> bfwrite(Format, Args, Options).

bfwrite(Format, Args) ->
    try unicode:characters_to_binary(io_lib_format:fwrite(Format, Args))
    catch error:_ -> error(badarg, [Format, Args])
    end.

bfwrite(Format, Args, Options) ->
    try unicode:characters_to_binary(io_lib_format:fwrite(Format, Args, Options))
    catch error:_ -> error(badarg, [Format, Args, Options])
    end.

bwrite(Term, Options) -> unicode:characters_to_binary(write(Term, Options)).

%% Without a quote nothing is escaped.
bwrite_string(Text, [], _) -> unicode:characters_to_binary(Text);
bwrite_string(Text, Quote, _) -> unicode:characters_to_binary(write_string(Text, Quote)).

%% Formatting

-spec format(io:format(), [term()]) -> chars().
format(Format, Args) -> fwrite(Format, Args).

format(Format, Args, Options) -> fwrite(Format, Args, Options).

fwrite(Format, Args) ->
    try io_lib_format:fwrite(Format, Args)
    catch error:_ -> error(badarg, [Format, Args])
    end.

fwrite(Format, Args, Options) ->
    try io_lib_format:fwrite(Format, Args, Options)
    catch error:_ -> error(badarg, [Format, Args, Options])
    end.

scan_format(Format, Args) ->
    try io_lib_format:scan(Format, Args)
    catch error:_ -> error(badarg, [Format, Args])
    end.

unscan_format(Items) -> io_lib_format:unscan(Items).

build_text(Items) ->
    try io_lib_format:build(Items)
    catch error:_ -> error(badarg, [Items])
    end.

build_text(Items, Options) ->
    try io_lib_format:build(Items, Options)
    catch error:_ -> error(badarg, [Items, Options])
    end.

fread(Format, Chars) -> io_lib_fread:fread(Format, Chars).

fread(Cont, Chars, Format) -> io_lib_fread:fread(Cont, Chars, Format).

print(Term) -> io_lib_pretty:print(Term).

print(Term, Column, LineLength, Depth) ->
    io_lib_pretty:print(Term, Column, LineLength, Depth).

nl() -> "\n".

%% The column after printing Chars at column Col.
indentation([$\n | T], _) -> indentation(T, 0);
indentation([$\t | T], Col) -> indentation(T, (Col div 8 + 1) * 8);
indentation([C | T], Col) when is_integer(C) -> indentation(T, Col + 1);
indentation([L | T], Col) -> indentation(T, indentation(L, Col));
indentation([], Col) -> Col.

%% Writing terms. Depth -1 means everything; Encoding latin1 escapes what is
%% beyond Latin-1 in atoms.

-spec write(term()) -> chars().
write(Term) -> w(Term, -1, latin1, undefined).

write(Term, Depth) when is_integer(Depth) -> w(Term, Depth, latin1, undefined);
write(Term, true) -> write(Term, -1);
write(Term, Options) when is_list(Options) ->
    Depth = proplists:get_value(depth, Options, -1),
    Encoding = proplists:get_value(encoding, Options, latin1),
    Limit = proplists:get_value(chars_limit, Options, -1),
    Order = proplists:get_value(maps_order, Options, undefined),
    write(Term, Depth, Encoding, Order, Limit).

write(Term, Depth, true) -> write(Term, Depth);
write(Term, Depth, false) -> w(Term, Depth, latin1, undefined).

%% With a limit, the deepest output that is short enough.
write(_, _, _, _, 0) -> "...";
write(Term, Depth, Encoding, Order, Limit) when Limit < 0 -> w(Term, Depth, Encoding, Order);
write(Term, Depth, Encoding, Order, Limit) ->
    Full = w(Term, Depth, Encoding, Order),
    case chars_length(Full) =< Limit of
        true -> Full;
        false -> limited(fun(D) -> w(Term, D, Encoding, Order) end, Limit, 2, w(Term, 1, Encoding, Order))
    end.

limited(Write, Limit, Depth, Best) ->
    Text = Write(Depth),
    case chars_length(Text) =< Limit of
        true -> limited(Write, Limit, Depth + 1, Text);
        false -> Best
    end.

w(_, 0, _, _) -> "...";
w(X, _, _, _) when is_integer(X) -> integer_to_list(X);
w(X, _, E, _) when is_atom(X) -> atom_text(X, E);
w(X, _, _, _) when is_float(X) -> float_to_list(X, [short]);
w([], _, _, _) -> "[]";
w({}, _, _, _) -> "{}";
w([_ | _], 1, _, _) -> "[...]";
w([H | T], D, E, O) -> [$[, w(H, D - 1, E, O) | w_tail(T, D - 1, E, O)];
w(X, D, E, O) when is_tuple(X) ->
    case D of
        1 -> "{...}";
        _ -> [${, w(element(1, X), D - 1, E, O) | w_elements(X, 2, tuple_size(X), D - 1, E, O)]
    end;
w(X, D, E, O) when is_map(X) ->
    case D of
        _ when map_size(X) =:= 0 -> "#{}";
        1 -> "#{}";
        _ -> ["#{" | w_pairs(map_pairs(X, O), D, E, O)]
    end;
w(X, D, _, _) when is_bitstring(X) -> ["<<", w_bytes(X, D, byte_size(X)), ">>"];
w(X, _, _, _) when is_pid(X) -> pid_to_list(X);
w(X, _, _, _) when is_reference(X) -> ref_to_list(X);
w(X, _, _, _) when is_function(X) -> erlang:fun_to_list(X);
w(X, _, _, _) when is_port(X) -> port_to_list(X);
w(Record, D, E, O) ->
    Fields = [{Name, records:get(Name, Record)} || Name <- records:get_field_names(Record)],
    [record_name(Record, E), ${, w_fields(Fields, D, E, O), $}].

%% #module:name of a native record
record_name(Record, E) ->
    [$#, atom_text(records:get_module(Record), E), $:, atom_text(records:get_name(Record), E)].

w_fields([], _, _, _) -> "";
w_fields(_, 1, _, _) -> "...";
w_fields([{Name, Value} | T], D, E, O) ->
    Comma = if T =:= [] -> ""; true -> "," end,
    [atom_text(Name, E), " = ", w(Value, D - 1, E, O), Comma | w_fields(T, D - 1, E, O)].

w_tail([], _, _, _) -> "]";
w_tail(_, 1, _, _) -> "|...]";
w_tail([H | T], D, E, O) -> [$,, w(H, D - 1, E, O) | w_tail(T, D - 1, E, O)];
w_tail(X, D, E, O) -> [$|, w(X, D - 1, E, O), $]].

w_elements(_, I, N, _, _, _) when I > N -> "}";
w_elements(_, _, _, 1, _, _) -> ",...}";
w_elements(X, I, N, D, E, O) -> [$,, w(element(I, X), D - 1, E, O) | w_elements(X, I + 1, N, D - 1, E, O)].

%% All pairs are written at the same depth; only their number is limited.
w_pairs([{K, V} | T], D, E, O) -> [w_pair(K, V, D - 1, E, O) | w_pairs_tail(T, D - 1, D - 1, E, O)].

w_pairs_tail(_, 1, _, _, _) -> ",...}";
w_pairs_tail([], _, _, _, _) -> "}";
w_pairs_tail([{K, V} | T], Left, D, E, O) ->
    [$,, w_pair(K, V, D, E, O) | w_pairs_tail(T, Left - 1, D, E, O)].

w_pair(K, V, D, E, O) -> [w(K, D, E, O), " => " | w(V, D, E, O)].

%% The pairs of a map in the order asked for.
map_pairs(Map, undefined) -> maps:to_list(maps:iterator(Map));
map_pairs(Map, Order) -> maps:to_list(maps:iterator(Map, Order)).

%% {Text, Rest} of a bitstring at a depth, without the brackets.
write_binary(B, Depth, _Limit) when is_integer(Depth), is_bitstring(B) ->
    {w_bytes(B, Depth, byte_size(B)), <<>>}.

w_bytes(<<>>, _, _) -> "";
w_bytes(_, 1, _) -> "...";
w_bytes(<<X>>, _, _) -> integer_to_list(X);
w_bytes(<<X, Rest/bitstring>>, D, N) -> [integer_to_list(X), $, | w_bytes(Rest, D - 1, N)];
w_bytes(B, _, _) ->
    Bits = bit_size(B),
    <<X:Bits>> = B,
    [integer_to_list(X), $: | integer_to_list(Bits)].

%% Atoms

-spec write_atom(atom()) -> chars().
write_atom(A) -> atom_text(A, unicode).

write_atom_as_latin1(A) -> atom_text(A, latin1).

atom_text(A, Encoding) ->
    Chars = atom_to_list(A),
    case quote_atom(A, Chars) of
        false -> Chars;
        true -> [$' | quoted(Chars, $', Encoding)]
    end.

quote_atom(A, [C | T]) ->
    case erl_scan_words:reserved(A) of
        true -> true;
        false -> not (is_lower(C) andalso plain_chars(T))
    end;
quote_atom(_, []) -> true.

is_lower(C) -> (C >= $a andalso C =< $z) orelse (C >= $ß andalso C =< $ÿ andalso C =/= $÷).

plain_chars([C | T]) -> is_name_char(C) andalso plain_chars(T);
plain_chars([]) -> true.

is_name_char(C) when C >= $a, C =< $z -> true;
is_name_char(C) when C >= $A, C =< $Z -> true;
is_name_char(C) when C >= $0, C =< $9 -> true;
is_name_char(C) when C =:= $_; C =:= $@ -> true;
is_name_char(C) -> C >= $À andalso C =< $ÿ andalso C =/= $× andalso C =/= $÷.

%% Strings and characters

write_string(S) -> write_string(S, $").

write_string(S, Quote) -> [Quote | quoted(S, Quote, unicode)].

write_unicode_string(S) -> write_string(S).

write_latin1_string(S) -> write_latin1_string(S, $").

write_latin1_string(S, Quote) -> [Quote | quoted(S, Quote, latin1)].

write_string_as_latin1(S) -> write_string_as_latin1(S, $").

write_string_as_latin1(S, Quote) -> [Quote | quoted(S, Quote, latin1)].

%% Ends with the quote.
quoted([C | T], Quote, E) when C >= $\s, C =< $~, C =/= $\\, C =/= Quote -> [C | quoted(T, Quote, E)];
quoted([C | T], Quote, E) -> escaped(C, Quote, E, quoted(T, Quote, E));
quoted([], Quote, _) -> [Quote].

escaped(Q, Q, _, T) -> [$\\, Q | T];
escaped($\\, _, _, T) -> [$\\, $\\ | T];
escaped(C, _, _, T) when C >= $\s, C =< $~ -> [C | T];
escaped($\n, _, _, T) -> [$\\, $n | T];
escaped($\r, _, _, T) -> [$\\, $r | T];
escaped($\t, _, _, T) -> [$\\, $t | T];
escaped($\v, _, _, T) -> [$\\, $v | T];
escaped($\b, _, _, T) -> [$\\, $b | T];
escaped($\f, _, _, T) -> [$\\, $f | T];
escaped($\e, _, _, T) -> [$\\, $e | T];
escaped($\d, _, _, T) -> [$\\, $d | T];
escaped(C, _, _, T) when C < 16#A0 -> [$\\, $0 + (C bsr 6), $0 + (C bsr 3 band 7), $0 + (C band 7) | T];
escaped(C, _, _, T) when C =< 16#FF -> [C | T];
escaped(C, _, latin1, T) -> [$\\, $x, ${ | integer_to_list(C, 16) ++ [$} | T]];
escaped(C, _, unicode, T) -> [C | T].

write_char($\s) -> "$\\s";
write_char(C) when is_integer(C), C >= 0 -> [$$ | escaped(C, -1, unicode, [])].

write_unicode_char(C) -> write_char(C).

write_latin1_char(C) when is_integer(C), C >= 0, C =< 255 -> write_char(C).

write_char_as_latin1($\s) -> "$\\s";
write_char_as_latin1(C) when is_integer(C), C >= 0 -> [$$ | escaped(C, -1, latin1, [])].

%% Tests

-define(IS_UNICODE(C),
        (is_integer(C) andalso ((C >= 0 andalso C < 16#D800) orelse (C > 16#DFFF andalso C =< 16#10FFFF)))).

char_list([C | T]) when ?IS_UNICODE(C) -> char_list(T);
char_list([]) -> true;
char_list(_) -> false.

unicode_char_list(L) -> char_list(L).

latin1_char_list([C | T]) when is_integer(C), C >= 0, C =< 255 -> latin1_char_list(T);
latin1_char_list([]) -> true;
latin1_char_list(_) -> false.

deep_char_list(L) -> deep_char_list(L, []).

deep_unicode_char_list(L) -> deep_char_list(L, []).

deep_char_list([L | T], More) when is_list(L) -> deep_char_list(L, [T | More]);
deep_char_list([C | T], More) when ?IS_UNICODE(C) -> deep_char_list(T, More);
deep_char_list([], [T | More]) -> deep_char_list(T, More);
deep_char_list([], []) -> true;
deep_char_list(_, _) -> false.

deep_latin1_char_list(L) -> deep_latin1_char_list(L, []).

deep_latin1_char_list([L | T], More) when is_list(L) -> deep_latin1_char_list(L, [T | More]);
deep_latin1_char_list([C | T], More) when is_integer(C), C >= 0, C =< 255 -> deep_latin1_char_list(T, More);
deep_latin1_char_list([], [T | More]) -> deep_latin1_char_list(T, More);
deep_latin1_char_list([], []) -> true;
deep_latin1_char_list(_, _) -> false.

printable_list(L) ->
    case io:printable_range() of
        latin1 -> printable_latin1_list(L);
        unicode -> printable_unicode_list(L)
    end.

printable_latin1_list([C | T]) when is_integer(C), C >= $\s, C =< $~ -> printable_latin1_list(T);
printable_latin1_list([C | T]) when is_integer(C), C >= 16#A0, C =< 16#FF -> printable_latin1_list(T);
printable_latin1_list([C | T]) when is_integer(C), (C >= $\b andalso C =< $\r) orelse C =:= $\e ->
    printable_latin1_list(T);
printable_latin1_list([]) -> true;
printable_latin1_list(_) -> false.

printable_unicode_list([C | T]) when is_integer(C), C >= $\s, C =< $~ -> printable_unicode_list(T);
printable_unicode_list([C | T])
  when is_integer(C),
       (C >= 16#A0 andalso C < 16#D800) orelse (C > 16#DFFF andalso C < 16#FFFE)
       orelse (C > 16#FFFF andalso C =< 16#10FFFF) -> printable_unicode_list(T);
printable_unicode_list([C | T]) when is_integer(C), (C >= $\b andalso C =< $\r) orelse C =:= $\e ->
    printable_unicode_list(T);
printable_unicode_list([]) -> true;
printable_unicode_list(_) -> false.

%% Number of grapheme clusters. Below U+0300 only CR LF is a cluster of two.
chars_length(Chars) ->
    case simple_length(Chars, 0) of
        complicated -> string:length(Chars);
        N -> N
    end.

simple_length([C | T], N) when is_integer(C), C < 16#300, C =/= $\r -> simple_length(T, N + 1);
simple_length([L | T], N) when is_list(L) ->
    case simple_length(L, N) of
        complicated -> complicated;
        N1 -> simple_length(T, N1)
    end;
simple_length([], N) -> N;
simple_length(_, _) -> complicated.

%% The term with what is deeper than Depth replaced by '...', so that it prints
%% the same at that depth.
limit_term(Term, Depth) when Depth < 0 -> Term;
limit_term(_, 0) -> '...';
limit_term(Term, Depth) -> limit(Term, Depth).

limit(_, 0) -> '...';
limit([_ | _], 1) -> ['...'];
limit([_ | _] = L, D) ->
    case printable_list(L) of
        true -> L;
        false -> [limit(hd(L), D - 1) | limit_tail(tl(L), D - 1)]
    end;
limit({}, _) -> {};
limit(T, 1) when is_tuple(T) -> {'...'};
limit(T, D) when is_tuple(T) ->
    [First | More] = tuple_to_list(T),
    list_to_tuple([limit(First, D - 1) | limit_tail(More, D - 1)]);
limit(M, D) when is_map(M), map_size(M) > 0 ->
    case D of
        1 -> #{'...' => '...'};
        _ ->
            Pairs = maps:to_list(maps:iterator(M)),
            maps:from_list([{limit(K, D - 1), limit(V, D - 1)} || {K, V} <- lists:sublist(Pairs, D)])
    end;
limit(B, D) when is_bitstring(B), byte_size(B) > D, D > 0 ->
    case bit_size(B) =< D * 32 of
        true -> B;
        false -> binary:part(B, 0, min(byte_size(B), D * 4 + 1))
    end;
limit(X, _) -> X.

limit_tail([], _) -> [];
limit_tail(_, 1) -> ['...'];
limit_tail([H | T], D) -> [limit(H, D - 1) | limit_tail(T, D - 1)];
limit_tail(X, D) -> limit(X, D - 1).

%% Prompts of the I/O protocol

format_prompt(Prompt) -> format_prompt(Prompt, latin1).

format_prompt({format, Format, Args}, _) ->
    try format(Format, Args)
    catch _:_ -> "???"
    end;
format_prompt(Prompt, Encoding) when is_list(Prompt) ->
    case deep_unicode_char_list(Prompt) of
        true -> Prompt;
        false -> prompt_term(Prompt, Encoding)
    end;
format_prompt(Prompt, _) when is_atom(Prompt) -> atom_to_list(Prompt);
format_prompt(Prompt, Encoding) -> prompt_term(Prompt, Encoding).

prompt_term(Prompt, latin1) -> format("~p", [Prompt]);
prompt_term(Prompt, _) -> format("~tp", [Prompt]).

%% Collectors for {get_until, ...}: called with a continuation (start at first)
%% and data (a list of characters, or eof); they answer {stop, Result, Rest} or
%% a new continuation.

collect_chars(State, Data, N) -> collect_chars(State, Data, latin1, N).

collect_chars(start, Data, Encoding, N) -> collect_chars({[], N}, Data, Encoding, N);
collect_chars({[], _}, eof, _, _) -> {stop, eof, eof};
collect_chars({Acc, _}, eof, _, _) -> {stop, lists:reverse(Acc), eof};
collect_chars({Acc, Left}, Data, Encoding, _) -> take_chars(as_list(Data, Encoding), Left, Acc).

take_chars(Rest, 0, Acc) -> {stop, lists:reverse(Acc), Rest};
take_chars([C | T], Left, Acc) -> take_chars(T, Left - 1, [C | Acc]);
take_chars([], Left, Acc) -> {Acc, Left}.

collect_line(State, Data, Extra) -> collect_line(State, Data, latin1, Extra).

collect_line(start, Data, Encoding, Extra) -> collect_line([], Data, Encoding, Extra);
collect_line([], eof, _, _) -> {stop, eof, eof};
collect_line(Acc, eof, _, _) -> {stop, lists:reverse(Acc), eof};
collect_line(Acc, Data, Encoding, _) -> take_line(as_list(Data, Encoding), Acc).

take_line([$\r, $\n | T], Acc) -> {stop, lists:reverse(Acc, "\n"), T};
take_line([$\n | T], Acc) -> {stop, lists:reverse(Acc, "\n"), T};
take_line([C | T], Acc) -> take_line(T, [C | Acc]);
take_line([], Acc) -> Acc.

%% Wraps a function of the style of erl_scan:tokens/3.
get_until(State, Data, MFA) -> get_until(State, Data, latin1, MFA).

get_until(start, Data, Encoding, MFA) -> get_until([], Data, Encoding, MFA);
get_until(Cont, Data, Encoding, {M, F, Args}) ->
    Chars = case Data of eof -> eof; _ -> as_list(Data, Encoding) end,
    case apply(M, F, [Cont, Chars | Args]) of
        {done, Result, Rest} -> {stop, Result, Rest};
        {more, Cont1} -> Cont1
    end.

as_list(Data, _) when is_list(Data) -> Data;
as_list(Data, Encoding) -> unicode:characters_to_list(Data, Encoding).
