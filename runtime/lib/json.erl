%% SPDX-License-Identifier: Apache-2.0
%% JSON (RFC 8259), as OTP has it since release 27. Texts are binaries in UTF-8; an object is a map, an
%% array a list, a string a binary. What is encoded are iodata.
%%
%% The decoder keeps what it has not finished on a stack of its own, so that it can go on with the next
%% piece of a text: after `{continue, State}` the state has the bytes from the beginning of an unfinished
%% token, which are scanned again.
-module(json).

-export([encode/1, encode/2, encode_value/2, encode_atom/2, encode_integer/1, encode_float/1, encode_list/2,
         encode_map/2, encode_map_checked/2, encode_key_value_list/2, encode_key_value_list_checked/2,
         encode_binary/1, encode_binary_escape_all/1]).
-export([format/1, format/2, format/3, format_value/3, format_key_value_list/3,
         format_key_value_list_checked/3]).
-export([decode/1, decode/3, decode_start/3, decode_continue/2]).

-type encoder() :: fun((term(), encoder()) -> iodata()).
-type encode_value() :: integer() | float() | boolean() | null | binary() | atom() | [encode_value()]
                      | #{binary() | atom() | integer() => encode_value()}.
-type decode_value() :: integer() | float() | boolean() | null | binary() | [decode_value()]
                      | #{binary() => decode_value()}.
-type formatter() :: fun((term(), formatter(), map()) -> iodata()).
-export_type([encoder/0, encode_value/0, decode_value/0, formatter/0]).

%% Encoding

-spec encode(encode_value()) -> iodata().
encode(Term) -> encode_value(Term, fun encode_value/2).

-spec encode(term(), encoder()) -> iodata().
encode(Term, Encoder) when is_function(Encoder, 2) -> Encoder(Term, Encoder).

-spec encode_value(term(), encoder()) -> iodata().
encode_value(Term, Encoder) when is_atom(Term) -> encode_atom(Term, Encoder);
encode_value(Term, _) when is_binary(Term) -> encode_binary(Term);
encode_value(Term, _) when is_integer(Term) -> encode_integer(Term);
encode_value(Term, _) when is_float(Term) -> encode_float(Term);
encode_value(Term, Encoder) when is_list(Term) -> encode_list(Term, Encoder);
encode_value(Term, Encoder) when is_map(Term) -> encode_map(Term, Encoder);
encode_value(Term, _) -> error({unsupported_type, Term}).

encode_atom(null, _) -> <<"null">>;
encode_atom(true, _) -> <<"true">>;
encode_atom(false, _) -> <<"false">>;
encode_atom(Atom, Encoder) -> Encoder(atom_to_binary(Atom), Encoder).

encode_integer(Integer) -> integer_to_binary(Integer).

encode_float(Float) -> float_to_binary(Float, [short]).

encode_list(List, Encoder) when is_list(List) -> array(List, Encoder).

array([], _) -> <<"[]">>;
array([First | Rest], Encoder) -> [$[, Encoder(First, Encoder) | elements(Rest, Encoder)].

elements([Element | Rest], Encoder) -> [$,, Encoder(Element, Encoder) | elements(Rest, Encoder)];
elements([], _) -> [$]].

encode_map(Map, Encoder) when is_map(Map) -> members(maps:to_list(Map), Encoder, unchecked).

%% Fails if two keys have the same text.
encode_map_checked(Map, Encoder) -> encode_key_value_list_checked(maps:to_list(Map), Encoder).

encode_key_value_list(Pairs, Encoder) when is_list(Pairs) -> members(Pairs, Encoder, unchecked).

