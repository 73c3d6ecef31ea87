%% SPDX-License-Identifier: Apache-2.0
%% Terms from tokens: what io:read/1 and file:consult/1 accept. Programs are
%% compiled by the machine's own front end, so there is no more of the grammar
%% here: who calls for it gets an installed OTP's module (installed_module).
-module(erl_parse).

-export([parse_term/1, format_error/1, '$handle_undefined_function'/2]).

-spec parse_term([tuple()]) -> {ok, term()} | {error, {term(), module(), term()}}.
parse_term(Tokens) ->
    try term(Tokens) of
        {Term, [{dot, _}]} -> {ok, Term};
        {_, Rest} -> {error, no_term(Rest, Tokens)}
    catch
        throw:{before, Rest} -> {error, no_term(Rest, Tokens)};
        throw:{illegal, Token, What} -> {error, {erl_scan:location(Token), ?MODULE, What}}
    end.

%% An expression that is no term is told from what is no expression either.
no_term(Rest, Tokens) ->
    case lists:keymember(dot, 1, Tokens) andalso file_eval:has_syntax(Tokens) of
        true -> {erl_scan:location(hd(Tokens)), ?MODULE, "bad term"};
        false -> before(Rest, Tokens)
    end.

before([Token | _], _) -> {erl_scan:location(Token), ?MODULE, ["syntax error before: ", text(Token)]};
before([], []) -> {1, ?MODULE, ["syntax error before: ", ""]};
before([], Tokens) -> {erl_scan:location(lists:last(Tokens)), ?MODULE, ["syntax error before: ", ""]}.

text({dot, _}) -> "'.'";
text({Symbol, _}) -> io_lib:write_atom(Symbol);
text({var, _, Name}) -> atom_to_list(Name);
text({string, _, String}) -> io_lib:write_string(String);
text({char, _, Char}) -> io_lib:write_char(Char);
text({_, _, Value}) -> lists:flatten(io_lib:format("~tw", [Value])).

format_error(Message) ->
    case io_lib:deep_char_list(Message) of
        true -> Message;
        false -> io_lib:write(Message)
    end.

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

term([{string, _, S} | T]) -> strings(T, S);
term([{sigil_prefix, _, _} = Prefix, {string, _, S}, {sigil_suffix, _, _} = Suffix | T]) ->
    {sigil(Prefix, S, Suffix), T};
term([{Category, _, Value} | T])
  when Category =:= atom; Category =:= integer; Category =:= float; Category =:= char -> {Value, T};
term([{'-', _}, {Number, _, N} | T]) when Number =:= integer; Number =:= float -> {-N, T};
term([{'-', _}, {char, _, N} | T]) -> {-N, T};
term([{'+', _}, {Number, _, N} | T]) when Number =:= integer; Number =:= float; Number =:= char -> {N, T};
term([{'[', _}, {']', _} | T]) -> {[], T};
term([{'[', _} | T]) -> list(T);
term([{'{', _}, {'}', _} | T]) -> {{}, T};
term([{'{', _} | T]) ->
    {Elements, Rest} = sequence(T, '}'),
    {list_to_tuple(Elements), Rest};
