%% SPDX-License-Identifier: Apache-2.0
%% Terms with line breaks. First a term is turned into pieces that know their
%% width; then they are laid out. A piece is {Form, Width}: Form is text that
%% is never broken, or a compound of pieces. Widths are counted in grapheme
%% clusters.
%%
%% Layout: what fits the rest of the line, and the number of characters wanted
%% on a line (by default no limit), stays on it. Otherwise elements go below each other, several
%% unbroken ones on a line. The elements of a tuple beginning with an atom go
%% right of the tag; where that leaves too little room the whole term is laid
%% out again with them indented 4, then 1. In the functions below
%%   Col, LL  current column and line length
%%   M        most characters wanted on a line, W those already on it
%%   Ind      white space that begins a new line
%%   TInd     indentation of elements below a tag; -1 for right of it
%%   LD       number of brackets that will directly follow the last element
-module(io_lib_pretty).

-export([print/1, print/2, print/3, print/4, print/5, print/6]).

-record(opt, {encoding, strings, order, fields = none}).

%% What has no parts.
-define(IS_ATOMIC(Term),
        (is_atom(Term) orelse is_number(Term) orelse is_pid(Term) orelse is_reference(Term) orelse
         is_function(Term) orelse is_port(Term))).

-define(BINARY_CHARS_PER_LEVEL, 4).

%% A function Fields, where there is one, knows the records: from a tag and the number of fields it
%% tells their names, or no.

print(Term) -> print(Term, [{encoding, latin1}]).

print(Term, Options) when is_list(Options) ->
    Col = proplists:get_value(column, Options, 1),
    LL = proplists:get_value(line_length, Options, 80),
    Depth = proplists:get_value(depth, Options, -1),
    M = proplists:get_value(line_max_chars, Options, -1),
    Limit = proplists:get_value(chars_limit, Options, -1),
    Opt = #opt{encoding = proplists:get_value(encoding, Options, epp:default_encoding()),
               strings = proplists:get_value(strings, Options, true),
               order = proplists:get_value(maps_order, Options, undefined),
               fields = proplists:get_value(record_print_fun, Options, none)},
    if
        Limit < 0 -> lay_out_term(Term, max(Col, 1), LL, Depth, M, Opt);
        true -> limited(Term, max(Col, 1), LL, Depth, M, Opt, Limit)
    end;
print(Term, Fields) -> print(Term, -1, Fields).

print(Term, Depth, Fields) -> print(Term, 1, 80, Depth, Fields).

print(Term, Col, LL, Depth) -> print(Term, Col, LL, Depth, none).

print(Term, Col, LL, Depth, Fields) -> print(Term, Col, LL, Depth, -1, Fields).

print(Term, Col, LL, Depth, M, Fields) ->
    print(Term,
          [{column, Col}, {line_length, LL}, {depth, Depth}, {line_max_chars, M}, {record_print_fun, Fields},
           {encoding, latin1}]).

%% The deepest output whose length is within the limit.
limited(_, _, _, _, _, _, 0) -> "...";
limited(Term, Col, LL, Depth, M, Opt, Limit) ->
    case measured(Term, Depth, Opt) of
        {_, Width} = Piece when Width =< Limit -> lay_out(Piece, Col, LL, M);
        _ -> lay_out(limited(Term, Opt, Limit, 2, measured(Term, 1, Opt)), Col, LL, M)
    end.

limited(Term, Opt, Limit, Depth, Best) ->
    case measured(Term, Depth, Opt) of
        {_, Width} = Piece when Width =< Limit -> limited(Term, Opt, Limit, Depth + 1, Piece);
        _ -> Best
    end.

lay_out_term(_, _, _, 0, _, _) -> "...";
lay_out_term(Term, _, _, _, _, Opt) when ?IS_ATOMIC(Term) -> atomic(Term, Opt);
lay_out_term(Term, Col, LL, Depth, M, Opt) -> lay_out(measured(Term, Depth, Opt), Col, LL, M).

lay_out({_, Width} = Piece, Col, LL, M0) ->
    M = if M0 < 0 -> Width; true -> M0 end,
    if
        LL =:= 0; Width < LL - Col, Width =< M -> write(Piece);
        true ->
            TInd = tag_indent([-1, 4], Piece, Col, LL, M),
            pp(Piece, Col, LL, M, TInd, spaces(Col - 1, []), 0, 0)
    end.