encode_key_value_list_checked(Pairs, Encoder) when is_list(Pairs) -> members(Pairs, Encoder, #{}).

members([], _, _) -> <<"{}">>;
members([{Key, Value} | Rest], Encoder, Seen) ->
    Text = key(Key),
    [${, encode_binary(Text), $:, Encoder(Value, Encoder) | more_members(Rest, Encoder, see(Text, Seen))].

more_members([{Key, Value} | Rest], Encoder, Seen) ->
    Text = key(Key),
    [$,, encode_binary(Text), $:, Encoder(Value, Encoder) | more_members(Rest, Encoder, see(Text, Seen))];
more_members([], _, _) -> [$}].

see(_, unchecked) -> unchecked;
see(Text, Seen) when is_map_key(Text, Seen) -> error({duplicate_key, Text});
see(Text, Seen) -> Seen#{Text => []}.

key(Key) when is_binary(Key) -> Key;
key(Key) when is_atom(Key) -> atom_to_binary(Key);
key(Key) when is_integer(Key) -> integer_to_binary(Key);
key(Key) when is_float(Key) -> float_to_binary(Key, [short]).

%% Strings

encode_binary(Binary) when is_binary(Binary) -> [$", escaped(Binary, Binary, 0, Binary), $"].

encode_binary_escape_all(Binary) when is_binary(Binary) -> [$", all_escaped(Binary, Binary), $"].

%% Rest is behind the first Length bytes of From, in which nothing is escaped.
escaped(<<C, Rest/bits>>, From, Length, Whole) when C >= $\s, C < 128, C =/= $", C =/= $\\ ->
    escaped(Rest, From, Length + 1, Whole);
escaped(<<>>, From, _, _) -> From;
escaped(<<C, Rest/bits>>, From, Length, Whole) when C < 128 ->
    [binary:part(From, 0, Length), escape(C) | escaped(Rest, Rest, 0, Whole)];
escaped(<<C/utf8, Rest/bits>>, From, Length, Whole) -> escaped(Rest, From, Length + utf8_size(C), Whole);
escaped(Rest, _, _, Whole) -> no_utf8(Rest, Whole).

all_escaped(<<C/utf8, Rest/bits>>, Whole) when C >= 16#10000 ->
    [hex(16#D800 + ((C - 16#10000) bsr 10)), hex(16#DC00 + (C band 16#3FF)) | all_escaped(Rest, Whole)];
all_escaped(<<C/utf8, Rest/bits>>, Whole) when C >= 128 -> [hex(C) | all_escaped(Rest, Whole)];
all_escaped(<<C, Rest/bits>>, Whole) when C < $\s; C =:= $"; C =:= $\\ ->
    [escape(C) | all_escaped(Rest, Whole)];
all_escaped(<<C, Rest/bits>>, Whole) when C < 128 -> [C | all_escaped(Rest, Whole)];
all_escaped(<<>>, _) -> [];
all_escaped(Rest, Whole) -> no_utf8(Rest, Whole).

escape($\b) -> <<"\\b">>;
escape($\t) -> <<"\\t">>;
escape($\n) -> <<"\\n">>;
escape($\f) -> <<"\\f">>;
escape($\r) -> <<"\\r">>;
escape($") -> <<"\\\"">>;
escape($\\) -> <<"\\\\">>;
escape(C) -> hex(C).

hex(C) -> <<"\\u", (digit(C bsr 12)), (digit(C bsr 8)), (digit(C bsr 4)), (digit(C))>>.

digit(N) when N band 15 < 10 -> $0 + N band 15;
digit(N) -> $A + N band 15 - 10.

utf8_size(C) when C < 16#800 -> 2;
utf8_size(C) when C < 16#10000 -> 3;
utf8_size(_) -> 4.

no_utf8(Rest, Whole) ->
    case utf8_fault(Rest) of
        unfinished -> error(unexpected_end);
        Bad -> invalid_byte(Bad, Whole)
    end.

%% The bytes do not begin with a character. Finds the first that is wrong: {Byte, behind it}.
utf8_fault(<<C, Rest/bits>>) when C >= 16#C2, C =< 16#DF -> continuations(Rest, [{16#80, 16#BF}]);
utf8_fault(<<16#E0, Rest/bits>>) -> continuations(Rest, [{16#A0, 16#BF}, {16#80, 16#BF}]);
utf8_fault(<<16#ED, Rest/bits>>) -> continuations(Rest, [{16#80, 16#9F}, {16#80, 16#BF}]);
utf8_fault(<<C, Rest/bits>>) when C >= 16#E1, C =< 16#EF ->
    continuations(Rest, [{16#80, 16#BF}, {16#80, 16#BF}]);
utf8_fault(<<16#F0, Rest/bits>>) -> continuations(Rest, [{16#90, 16#BF}, {16#80, 16#BF}, {16#80, 16#BF}]);
utf8_fault(<<16#F4, Rest/bits>>) -> continuations(Rest, [{16#80, 16#8F}, {16#80, 16#BF}, {16#80, 16#BF}]);
utf8_fault(<<C, Rest/bits>>) when C >= 16#F1, C =< 16#F3 ->
    continuations(Rest, [{16#80, 16#BF}, {16#80, 16#BF}, {16#80, 16#BF}]);
utf8_fault(<<C, Rest/bits>>) -> {C, Rest}.

continuations(<<C, Rest/bits>>, [{Low, High} | More]) when C >= Low, C =< High -> continuations(Rest, More);
continuations(<<C, Rest/bits>>, [_ | _]) -> {C, Rest};
continuations(<<>>, _) -> unfinished.

%% Encoding for readers: nested lists and objects are laid out on lines of their own.

-spec format(term()) -> iodata().
format(Term) -> format(Term, #{}).

-spec format(term(), map() | formatter()) -> iodata().
format(Term, Options) when is_map(Options) -> format(Term, fun format_value/3, Options);
format(Term, Formatter) when is_function(Formatter, 3) -> format(Term, Formatter, #{}).

-spec format(term(), formatter(), map()) -> iodata().
format(Term, Formatter, Options) when is_function(Formatter, 3), is_map(Options) ->
    Defaults = #{level => 0, col => 0, indent => 2, max => 100},
    [Formatter(Term, Formatter, maps:merge(Defaults, Options)), $\n].

-spec format_value(term(), formatter(), map()) -> iodata().
format_value(Term, Formatter, State) when is_atom(Term) ->
    encode_atom(Term, fun(Value, _) -> Formatter(Value, Formatter, State) end);
format_value(Term, Formatter, State) when is_list(Term) -> format_list(Term, Formatter, State);
format_value(Term, Formatter, State) when is_map(Term) ->
    format_key_value_list(lists:keysort(1, maps:to_list(Term)), Formatter, State);
format_value(Term, _, _) -> encode_value(Term, none).

%% A list of lists, objects or strings has a line for each; of others, as many as fit.
format_list([], _, _) -> <<"[]">>;
format_list([First | _] = List, Formatter, #{col := Column, max := Max} = State)
  when is_list(First); is_map(First); is_binary(First); Column >= Max ->
    {Width, Line} = line(deeper(State)),
    Inner = (deeper(State))#{col => Width},
    {_, End} = line(State),
    Elements = [Formatter(Element, Formatter, Inner) || Element <- List],
    [$[, Line, lists:join([$, | Line], Elements), End, $]];
format_list([First | Rest], Formatter, State) ->
    Inner = deeper(State),
    Text = Formatter(First, Formatter, Inner),
    Column = maps:get(col, State) + 1 + iolist_size(Text),
    [$[, Text, filled(Rest, Formatter, Inner#{col => Column}), $]].

filled([Element | Rest], Formatter, #{col := Column, max := Max} = State) when Column < Max ->
    Text = Formatter(Element, Formatter, State#{col => Column + 1}),
    [$,, Text | filled(Rest, Formatter, State#{col => Column + 1 + iolist_size(Text)})];
filled([Element | Rest], Formatter, State) ->
    {Width, Line} = line(State),
    Text = Formatter(Element, Formatter, State#{col => Width}),
    [$,, Line, Text | filled(Rest, Formatter, State#{col => Width + iolist_size(Text)})];
filled([], _, _) -> [].

-spec format_key_value_list([{term(), term()}], formatter(), map()) -> iodata().
format_key_value_list(Pairs, Formatter, State) -> format_members(Pairs, Formatter, State, unchecked).

-spec format_key_value_list_checked([{term(), term()}], formatter(), map()) -> iodata().
format_key_value_list_checked(Pairs, Formatter, State) -> format_members(Pairs, Formatter, State, #{}).

format_members([], _, _, _) -> <<"{}">>;
format_members([{Key, Value}], Formatter, State, _) when not is_list(Value), not is_map(Value) ->
    [<<"{ ">>, encode_binary(key(Key)), <<": ">>, Formatter(Value, Formatter, deeper(State)), <<" }">>];
format_members(Pairs, Formatter, State, Seen) ->
    Inner = deeper(State),
    {Width, Line} = line(Inner),
    {_, End} = line(State),
    {Members, _} =
        lists:mapfoldl(fun({Key, Value}, Known) ->
                           Text = encode_binary(key(Key)),
                           Column = Width + iolist_size(Text) + 2,
                           Member = [Text, <<": ">>, Formatter(Value, Formatter, Inner#{col => Column})],
                           {Member, see(Key, Known)}
                       end, Seen, Pairs),
    [${, Line, lists:join([$, | Line], Members), End, $}].

deeper(#{level := Level} = State) -> State#{level => Level + 1}.

line(#{level := Level, indent := Indent}) ->
    Width = Level * Indent,
    {Width, [$\n | lists:duplicate(Width, $\s)]}.

%% Decoding

-record(decode, {array_start, array_push, array_finish, object_start, object_push, object_finish,
                 float = fun erlang:binary_to_float/1, integer = fun erlang:binary_to_integer/1, string,
                 null = null}).

-spec decode(binary()) -> decode_value().
decode(Binary) when is_binary(Binary) ->
    case finished(value(Binary, Binary, ok, [], #decode{})) of
        {Value, _, <<>>} -> Value;
        {_, _, <<Byte, _/bits>>} -> failed({invalid_byte, Byte}, 0);
        unfinished -> error(unexpected_end)
    end.

-spec decode(binary(), term(), map()) -> {term(), term(), binary()}.
decode(Binary, Acc, Callbacks) when is_binary(Binary) ->
    case finished(value(Binary, Binary, Acc, [], callbacks(Callbacks))) of
        unfinished -> error(unexpected_end);
        Result -> Result
    end.

-spec decode_start(binary(), term(), map()) -> {term(), term(), binary()} | {continue, term()}.
decode_start(Binary, Acc, Callbacks) when is_binary(Binary) ->
    value(Binary, Binary, Acc, [], callbacks(Callbacks)).

-spec decode_continue(binary() | end_of_input, term()) -> {term(), term(), binary()} | {continue, term()}.
decode_continue(end_of_input, State) ->
    case finished({continue, State}) of
        unfinished -> error(unexpected_end);
        Result -> Result
    end;
decode_continue(Binary, {Before, Acc, Stack, D, What}) when is_binary(Binary) ->
    Whole = <<Before/binary, Binary/binary>>,
    case What of
        value -> value(Whole, Whole, Acc, Stack, D);
        {number, _} -> value(Whole, Whole, Acc, Stack, D);
        next -> next(Whole, Whole, Acc, Stack, D);
        first_element -> first_element(Whole, Whole, Acc, Stack, D);
        first_key -> first_key(Whole, Whole, Acc, Stack, D);
        key -> key(Whole, Whole, Acc, Stack, D);
        colon -> colon(Whole, Whole, Acc, Stack, D)
    end.

%% A number may end where the text ends.
finished({continue, {_, Acc, [], _, {number, Number}}}) -> {Number, Acc, <<>>};
finished({continue, _}) -> unfinished;
finished(Result) -> Result.

callbacks(Map) ->
    maps:fold(fun(array_start, F, D) when is_function(F, 1) -> D#decode{array_start = F};
                 (array_push, F, D) when is_function(F, 2) -> D#decode{array_push = F};
                 (array_finish, F, D) when is_function(F, 2) -> D#decode{array_finish = F};
                 (object_start, F, D) when is_function(F, 1) -> D#decode{object_start = F};
                 (object_push, F, D) when is_function(F, 3) -> D#decode{object_push = F};
                 (object_finish, F, D) when is_function(F, 2) -> D#decode{object_finish = F};
                 (float, F, D) when is_function(F, 1) -> D#decode{float = F};
                 (integer, F, D) when is_function(F, 1) -> D#decode{integer = F};
                 (string, F, D) when is_function(F, 1) -> D#decode{string = F};
                 (null, Null, D) -> D#decode{null = Null}
              end, #decode{}, Map).

%% Each of these functions has what is left of the text, the whole text, the accumulator of the array or
%% object that is open, the stack of those around it, and the callbacks. The stack has `array` or `object`
%% and the accumulator outside for each; a key that waits for its value lies above its object.

-define(IS_SPACE(C), (C =:= $\s orelse C =:= $\n orelse C =:= $\t orelse C =:= $\r)).

value(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) -> value(Rest, Whole, Acc, Stack, D);
value(<<$", Rest/bits>> = From, Whole, Acc, Stack, D) ->
    case string(Rest, Rest, 0, <<>>, Whole) of
        unfinished -> {continue, {From, Acc, Stack, D, value}};
        {Text, Behind} -> next(Behind, Whole, as_string(Text, D), Acc, Stack, D)
    end;
value(<<C, _/bits>> = From, Whole, Acc, Stack, D) when C >= $0, C =< $9; C =:= $- ->
    number(From, Whole, Acc, Stack, D);
value(<<$[, Rest/bits>>, Whole, Acc, Stack, D) ->
    Inner = case D#decode.array_start of undefined -> []; F -> F(Acc) end,
    first_element(Rest, Whole, Inner, [array, Acc | Stack], D);
value(<<${, Rest/bits>>, Whole, Acc, Stack, D) ->
    Inner = case D#decode.object_start of undefined -> []; F -> F(Acc) end,
    first_key(Rest, Whole, Inner, [object, Acc | Stack], D);
value(<<"true", Rest/bits>>, Whole, Acc, Stack, D) -> next(Rest, Whole, true, Acc, Stack, D);
value(<<"false", Rest/bits>>, Whole, Acc, Stack, D) -> next(Rest, Whole, false, Acc, Stack, D);
value(<<"null", Rest/bits>>, Whole, Acc, Stack, D) -> next(Rest, Whole, D#decode.null, Acc, Stack, D);
value(From, Whole, Acc, Stack, D) ->
    case word_fault(From) of
        unfinished -> {continue, {From, Acc, Stack, D, value}};
        Bad -> invalid_byte(Bad, Whole)
    end.

%% What is wrong with a text that begins with no value. A word is not looked at before one more byte is
%% there, and then its second letter is told to be wrong.
word_fault(<<>>) -> unfinished;
word_fault(<<C, _/bits>> = Text) when (C =:= $t orelse C =:= $n), byte_size(Text) =< 4 -> unfinished;
word_fault(<<$f, _/bits>> = Text) when byte_size(Text) =< 5 -> unfinished;
word_fault(<<W, C, Rest/bits>>) when W =:= $t; W =:= $n; W =:= $f -> {C, Rest};
word_fault(<<C, Rest/bits>>) -> {C, Rest}.

as_string(Text, #decode{string = undefined}) -> Text;
as_string(Text, #decode{string = F}) -> F(Text).

%% A value is complete. White space at the end of the text belongs to it.
next(Rest, _, Value, Acc, [], _) ->
    case is_space(Rest) of
        true -> {Value, Acc, <<>>};
        false -> {Value, Acc, Rest}
    end;
next(Rest, Whole, Value, Acc, [array | _] = Stack, D) ->
    Pushed = case D#decode.array_push of undefined -> [Value | Acc]; F -> F(Value, Acc) end,
    next(Rest, Whole, Pushed, Stack, D);
next(Rest, Whole, Value, Acc, [{key, Key} | Stack], D) ->
    Pushed = case D#decode.object_push of undefined -> [{Key, Value} | Acc]; F -> F(Key, Value, Acc) end,
    next(Rest, Whole, Pushed, Stack, D).

is_space(<<C, Rest/bits>>) when ?IS_SPACE(C) -> is_space(Rest);
is_space(Rest) -> Rest =:= <<>>.

%% Behind an element or member.
next(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) -> next(Rest, Whole, Acc, Stack, D);
next(<<$,, Rest/bits>>, Whole, Acc, [array | _] = Stack, D) -> value(Rest, Whole, Acc, Stack, D);
next(<<$,, Rest/bits>>, Whole, Acc, [object | _] = Stack, D) -> key(Rest, Whole, Acc, Stack, D);
next(<<$], Rest/bits>>, Whole, Acc, [array, Outer | Stack], D) ->
    {Value, Outside} =
        case D#decode.array_finish of
            undefined -> {lists:reverse(Acc), Outer};
            F -> F(Acc, Outer)
        end,
    next(Rest, Whole, Value, Outside, Stack, D);
next(<<$}, Rest/bits>>, Whole, Acc, [object, Outer | Stack], D) ->
    {Value, Outside} =
        case D#decode.object_finish of
            undefined -> {maps:from_list(Acc), Outer};
            F -> F(Acc, Outer)
        end,
    next(Rest, Whole, Value, Outside, Stack, D);
next(<<>>, _, Acc, Stack, D) -> {continue, {<<>>, Acc, Stack, D, next}};
next(<<C, Rest/bits>>, Whole, _, _, _) -> invalid_byte({C, Rest}, Whole).

first_element(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) ->
    first_element(Rest, Whole, Acc, Stack, D);
first_element(<<$], _/bits>> = Rest, Whole, Acc, Stack, D) -> next(Rest, Whole, Acc, Stack, D);
first_element(<<>>, _, Acc, Stack, D) -> {continue, {<<>>, Acc, Stack, D, first_element}};
first_element(Rest, Whole, Acc, Stack, D) -> value(Rest, Whole, Acc, Stack, D).

first_key(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) -> first_key(Rest, Whole, Acc, Stack, D);
first_key(<<$}, _/bits>> = Rest, Whole, Acc, Stack, D) -> next(Rest, Whole, Acc, Stack, D);
first_key(<<>>, _, Acc, Stack, D) -> {continue, {<<>>, Acc, Stack, D, first_key}};
first_key(Rest, Whole, Acc, Stack, D) -> key(Rest, Whole, Acc, Stack, D).

key(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) -> key(Rest, Whole, Acc, Stack, D);
key(<<$", Rest/bits>> = From, Whole, Acc, Stack, D) ->
    case string(Rest, Rest, 0, <<>>, Whole) of
        unfinished -> {continue, {From, Acc, Stack, D, key}};
        {Text, Behind} -> colon(Behind, Whole, Acc, [{key, as_string(Text, D)} | Stack], D)
    end;
key(<<>>, _, Acc, Stack, D) -> {continue, {<<>>, Acc, Stack, D, key}};
key(<<C, Rest/bits>>, Whole, _, _, _) -> invalid_byte({C, Rest}, Whole).

colon(<<C, Rest/bits>>, Whole, Acc, Stack, D) when ?IS_SPACE(C) -> colon(Rest, Whole, Acc, Stack, D);
colon(<<$:, Rest/bits>>, Whole, Acc, Stack, D) -> value(Rest, Whole, Acc, Stack, D);
colon(<<>>, _, Acc, Stack, D) -> {continue, {<<>>, Acc, Stack, D, colon}};
colon(<<C, Rest/bits>>, Whole, _, _, _) -> invalid_byte({C, Rest}, Whole).

%% Text is the Length bytes of From in front of Rest, behind what Acc has of the string already.
string(<<C, Rest/bits>>, From, Length, Acc, Whole) when C >= $\s, C < 128, C =/= $", C =/= $\\ ->
    string(Rest, From, Length + 1, Acc, Whole);
string(<<$", Rest/bits>>, From, Length, <<>>, _) -> {binary:part(From, 0, Length), Rest};
string(<<$", Rest/bits>>, From, Length, Acc, _) ->
    {<<Acc/binary, (binary:part(From, 0, Length))/binary>>, Rest};
string(<<$\\, Rest/bits>>, From, Length, Acc, Whole) ->
    case unescape(Rest, Whole) of
        unfinished -> unfinished;
        {C, Rest1} ->
            Part = binary:part(From, 0, Length),
            string(Rest1, Rest1, 0, <<Acc/binary, Part/binary, C/utf8>>, Whole)
    end;
string(<<C, Rest/bits>>, _, _, _, Whole) when C < $\s -> invalid_byte({C, Rest}, Whole);
string(<<C/utf8, Rest/bits>>, From, Length, Acc, Whole) ->
    string(Rest, From, Length + utf8_size(C), Acc, Whole);
string(<<>>, _, _, _, _) -> unfinished;
string(Rest, _, _, _, Whole) ->
    case utf8_fault(Rest) of
        unfinished -> unfinished;
        Bad -> invalid_byte(Bad, Whole)
    end.

unescape(<<$u, Rest/bits>>, Whole) -> code_unit(Rest, Whole);
unescape(<<C, Rest/bits>>, Whole) ->
    case C of
        $n -> {$\n, Rest};
        $t -> {$\t, Rest};
        $r -> {$\r, Rest};
        $b -> {$\b, Rest};
        $f -> {$\f, Rest};
        _ when C =:= $"; C =:= $\\; C =:= $/ -> {C, Rest};
        _ -> invalid_byte({C, Rest}, Whole)
    end;
unescape(<<>>, _) -> unfinished.

%% Characters above 16#FFFF are two units, the second one in an escape of its own.
code_unit(<<Digits:4/binary, Rest/bits>>, Whole) ->
    case unit(Digits) of
        High when is_integer(High), High >= 16#D800, High =< 16#DBFF -> low_unit(Rest, High, Digits, Whole);
        C when is_integer(C), (C < 16#D800 orelse C > 16#DFFF) -> {C, Rest};
        _ -> unexpected_sequence(<<"\\u", Digits/binary>>, Rest, Whole)
    end;
code_unit(_, _) -> unfinished.

low_unit(<<"\\u", Digits:4/binary, Rest/bits>>, High, First, Whole) ->
    case unit(Digits) of
        Low when is_integer(Low), Low >= 16#DC00, Low =< 16#DFFF ->
            {16#10000 + ((High - 16#D800) bsl 10) + (Low - 16#DC00), Rest};
        _ -> unexpected_sequence(<<"\\u", First/binary, "\\u", Digits/binary>>, Rest, Whole)
    end;
low_unit(<<$\\, C, Rest/bits>>, _, _, Whole) when byte_size(Rest) >= 4 -> invalid_byte({C, Rest}, Whole);
low_unit(<<C, Rest/bits>>, _, _, Whole) when byte_size(Rest) >= 5 -> invalid_byte({C, Rest}, Whole);
low_unit(_, _, _, _) -> unfinished.

unit(Digits) ->
    try binary_to_integer(Digits, 16)
    catch error:badarg -> none
    end.

%% Numbers: a sign, digits, a fraction, an exponent. The text of a float has a fraction always.

number(From, Whole, Acc, Stack, D) ->
    case number_text(From, Whole) of
        unfinished -> {continue, {From, Acc, Stack, D, value}};
        {Kind, Text, Rest} ->
            Value = converted(Kind, Text, byte_size(Whole) - byte_size(From), D),
            case Rest of
                <<>> -> {continue, {From, Acc, Stack, D, {number, Value}}};
                _ -> next(Rest, Whole, Value, Acc, Stack, D)
            end
    end.

converted(integer, Text, _, #decode{integer = F}) -> F(Text);
converted(float, Text, Position, #decode{float = F}) ->
    try F(Text)
    catch error:badarg -> failed({unexpected_sequence, Text}, Position)
    end.

number_text(<<$-, Rest/bits>> = From, Whole) -> whole_part(Rest, From, 1, Whole);
number_text(From, Whole) -> whole_part(From, From, 0, Whole).

whole_part(<<$0, Rest/bits>>, From, Length, Whole) -> behind_whole(Rest, From, Length + 1, Whole);
whole_part(<<C, _/bits>> = Text, From, Length, Whole) when C >= $1, C =< $9 ->
    {Rest, Length1} = digits(Text, Length),
    behind_whole(Rest, From, Length1, Whole);
whole_part(Rest, _, _, Whole) -> no_digit(Rest, Whole).

digits(<<C, Rest/bits>>, Length) when C >= $0, C =< $9 -> digits(Rest, Length + 1);
digits(Rest, Length) -> {Rest, Length}.

no_digit(<<>>, _) -> unfinished;
no_digit(<<C, Rest/bits>>, Whole) -> invalid_byte({C, Rest}, Whole).

behind_whole(<<$., C, _/bits>> = Text, From, Length, Whole) when C >= $0, C =< $9 ->
    <<_, Fraction/bits>> = Text,
    {Rest, Length1} = digits(Fraction, Length + 1),
    case Rest of
        <<E, Exponent/bits>> when E =:= $e; E =:= $E ->
            exponent(Exponent, binary:part(From, 0, Length1), Whole);
        _ -> {float, binary:part(From, 0, Length1), Rest}
    end;
behind_whole(<<$., Rest/bits>>, _, _, Whole) -> no_digit(Rest, Whole);
behind_whole(<<E, Exponent/bits>>, From, Length, Whole) when E =:= $e; E =:= $E ->
    exponent(Exponent, <<(binary:part(From, 0, Length))/binary, ".0">>, Whole);
behind_whole(Rest, From, Length, _) -> {integer, binary:part(From, 0, Length), Rest}.

exponent(From, Mantissa, Whole) ->
    {Signed, Length} = case From of
                           <<C, Behind/bits>> when C =:= $+; C =:= $- -> {Behind, 1};
                           _ -> {From, 0}
                       end,
    case digits(Signed, Length) of
        {Rest, Length} -> no_digit(Rest, Whole);
        {Rest, Length1} -> {float, <<Mantissa/binary, $e, (binary:part(From, 0, Length1))/binary>>, Rest}
    end.

%% What is wrong and where: Rest is what follows it in the text.
invalid_byte({Byte, Rest}, Whole) ->
    failed({invalid_byte, Byte}, byte_size(Whole) - byte_size(Rest) - 1).

unexpected_sequence(Bytes, Rest, Whole) ->
    failed({unexpected_sequence, Bytes}, byte_size(Whole) - byte_size(Rest) - byte_size(Bytes)).

failed(Reason, Position) ->
    error(Reason, none, [{error_info, #{module => erl_stdlib_errors, cause => #{position => Position}}}]).