term([{'#', _}, {'{', _}, {'}', _} | T]) -> {#{}, T};
term([{'#', _}, {'{', _} | T]) -> pairs(T, #{});
term([{'<<', _}, {'>>', _} | T]) -> {<<>>, T};
term([{'<<', _} | T]) -> segments(T, <<>>);
term([{'fun', _}, {atom, _, M}, {':', _}, {atom, _, F}, {'/', _}, {integer, _, A} | T]) -> {fun M:F/A, T};
term([{'(', _} | T]) ->
    case term(T) of
        {Term, [{')', _} | Rest]} -> {Term, Rest};
        {_, Rest} -> throw({before, Rest})
    end;
term(Rest) -> throw({before, Rest}).

sigil({sigil_prefix, _, Prefix} = Token, _, _)
  when Prefix =/= '', Prefix =/= b, Prefix =/= 'B', Prefix =/= s, Prefix =/= 'S' ->
    throw({illegal, Token, "illegal sigil prefix"});
sigil(_, _, {sigil_suffix, _, [_ | _]} = Token) -> throw({illegal, Token, "illegal sigil suffix"});
sigil({sigil_prefix, _, Prefix}, S, _) when Prefix =:= s; Prefix =:= 'S' -> S;
sigil(_, S, _) -> unicode:characters_to_binary(S).

strings([{string, _, S} | T], Acc) -> strings(T, Acc ++ S);
strings(T, Acc) -> {Acc, T}.

list(T) ->
    {Element, Rest} = term(T),
    case Rest of
        [{',', _} | Rest1] ->
            {Tail, Rest2} = list(Rest1),
            {[Element | Tail], Rest2};
        [{'|', _} | Rest1] ->
            case term(Rest1) of
                {Tail, [{']', _} | Rest2]} -> {[Element | Tail], Rest2};
                {_, Rest2} -> throw({before, Rest2})
            end;
        [{']', _} | Rest1] -> {[Element], Rest1};
        _ -> throw({before, Rest})
    end.

sequence(T, Close) ->
    case term(T) of
        {Element, [{',', _} | Rest]} ->
            {Elements, Rest1} = sequence(Rest, Close),
            {[Element | Elements], Rest1};
        {Element, [{Close, _} | Rest]} -> {[Element], Rest};
        {_, Rest} -> throw({before, Rest})
    end.

pairs(T, Map) ->
    case term(T) of
        {K, [{'=>', _} | Rest]} ->
            case term(Rest) of
                {V, [{',', _} | Rest1]} -> pairs(Rest1, Map#{K => V});
                {V, [{'}', _} | Rest1]} -> {Map#{K => V}, Rest1};
                {_, Rest1} -> throw({before, Rest1})
            end;
        {_, Rest} -> throw({before, Rest})
    end.

%% <<1, 2:16, "text", "text"/utf8, 1.5:32/float-little>>
segments(T, Acc) ->
    {Value, T1} = term(T),
    {Size, T2} = segment_size(T1),
    {Types, T3} = segment_types(T2),
    Acc1 = <<Acc/bitstring, (segment(Value, Size, Types, T))/bitstring>>,
    case T3 of
        [{',', _} | Rest] -> segments(Rest, Acc1);
        [{'>>', _} | Rest] -> {Acc1, Rest};
        _ -> throw({before, T3})
    end.

segment_size([{':', _}, {integer, _, Size} | T]) -> {Size, T};
segment_size(T) -> {default, T}.

segment_types([{'/', _} | T]) -> segment_type_list(T);
segment_types(T) -> {[], T}.

segment_type_list([{atom, _, unit}, {':', _}, {integer, _, Unit} | T]) -> more_types(T, {unit, Unit});
segment_type_list([{atom, _, Type} | T]) -> more_types(T, Type);
segment_type_list(T) -> throw({before, T}).

more_types([{'-', _} | T], Type) ->
    {Types, Rest} = segment_type_list(T),
    {[Type | Types], Rest};
more_types(T, Type) -> {[Type], T}.

segment(Value, Size0, Types, Where) ->
    Little = lists:member(little, Types),
    Type = case [X || X <- Types, lists:member(X, [integer, float, binary, bytes, bitstring, bits, utf8,
        utf16, utf32])] of
               [X | _] -> X;
               [] -> integer
           end,
    Unit = proplists:get_value(unit, Types, 1),
    try
        if
            is_list(Value) -> << <<(segment(C, Size0, Types, Where))/bitstring>> || C <- Value>>;
            Type =:= utf8 -> <<Value/utf8>>;
            Type =:= utf16, Little -> <<Value/utf16-little>>;
            Type =:= utf16 -> <<Value/utf16>>;
            Type =:= utf32, Little -> <<Value/utf32-little>>;
            Type =:= utf32 -> <<Value/utf32>>;
            Type =:= float ->
                Size = case Size0 of default -> 64; _ -> Size0 * Unit end,
                if Little -> <<Value:Size/float-little>>; true -> <<Value:Size/float>> end;
            Type =:= integer ->
                Size = case Size0 of default -> 8; _ -> Size0 * Unit end,
                if Little -> <<Value:Size/little>>; true -> <<Value:Size>> end;
            true -> Value
        end
    of
        Bits when is_bitstring(Bits) -> Bits;
        _ -> throw({before, Where})
    catch error:_ -> throw({before, Where})
    end.