tag_indent([TInd | More], Piece, Col, LL, M) ->
    try check(Piece, Col, LL, M, TInd, 0, 0) of
        _ -> TInd
    catch throw:no_room -> tag_indent(More, Piece, Col, LL, M)
    end;
tag_indent([], _, _, _, _) -> 1.

spaces(0, Tail) -> Tail;
spaces(N, Tail) when N > 0 -> spaces(N - 1, [$\s | Tail]).

%% Measuring

atomic(Term, #opt{encoding = E}) -> io_lib:write(Term, -1, E, undefined, -1).

text(S) -> {S, io_lib:chars_length(S)}.

measured(_, 0, _) -> {"...", 3};
measured([], _, _) -> {"[]", 2};
measured({}, _, _) -> {"{}", 2};
measured(<<>>, _, _) -> {"<<>>", 4};
measured([_ | _], 1, _) -> {{fixed, "[...]"}, 5};
measured([_ | _] = L, D, Opt) ->
    case Opt#opt.strings andalso printable(L, Opt#opt.encoding) of
        true -> text(string_text(L, Opt#opt.encoding));
        false ->
            {Pieces, Width} = list_pieces(L, D, Opt),
            {{list, Pieces}, Width + 2}
    end;
measured(T, 1, _) when is_tuple(T) -> {"{...}", 5};
measured(T, D, #opt{fields = Fields} = Opt) when is_function(Fields), is_atom(element(1, T)) ->
    case Fields(element(1, T), tuple_size(T) - 1) of
        no -> tuple_piece(T, D, Opt);
        Names ->
            [Tag | Values] = tuple_to_list(T),
            record_piece(atomic(Tag, Opt), lists:zip(Names, Values), D, Opt)
    end;
measured(T, D, Opt) when is_tuple(T) -> tuple_piece(T, D, Opt);
measured(M, _, _) when is_map(M), map_size(M) =:= 0 -> {"#{}", 3};
measured(M, 1, _) when is_map(M) -> {"#{...}", 6};
measured(M, D, Opt) when is_map(M) ->
    [{K, V} | More] = io_lib:map_pairs(M, Opt#opt.order),
    Pair = {_, W1} = pair_piece(K, V, D - 1, Opt),
    {Pairs, Width} = pair_pieces(More, D - 1, D - 1, Opt),
    {{map, [Pair | Pairs]}, W1 + Width + 3};
measured(B, 1, _) when is_bitstring(B) -> {"<<...>>", 7};
measured(B, D, Opt) when is_bitstring(B) ->
    case Opt#opt.strings andalso printable_binary(B, D, Opt#opt.encoding) of
        false -> binary_piece(B, D);
        {all, S, latin1} -> text(["<<", string_text(S, latin1), ">>"]);
        {all, S, unicode} -> text(["<<", string_text(S, unicode), "/utf8>>"]);
        {prefix, S, latin1} -> text(["<<", string_text(S, latin1), "...>>"]);
        {prefix, S, unicode} -> text(["<<", string_text(S, unicode), "/utf8...>>"])
    end;
measured(Term, _, Opt) when ?IS_ATOMIC(Term) -> text(atomic(Term, Opt));
measured(Record, 1, #opt{encoding = E}) -> text(io_lib:write(Record, 1, E, undefined, -1));
measured(Record, D, Opt) ->
    Name = [atomic(records:get_module(Record), Opt), $:, atomic(records:get_name(Record), Opt)],
    Fields = [{Field, records:get(Field, Record)} || Field <- records:get_field_names(Record)],
    record_piece(Name, Fields, D, Opt).

tuple_piece(T, D, Opt) ->
    [First | More] = tuple_to_list(T),
    Piece = {_, W1} = measured(First, D - 1, Opt),
    {Pieces, Width} = tail_pieces(More, D - 1, Opt),
    case is_atom(First) andalso More =/= [] of
        true -> {{tagged, [Piece | Pieces]}, W1 + Width + 2};
        false -> {{tuple, [Piece | Pieces]}, W1 + Width + 2}
    end.

%% A field is a piece too, {{field, Name, Width of Name, Piece of the value}, Width}. Names are told
%% with their separators.
record_piece(TagText, Values, D, Opt) ->
    {Name, NameWidth} = text([$#, TagText]),
    {Fields, Width} = field_pieces(Values, D - 1, Opt),
    {{record, Name, NameWidth, Fields}, NameWidth + 2 + max(0, Width - 1)}.

field_pieces([], _, _) -> {[], 0};
field_pieces(_, 1, _) -> {dots, 4};
field_pieces([{Name, Value} | More], D, Opt) ->
    Piece = {_, W} = measured(Value, D - 1, Opt),
    {Text, NameWidth} = text(atomic(Name, Opt)),
    Field = {{field, Text, NameWidth + 3, Piece}, NameWidth + 3 + W},
    {Fields, Width} = field_pieces(More, D - 1, Opt),
    {[Field | Fields], NameWidth + 3 + W + Width + 1}.

list_pieces([H | T], D, Opt) ->
    Piece = {_, W1} = measured(H, D - 1, Opt),
    {Pieces, Width} = tail_pieces(T, D - 1, Opt),
    {[Piece | Pieces], W1 + Width}.

%% Widths include the separators. What is left out is {dots, 3}, an improper
%% tail is {tail, Piece}; both end the list of pieces in place of [].
tail_pieces([], _, _) -> {[], 0};
tail_pieces(_, 1, _) -> {dots, 4};
tail_pieces([H | T], D, Opt) ->
    Piece = {_, W1} = measured(H, D - 1, Opt),
    {Pieces, Width} = tail_pieces(T, D - 1, Opt),
    {[Piece | Pieces], W1 + Width + 1};
tail_pieces(Tail, D, Opt) ->
    Piece = {_, Width} = measured(Tail, D - 1, Opt),
    {{tail, Piece}, Width + 1}.

%% All pairs have the same depth; only their number is limited.
pair_pieces([], _, _, _) -> {[], 0};
pair_pieces(_, 1, _, _) -> {dots, 4};
pair_pieces([{K, V} | T], Left, D, Opt) ->
    Pair = {_, W1} = pair_piece(K, V, D, Opt),
    {Pairs, Width} = pair_pieces(T, Left - 1, D, Opt),
    {[Pair | Pairs], W1 + Width + 1}.

pair_piece(K, V, D, Opt) ->
    Kp = {_, Wk} = measured(K, D, Opt),
    Vp = {_, Wv} = measured(V, D, Opt),
    {{pair, Kp, Vp}, Wk + Wv + 4}.

binary_piece(B, D) ->
    Bytes = byte_parts(B, D),
    Width = lists:sum([length(P) || P <- Bytes]),
    {{binary, Bytes}, Width + 4}.

byte_parts(_, 1) -> ["..."];
byte_parts(<<X>>, _) -> [integer_to_list(X)];
byte_parts(<<X, Rest/bitstring>>, D) -> [integer_to_list(X) ++ "," | byte_parts(Rest, D - 1)];
byte_parts(B, _) ->
    Bits = bit_size(B),
    <<X:Bits>> = B,
    [integer_to_list(X) ++ ":" ++ integer_to_list(Bits)].

printable(L, latin1) -> io_lib:printable_latin1_list(L);
printable(L, _) -> io_lib:printable_list(L).

string_text(S, latin1) -> io_lib:write_latin1_string(S);
string_text(S, _) -> io_lib:write_string(S).

%% Whether a binary is shown as a string, and how much of it at this depth:
%% four characters a level; fewer, down to one a level, if an unprintable one
%% comes before.
printable_binary(B, D, Encoding) when is_binary(B) ->
    Max = if D >= 0 -> min(byte_size(B), ?BINARY_CHARS_PER_LEVEL * (D - 1)); true -> byte_size(B) end,
    {Chars, Rest} =
        case Encoding =/= latin1 andalso utf8_chars(B, Max, []) of
            false -> {binary:bin_to_list(B, 0, Max), binary:part(B, Max, byte_size(B) - Max)};
            Utf8 -> Utf8
        end,
    Good = printable_prefix(Chars, if Encoding =:= latin1 -> latin1; true -> io:printable_range() end),
    case length(Chars) of
        Good when Rest =:= <<>> -> {all, Chars, string_encoding(Chars, B)};
        Good -> {prefix, Chars, string_encoding(Chars, B)};
        _ when D > 1, Good >= D - 1 ->
            Shown = lists:sublist(Chars, Good),
            {prefix, Shown, string_encoding(Shown, B)};
        _ -> false
    end;
printable_binary(_, _, _) -> false.

%% Characters beyond ASCII are shown as UTF-8 if that is what the bytes are.
string_encoding(Chars, B) ->
    case lists:any(fun(C) -> C > 127 end, Chars) of
        true ->
            Utf8 = unicode:characters_to_binary(Chars),
            case B of
                <<Utf8:(byte_size(Utf8))/binary, _/binary>> -> unicode;
                _ -> latin1
            end;
        false -> latin1
    end.

printable_prefix(Chars, latin1) -> printable_prefix(Chars, fun io_lib:printable_latin1_list/1, 0);
printable_prefix(Chars, unicode) -> printable_prefix(Chars, fun io_lib:printable_unicode_list/1, 0).

printable_prefix([C | T], Printable, N) ->
    case Printable([C]) of
        true -> printable_prefix(T, Printable, N + 1);
        false -> N
    end;
printable_prefix([], _, N) -> N.

utf8_chars(Rest, 0, Acc) -> {lists:reverse(Acc), Rest};
utf8_chars(<<C/utf8, Rest/binary>>, N, Acc) -> utf8_chars(Rest, N - 1, [C | Acc]);
utf8_chars(<<>>, _, Acc) -> {lists:reverse(Acc), <<>>};
utf8_chars(_, _, _) -> false.

%% Writing without line breaks

write({{list, Pieces}, _}) -> [$[, write_list(Pieces, $|), $]];
write({{Tuple, Pieces}, _}) when Tuple =:= tuple; Tuple =:= tagged -> [${, write_list(Pieces, $,), $}];
write({{map, Pairs}, _}) -> ["#{", write_list(Pairs, $,), $}];
write({{pair, K, V}, _}) -> [write(K), " => ", write(V)];
write({{record, Name, _, dots}, _}) -> [Name, "{...}"];
write({{record, Name, _, []}, _}) -> [Name, "{}"];
write({{record, Name, _, Fields}, _}) -> [Name, ${, write_list(Fields, $,), $}];
write({{field, Name, _, Value}, _}) -> [Name, " = " | write(Value)];
write({{binary, Bytes}, _}) -> ["<<", Bytes, ">>"];
write({{fixed, Text}, _}) -> Text;
write({Text, _}) -> Text.

write_list([Piece | Pieces], Sep) -> [write(Piece) | write_tail(Pieces, Sep)].

write_tail([], _) -> [];
write_tail([Piece | Pieces], Sep) -> [$,, write(Piece) | write_tail(Pieces, Sep)];
write_tail(dots, Sep) -> [Sep | "..."];
write_tail({tail, Piece}, Sep) -> [Sep | write(Piece)].

%% Layout

is_text({Text, _}) when is_list(Text) -> true;
is_text(_) -> false.

is_text_pair({{pair, K, V}, _}) -> is_text(K) andalso is_text(V);
is_text_pair({{field, _, _, V}, _}) -> is_text(V).

last_depth([_ | _], _) -> 0;
last_depth(_, LD) -> LD + 1.

pp({_, Width} = Piece, Col, LL, M, _, _, LD, W) when Width < LL - Col - LD, Width + W + LD =< M ->
    write(Piece);
pp({{list, Pieces}, _}, Col, LL, M, TInd, Ind, LD, W) ->
    [$[, pp_list(Pieces, Col + 1, LL, M, TInd, spaces(1, Ind), LD, $|, W + 1), $]];
pp({{tagged, Pieces}, _}, Col, LL, M, TInd, Ind, LD, W) ->
    [${, pp_tagged(Pieces, Col, LL, M, TInd, Ind, LD, W + 1), $}];
pp({{tuple, Pieces}, _}, Col, LL, M, TInd, Ind, LD, W) ->
    [${, pp_list(Pieces, Col + 1, LL, M, TInd, spaces(1, Ind), LD, $,, W + 1), $}];
pp({{map, Pairs}, _}, Col, LL, M, TInd, Ind, LD, W) ->
    ["#{", pp_map(Pairs, Col + 2, LL, M, TInd, spaces(2, Ind), LD, W + 2), $}];
pp({{record, Name, NameWidth, [_ | _] = Fields}, _}, Col0, LL, M, TInd, Ind0, LD, W0) ->
    {Break, Col, Ind, W} = below(NameWidth + 1, Col0, TInd, Ind0, W0 + NameWidth + 1),
    [Name, ${, Break, pp_map(Fields, Col, LL, M, TInd, Ind, LD, W), $}];
pp({{binary, Bytes}, _}, Col, LL, M, _, Ind, LD, W) ->
    ["<<", pp_binary(Bytes, Col + 2, LL, M, spaces(2, Ind), LD, W), ">>"];
pp(Text, _, _, _, _, _, _, _) -> write(Text).

pp_tagged([{Tag, TagWidth} | Pieces], Col, LL, M, TInd, Ind, LD, W) ->
    Right = TagWidth + 2,
    TagCol = Col + Right,
    if
        TInd > 0, Right > TInd ->
            [Tag | pp_tail(Pieces, Col + TInd, TagCol, LL, M, TInd, spaces(TInd, Ind), LD, $,, W + TagWidth)];
        is_list(Pieces) ->
            [Tag, $, | pp_list(Pieces, TagCol, LL, M, TInd, spaces(Right, Ind), LD, $,, W + TagWidth + 1)];
        true -> [Tag | write_tail(Pieces, $,)]
    end.

pp_list([Piece | Pieces], Col, LL, M, TInd, Ind, LD, Sep, W) ->
    {Text, Width} = pp_element(Piece, Col, LL, M, TInd, Ind, last_depth(Pieces, LD), W),
    [Text | pp_tail(Pieces, Col, Col + Width, LL, M, TInd, Ind, LD, Sep, W + Width)].

pp_tail([], _, _, _, _, _, _, _, _, _) -> [];
pp_tail([{_, Width} = Piece | Pieces], Col0, Col, LL, M, TInd, Ind, LD, Sep, W) ->
    LD1 = last_depth(Pieces, LD),
    case is_text(Piece) andalso follows(Width + 1, LD1, Col, LL, M, W) of
        true ->
            [$,, write(Piece) | pp_tail(Pieces, Col0, Col + Width + 1, LL, M, TInd, Ind, LD, Sep,
                W + Width + 1)];
        false ->
            {Text, Width1} = pp_element(Piece, Col0, LL, M, TInd, Ind, LD1, 0),
            [$,, $\n, Ind, Text | pp_tail(Pieces, Col0, Col0 + Width1, LL, M, TInd, Ind, LD, Sep, Width1)]
    end;
pp_tail(dots, _, _, _, _, _, _, _, Sep, _) -> [Sep | "..."];
pp_tail({tail, {_, Width} = Piece}, Col0, Col, LL, M, TInd, Ind, LD, Sep, W) ->
    case is_text(Piece) andalso Width + 2 < LL - Col - LD andalso W + Width + 2 + LD =< M of
        true -> [Sep | write(Piece)];
        false -> [Sep, $\n, Ind | pp(Piece, Col0, LL, M, TInd, Ind, LD + 1, 0)]
    end.

%% Whether an unbroken piece (its width with the comma) goes on the same line.
follows(Width, 0, Col, LL, M, W) -> Width + 1 < LL - Col andalso W + Width + 1 =< M;
follows(Width, LD, Col, LL, M, W) -> Width < LL - Col - LD andalso W + Width + LD =< M.

%% What follows a compound element begins a line: the column is put at LL.
pp_element({_, Width} = Piece, Col, LL, M, TInd, Ind, LD, W) ->
    case is_text(Piece) andalso Width < LL - Col - LD andalso Width + W + LD =< M of
        true -> {write(Piece), Width};
        false -> {pp(Piece, Col, LL, M, TInd, Ind, LD, W), LL}
    end.

%% Pairs of a map, or fields of a record
pp_map([Pair | Pairs], Col, LL, M, TInd, Ind, LD, W) ->
    {Text, Width} = pp_pair(Pair, Col, LL, M, TInd, Ind, last_depth(Pairs, LD), W),
    [Text | pp_map_tail(Pairs, Col, Col + Width, LL, M, TInd, Ind, LD, W + Width)].

pp_map_tail([], _, _, _, _, _, _, _, _) -> [];
pp_map_tail(dots, _, _, _, _, _, _, _, _) -> ",...";
pp_map_tail([{_, Width} = Pair | Pairs], Col0, Col, LL, M, TInd, Ind, LD, W) ->
    LD1 = last_depth(Pairs, LD),
    case is_text_pair(Pair) andalso follows(Width + 1, LD1, Col, LL, M, W) of
        true ->
            [$,, write(Pair) | pp_map_tail(Pairs, Col0, Col + Width + 1, LL, M, TInd, Ind, LD,
                W + Width + 1)];
        false ->
            {Text, Width1} = pp_pair(Pair, Col0, LL, M, TInd, Ind, LD1, 0),
            [$,, $\n, Ind, Text | pp_map_tail(Pairs, Col0, Col0 + Width1, LL, M, TInd, Ind, LD, Width1)]
    end.

pp_pair({_, Width} = Pair, Col, LL, M, TInd, Ind, LD, W) ->
    case Width < LL - Col - LD andalso Width + W + LD =< M of
        true ->
            {write(Pair), case is_text_pair(Pair) of true -> Width; false -> LL end};
        false -> {pp_long_pair(Pair, Col, LL, M, TInd, Ind, LD, W), LL}
    end.

pp_long_pair({{pair, K, V}, _}, Col, LL, M, TInd, Ind, LD, W) ->
    I = value_indent(TInd),
    Ind1 = spaces(I, Ind),
    [pp(K, Col, LL, M, TInd, Ind, LD, W), " =>\n", Ind1 | pp(V, Col + I, LL, M, TInd, Ind1, LD, 0)];
pp_long_pair({{field, Name, NameWidth, Value}, _}, Col0, LL, M, TInd, Ind0, LD, W0) ->
    {Break, Col, Ind, W} = below(NameWidth, Col0, TInd, Ind0, W0 + NameWidth),
    [Name, case Break of "" -> " = "; _ -> " =" end, Break | pp(Value, Col, LL, M, TInd, Ind, LD, W)].

%% What follows a name of this width: right of it, or on a line of its own where that is further to
%% the left.
below(Width, Col, TInd, Ind0, _) when TInd > 0, Width > TInd ->
    Ind = spaces(TInd, Ind0),
    {[$\n | Ind], Col + TInd, Ind, 0};
below(Width, Col, _, Ind, W) -> {"", Col + Width, spaces(Width, Ind), W}.

value_indent(TInd) when TInd > 0 -> TInd;
value_indent(_) -> 4.

%% Lines of whole bytes, filled up to a width.
pp_binary(Bytes, Col, LL, M, Ind, LD, W) ->
    N = max(8, min(LL - Col, M - 4 - W) - LD),
    pp_bytes(Bytes, N, N, Ind).

pp_bytes([Byte | Bytes], Left, N, Ind) ->
    case length(Byte) of
        Len when Len =< Left -> [Byte | pp_bytes(Bytes, Left - Len, N, Ind)];
        Len -> [$\n, Ind, Byte | pp_bytes(Bytes, N - Len, N, Ind)]
    end;
pp_bytes([], _, _, _) -> [].

%% The same walk without output: throws no_room where this TInd leaves too
%% little of the line for the elements of a tagged tuple.

check({_, Width}, Col, LL, M, _, LD, W) when Width < LL - Col - LD, Width + W + LD =< M -> ok;
check({{list, Pieces}, _}, Col, LL, M, TInd, LD, W) ->
    check_list(Pieces, Col + 1, LL, M, TInd, LD, W + 1);
check({{tagged, Pieces}, _}, Col, LL, M, TInd, LD, W) ->
    check_tagged(Pieces, Col, LL, M, TInd, LD, W + 1);
check({{tuple, Pieces}, _}, Col, LL, M, TInd, LD, W) ->
    check_list(Pieces, Col + 1, LL, M, TInd, LD, W + 1);
check({{map, Pairs}, _}, Col, LL, M, TInd, LD, W) ->
    check_map(Pairs, Col + 2, LL, M, TInd, LD, W + 2);
check({{record, _, NameWidth, [_ | _] = Fields}, _}, Col0, LL, M, TInd, LD, W0) ->
    {Col, W} = check_below(NameWidth + 1, Col0, LL, M, TInd, W0 + NameWidth + 1),
    check_map(Fields, Col, LL, M, TInd, LD, W);
check(_, _, _, _, _, _, _) -> ok.

check_below(Width, Col0, LL, M, TInd, W0) ->
    {_, Col, _, W} = below(Width, Col0, TInd, "", W0),
    if
        M + Col =< LL; Col =< LL div 2 -> {Col, W};
        true -> throw(no_room)
    end.

check_tagged([{_, TagWidth} | Pieces], Col, LL, M, TInd, LD, W) ->
    Right = TagWidth + 2,
    TagCol = Col + Right,
    if
        TInd > 0, Right > TInd ->
            Col1 = Col + TInd,
            if
                M + Col1 =< LL; Col1 =< LL div 2 ->
                    check_tail(Pieces, Col1, TagCol, LL, M, TInd, LD, W + TagWidth);
                true -> throw(no_room)
            end;
        M + TagCol < LL; TagCol < LL div 2 ->
            check_list(Pieces, TagCol, LL, M, TInd, LD, W + TagWidth + 1);
        true -> throw(no_room)
    end.

check_list([Piece | Pieces], Col, LL, M, TInd, LD, W) ->
    Width = check_element(Piece, Col, LL, M, TInd, last_depth(Pieces, LD), W),
    check_tail(Pieces, Col, Col + Width, LL, M, TInd, LD, W + Width);
check_list(dots, _, _, _, _, _, _) -> ok.

check_tail([], _, _, _, _, _, _, _) -> ok;
check_tail(dots, _, _, _, _, _, _, _) -> ok;
check_tail([{_, Width} = Piece | Pieces], Col0, Col, LL, M, TInd, LD, W) ->
    LD1 = last_depth(Pieces, LD),
    case is_text(Piece) andalso follows(Width + 1, LD1, Col, LL, M, W) of
        true -> check_tail(Pieces, Col0, Col + Width + 1, LL, M, TInd, LD, W + Width + 1);
        false ->
            Width1 = check_element(Piece, Col0, LL, M, TInd, LD1, 0),
            check_tail(Pieces, Col0, Col0 + Width1, LL, M, TInd, LD, Width1)
    end;
check_tail({tail, {_, Width} = Piece}, Col0, Col, LL, M, TInd, LD, W) ->
    case is_text(Piece) andalso Width + 2 < LL - Col - LD andalso W + Width + 2 + LD =< M of
        true -> ok;
        false -> check(Piece, Col0, LL, M, TInd, LD + 1, 0)
    end.

check_element({_, Width} = Piece, Col, LL, M, TInd, LD, W) ->
    case is_text(Piece) andalso Width < LL - Col - LD andalso Width + W + LD =< M of
        true -> Width;
        false ->
            check(Piece, Col, LL, M, TInd, LD, W),
            LL
    end.

check_map([Pair | Pairs], Col, LL, M, TInd, LD, W) ->
    Width = check_pair(Pair, Col, LL, M, TInd, last_depth(Pairs, LD), W),
    check_map_tail(Pairs, Col, Col + Width, LL, M, TInd, LD, W + Width).

check_map_tail([{_, Width} = Pair | Pairs], Col0, Col, LL, M, TInd, LD, W) ->
    LD1 = last_depth(Pairs, LD),
    case is_text_pair(Pair) andalso follows(Width + 1, LD1, Col, LL, M, W) of
        true -> check_map_tail(Pairs, Col0, Col + Width + 1, LL, M, TInd, LD, W + Width + 1);
        false ->
            Width1 = check_pair(Pair, Col0, LL, M, TInd, LD1, 0),
            check_map_tail(Pairs, Col0, Col0 + Width1, LL, M, TInd, LD, Width1)
    end;
check_map_tail(_, _, _, _, _, _, _, _) -> ok.

check_pair({_, Width} = Pair, Col, LL, M, TInd, LD, W) ->
    case Width < LL - Col - LD andalso Width + W + LD =< M of
        true ->
            case is_text_pair(Pair) of true -> Width; false -> LL end;
        false ->
            check_long_pair(Pair, Col, LL, M, TInd, LD, W),
            LL
    end.

check_long_pair({{pair, K, V}, _}, Col, LL, M, TInd, LD, W) ->
    check(K, Col, LL, M, TInd, LD, W),
    check(V, Col + value_indent(TInd), LL, M, TInd, LD, 0);
check_long_pair({{field, _, NameWidth, Value}, _}, Col0, LL, M, TInd, LD, W0) ->
    {Col, W} = check_below(NameWidth, Col0, LL, M, TInd, W0 + NameWidth),
    check(Value, Col, LL, M, TInd, LD, W).
