%% SPDX-License-Identifier: Apache-2.0
%% Strings: character data seen as grapheme clusters, and the older functions
%% on flat lists of characters.
%%
%% A string is either a binary or a list (possibly nested, possibly holding
%% binaries). The newer functions walk it with unicode_util:gc/1. What is left
%% of a string has the same kind as the string; the part passed over is
%% recovered by taken/3, as a sub-binary or as a flat list.
-module(string).
-compile({no_auto_import, [length/1]}).

-export([is_empty/1, length/1, to_graphemes/1, reverse/1, equal/2, equal/3,
         equal/4, slice/2, slice/3, pad/2, pad/3, pad/4, trim/1, trim/2,
         trim/3, chomp/1, take/2, take/3, take/4, uppercase/1, lowercase/1,
         titlecase/1, casefold/1, prefix/2, split/2, split/3, replace/3,
         replace/4, find/2, find/3, jaro_similarity/2, next_codepoint/1, next_grapheme/1,
         lexemes/2, nth_lexeme/3, to_float/1, to_integer/1]).
-export([len/1, concat/2, chr/2, rchr/2, str/2, rstr/2, span/2, cspan/2,
         substr/2, substr/3, tokens/2, chars/2, chars/3, copies/2, words/1,
         words/2, strip/1, strip/2, strip/3, sub_word/2, sub_word/3,
         sub_string/2, sub_string/3, left/2, left/3, right/2, right/3,
         centre/2, centre/3, join/2, to_upper/1, to_lower/1]).

-define(IS_ASCII(C), (is_integer(C) andalso C >= 0 andalso C < 128)).
%% C, with D behind it, is a grapheme cluster: gc/1 need not be asked.
-define(IS_CLUSTER(C, D), (?IS_ASCII(C) andalso ?IS_ASCII(D) andalso C =/= $\r)).

%% Walking

next_codepoint(S) -> unicode_util:cp(S).

next_grapheme(S) -> unicode_util:gc(S).

%% gc/1 for strings that must be right.
next(S) ->
    case unicode_util:gc(S) of
        {error, Rest} -> error({badarg, Rest});
        Result -> Result
    end.

%% What lies between the beginning of Whole and Rest. Acc holds the clusters
%% or code points passed, reversed; for a binary it is not looked at.
taken(Whole, Rest, _) when is_binary(Whole) ->
    binary:part(Whole, 0, byte_size(Whole) - left_bytes(Rest));
taken(_, _, Acc) -> flat_reverse(Acc, []).

left_bytes(B) when is_binary(B) -> byte_size(B);
left_bytes([]) -> 0.

flat_reverse([C | T], Acc) when is_integer(C) -> flat_reverse(T, [C | Acc]);
flat_reverse([Cs | T], Acc) -> flat_reverse(T, Cs ++ Acc);
flat_reverse([], Acc) -> Acc.

%% At the end of a binary gc/1 leaves <<>>, after it [].
empty(S) when is_binary(S) -> <<>>;
empty(_) -> [].

is_empty([]) -> true;
is_empty(<<>>) -> true;
is_empty([L | T]) when is_list(L); is_binary(L) -> is_empty(L) andalso is_empty(T);
is_empty(_) -> false.

length(S) -> length(next(S), 0).

length([_ | Rest], N) -> length(next(Rest), N + 1);
length([], N) -> N.

to_graphemes(S) ->
    case next(S) of
        [G | Rest] -> [G | to_graphemes(Rest)];
        [] -> []
    end.

reverse(<<C, _/binary>> = S) when C < 128 -> reverse(next(S), []);
reverse(S) -> reverse(next(S), []).

reverse([G | Rest], Acc) -> reverse(next(Rest), [G | Acc]);
reverse([], Acc) -> Acc.

%% Comparing

equal(A, B) when is_binary(A), is_binary(B) -> A =:= B;
equal(A, B) -> same(unicode_util:cp(A), unicode_util:cp(B), fun unicode_util:cp/1).

equal(A, B, false) -> equal(A, B);
equal(A, B, true) ->
    Next = fun(S) -> spread(unicode_util:casefold(S)) end,
    same(Next(A), Next(B), Next).

equal(A, B, Fold, none) -> equal(A, B, Fold);
equal(A, B, false, Form) ->
    Normal = normaliser(Form),
    same(Normal(A), Normal(B), Normal);
equal(A, B, true, Form) ->
    Normal = normaliser(Form),
    Next = fun(S) -> folded_normal(Normal, S) end,
    same(Next(A), Next(B), Next).

normaliser(nfc) -> fun unicode_util:nfc/1;
normaliser(nfd) -> fun unicode_util:nfd/1;
normaliser(nfkc) -> fun unicode_util:nfkc/1;
normaliser(nfkd) -> fun unicode_util:nfkd/1.

folded_normal(Normal, S) ->
    case Normal(S) of
        [C | Rest] when is_integer(C) -> spread([folded(C) | Rest]);
        [G | Rest] -> [folded(G) | Rest];
        Other -> Other
    end.

%% What one character has become, one by one
spread([[C | Cs] | Rest]) -> [C | [Cs | Rest]];
spread(Other) -> Other.

folded(C) when is_integer(C) -> hd(unicode_util:casefold([C]));
folded(Cs) -> lists:flatmap(fun(C) -> listed(folded(C)) end, Cs).

listed(C) when is_integer(C) -> [C];
listed(Cs) -> Cs.

same([X | A], [X | B], Next) -> same(Next(A), Next(B), Next);
same([], [], _) -> true;
same(_, _, _) -> false.

%% Parts

slice(S, Start) when is_integer(Start), Start >= 0 ->
    case skip(S, Start) of
        [] -> empty(S);
        Rest -> Rest
    end.

slice(S, Start, infinity) -> slice(S, Start);
slice(S, Start, Len) when is_integer(Start), Start >= 0, is_integer(Len), Len >= 0 ->
    case skip(S, Start) of
        [] -> empty(S);
        Rest -> slice_taken(Rest, Rest, Len, [])
    end.

skip(S, 0) -> S;
skip(S, N) ->
    case next(S) of
        [_ | Rest] -> skip(Rest, N - 1);
        [] -> []
    end.

slice_taken(Whole, S, 0, Acc) -> taken(Whole, S, Acc);
slice_taken(Whole, S, N, Acc) ->
    case next(S) of
        [G | Rest] -> slice_taken(Whole, Rest, N - 1, [G | Acc]);
        [] -> taken(Whole, [], Acc)
    end.

pad(S, Len) -> pad(S, Len, trailing, $\s).

pad(S, Len, Dir) -> pad(S, Len, Dir, $\s).

pad(S, Len, Dir, Char) when is_integer(Len) ->
    Missing = max(0, Len - length(S)),
    case Dir of
        leading -> [lists:duplicate(Missing, Char), S];
        trailing -> [S | lists:duplicate(Missing, Char)];
        both ->
            Side = lists:duplicate(Missing div 2, Char),
            [Side, S, Side | lists:duplicate(Missing rem 2, Char)]
    end.

%% Trimming and taking

trim(S) -> trim(S, both, unicode_util:whitespace()).

trim(S, Dir) -> trim(S, Dir, unicode_util:whitespace()).

trim(S, _, []) -> S;
trim(S, leading, Seps) when is_list(Seps) -> trim_leading(S, Seps);
trim(S, trailing, Seps) when is_list(Seps) -> trim_trailing(S, Seps);
trim(S, both, Seps) when is_list(Seps) -> trim_trailing(trim_leading(S, Seps), Seps).

trim_leading([C | [D | _] = Rest] = S, Seps) when ?IS_CLUSTER(C, D) ->
    case lists:member(C, Seps) of
        true -> trim_leading(Rest, Seps);
        false -> S
    end;
trim_leading(S, Seps) ->
    case next(S) of
        [G | Rest] ->
            case lists:member(G, Seps) of
                true -> trim_leading(Rest, Seps);
                false -> S
            end;
        [] -> empty(S)
    end.

trim_trailing(S, Seps) ->
    {Keep, _} = split_trailing(S, Seps, true),
    Keep.

%% Cuts off the longest end consisting of clusters that are (In is true) or
%% are not in the set.
split_trailing(S, Set, In) -> split_trailing(S, Set, In, S, [], S, []).

%% Cut is the string after the last cluster to be kept, Kept what is before it
%% (reversed), Acc all that was seen.
split_trailing(S, Set, In, Cut, Kept, Whole, Acc) ->
    case next(S) of
        [G | Rest] ->
            case lists:member(G, Set) of
                In -> split_trailing(Rest, Set, In, Cut, Kept, Whole, [G | Acc]);
                _ -> split_trailing(Rest, Set, In, Rest, [G | Acc], Whole, [G | Acc])
            end;
        [] when Cut =:= [] -> {Whole, empty(Whole)};
        [] -> {taken(Whole, Cut, Kept), Cut}
    end.

chomp(S) -> trim(S, trailing, [[$\r, $\n], $\n]).

take(S, Set) -> take(S, Set, false, leading).

take(S, Set, Complement) -> take(S, Set, Complement, leading).

take(S, Set, Complement, leading) when is_boolean(Complement) ->
    split_leading(S, Set, not Complement, S, []);
take(S, Set, Complement, trailing) when is_boolean(Complement) ->
    split_trailing(S, Set, not Complement).

split_leading([C | [D | _] = Rest] = S, Set, In, Whole, Acc) when ?IS_CLUSTER(C, D) ->
    case lists:member(C, Set) of
        In -> split_leading(Rest, Set, In, Whole, [C | Acc]);
        _ -> {taken(Whole, S, Acc), S}
    end;
split_leading(S, Set, In, Whole, Acc) ->
    case next(S) of
        [G | Rest] ->
            case lists:member(G, Set) of
                In -> split_leading(Rest, Set, In, Whole, [G | Acc]);
                _ -> {taken(Whole, S, Acc), S}
            end;
        [] -> {taken(Whole, [], Acc), empty(Whole)}
    end.

%% Case

%% Runs of ASCII are mapped without a look at any table.

uppercase(S) when is_list(S) -> upper_list(S);
uppercase(S) when is_binary(S) -> upper_binary(S, <<>>).

upper_list([C | T]) when is_integer(C), C >= $a, C =< $z -> [C - 32 | upper_list(T)];
upper_list([C | T]) when ?IS_ASCII(C) -> [C | upper_list(T)];
upper_list([]) -> [];
upper_list(S) -> mapped(unicode_util:uppercase(S), fun upper_list/1).

upper_binary(<<C, Rest/binary>>, Acc) when C >= $a, C =< $z -> upper_binary(Rest, <<Acc/binary, (C - 32)>>);
upper_binary(<<C, Rest/binary>>, Acc) when C < 128 -> upper_binary(Rest, <<Acc/binary, C>>);
upper_binary(<<>>, Acc) -> Acc;
upper_binary(S, Acc) -> mapped(S, unicode_util:uppercase(S), fun upper_binary/2, Acc).

lowercase(S) when is_list(S) -> lower_list(S);
lowercase(S) when is_binary(S) -> lower_binary(S, <<>>).

lower_list([C | T]) when is_integer(C), C >= $A, C =< $Z -> [C + 32 | lower_list(T)];
lower_list([C | T]) when ?IS_ASCII(C) -> [C | lower_list(T)];
lower_list([]) -> [];
lower_list(S) -> mapped(unicode_util:lowercase(S), fun lower_list/1).

lower_binary(<<C, Rest/binary>>, Acc) when C >= $A, C =< $Z -> lower_binary(Rest, <<Acc/binary, (C + 32)>>);
lower_binary(<<C, Rest/binary>>, Acc) when C < 128 -> lower_binary(Rest, <<Acc/binary, C>>);
lower_binary(<<>>, Acc) -> Acc;
lower_binary(S, Acc) -> mapped(S, unicode_util:lowercase(S), fun lower_binary/2, Acc).

casefold(S) when is_list(S) -> fold_list(S);
casefold(S) when is_binary(S) -> fold_binary(S, <<>>).

fold_list([C | T]) when is_integer(C), C >= $A, C =< $Z -> [C + 32 | fold_list(T)];
fold_list([C | T]) when ?IS_ASCII(C) -> [C | fold_list(T)];
fold_list([]) -> [];
fold_list(S) -> mapped(unicode_util:casefold(S), fun fold_list/1).

fold_binary(<<C, Rest/binary>>, Acc) when C >= $A, C =< $Z -> fold_binary(Rest, <<Acc/binary, (C + 32)>>);
fold_binary(<<C, Rest/binary>>, Acc) when C < 128 -> fold_binary(Rest, <<Acc/binary, C>>);
fold_binary(<<>>, Acc) -> Acc;
fold_binary(S, Acc) -> mapped(S, unicode_util:casefold(S), fun fold_binary/2, Acc).

%% One character was mapped, perhaps to several; Continue does the rest.
mapped([C | Rest], Continue) when is_integer(C) -> [C | Continue(list_rest(Rest))];
mapped([Cs | Rest], Continue) -> Cs ++ Continue(list_rest(Rest));
mapped([], _) -> [];
mapped({error, Rest}, _) -> error({badarg, Rest}).

list_rest(Rest) when is_binary(Rest) -> [Rest];
list_rest(Rest) -> Rest.

mapped(_, [C | Rest], Continue, Acc) when is_integer(C) -> Continue(Rest, <<Acc/binary, C/utf8>>);
mapped(_, [Cs | Rest], Continue, Acc) ->
    Continue(Rest, <<Acc/binary, (unicode:characters_to_binary(Cs))/binary>>);
mapped(S, _, _, _) -> error({badarg, S}).

titlecase(S) ->
    case unicode_util:titlecase(S) of
        [G | Rest] when is_list(S) -> flat_reverse([G], Rest);
        [G | Rest] -> <<(unicode:characters_to_binary([G]))/binary, (rest_binary(Rest))/binary>>;
        [] -> empty(S);
        {error, Rest} -> error({badarg, Rest})
    end.

rest_binary([]) -> <<>>;
rest_binary(B) -> B.

%% Searching. A pattern is a list of clusters.

prefix(S, Prefix) ->
    case starts(S, clusters(Prefix)) of
        nomatch -> nomatch;
        Rest -> rest_of(S, Rest)
    end.

clusters(P) -> to_graphemes(P).

rest_of(S, []) -> empty(S);
rest_of(_, Rest) -> Rest.

starts(S, []) -> S;
starts(S, [G | Gs]) ->
    case next(S) of
        [G | Rest] -> starts(Rest, Gs);
        _ -> nomatch
    end.

find(S, Pattern) -> find(S, Pattern, leading).

find(S, "", _) -> S;
find(S, <<>>, _) -> S;
find(S, Pattern, leading) ->
    case search(S, clusters(Pattern), []) of
        nomatch -> nomatch;
        {_, At, _} -> At
    end;
find(S, Pattern, trailing) ->
    case search_last(S, clusters(Pattern)) of
        nomatch -> nomatch;
        {_, At, _} -> At
    end.

%% The first match: {what is before it (reversed), string at it, string behind it}.
%% A match begins at any code point (the \n of \r\n is found) and ends where a cluster does.
search(S, [], Acc) -> {Acc, S, S};
search(S, [First | _] = Gs, Acc) -> search(S, first_codepoint(First), Gs, Acc).

search(S, C, Gs, Acc) ->
    case next_point(S) of
        [C | Rest] ->
            case starts(S, Gs) of
                nomatch -> search(Rest, C, Gs, [C | Acc]);
                Behind -> {Acc, S, Behind}
            end;
        [Other | Rest] -> search(Rest, C, Gs, [Other | Acc]);
        [] -> nomatch
    end.

first_codepoint([C | _]) -> C;
first_codepoint(C) -> C.

next_point(S) ->
    case unicode_util:cp(S) of
        {error, Rest} -> error({badarg, Rest});
        Result -> Result
    end.

search_last(S, Gs) -> search_last(S, Gs, [], nomatch).

search_last(S, Gs, Acc, Best) ->
    case search(S, Gs, Acc) of
        nomatch -> Best;
        {Before, At, _} = Found ->
            case next_point(At) of
                [C | Rest] -> search_last(Rest, Gs, [C | Before], Found);
                [] -> Found
            end
    end.

split(S, Pattern) -> split(S, Pattern, leading).

split(S, Pattern, Where) ->
    case is_empty(Pattern) of
        true -> [S];
        false -> split_at(S, clusters(Pattern), Where)
    end.

split_at(S, Gs, leading) ->
    case search(S, Gs, []) of
        nomatch -> [S];
        {Before, At, Behind} -> [taken(S, At, Before), rest_of(S, Behind)]
    end;
split_at(S, Gs, trailing) ->
    case search_last(S, Gs) of
        nomatch -> [S];
        {Before, At, Behind} -> [taken(S, At, Before), rest_of(S, Behind)]
    end;
split_at(S, Gs, all) ->
    case search(S, Gs, []) of
        nomatch -> [S];
        {Before, At, Behind} -> [taken(S, At, Before) | split_at(rest_of(S, Behind), Gs, all)]
    end.

replace(S, Pattern, New) -> lists:join(New, split(S, Pattern)).

replace(S, Pattern, New, Where) -> lists:join(New, split(S, Pattern, Where)).

lexemes([], _) -> [];
lexemes(S, Seps) when is_list(Seps) ->
    case trim_leading(S, Seps) of
        [] -> [];
        <<>> -> [];
        S1 ->
            {Lexeme, Rest} = split_leading(S1, Seps, false, S1, []),
            [Lexeme | lexemes(Rest, Seps)]
    end.

nth_lexeme(S, N, []) when is_integer(N), N > 0 ->
    case N of
        1 -> S;
        _ -> empty(S)
    end;
nth_lexeme(S, N, Seps) when is_list(Seps), is_integer(N), N > 0 ->
    case trim_leading(S, Seps) of
        Empty when Empty =:= []; Empty =:= <<>> -> empty(S);
        S1 ->
            case split_leading(S1, Seps, false, S1, []) of
                {Lexeme, _} when N =:= 1 -> Lexeme;
                {_, Rest} -> nth_lexeme(Rest, N - 1, Seps)
            end
    end.

%% Jaro similarity: share of clusters that match within a window of half the
%% longer string, and of the matches that are in order.
jaro_similarity(A, B) ->
    As = to_graphemes(A),
    Bs = to_graphemes(B),
    case {erlang:length(As), erlang:length(Bs)} of
        {0, 0} -> 1.0;
        {La, Lb} when La =:= 0; Lb =:= 0 -> 0.0;
        {La, Lb} ->
            Window = max(max(La, Lb) div 2 - 1, 0),
            {Ma, Used} = jaro_match(As, 0, list_to_tuple(Bs), Window, Lb, #{}, []),
            case erlang:length(Ma) of
                0 -> 0.0;
                M ->
                    Mb = [element(I + 1, list_to_tuple(Bs)) || I <- lists:sort(maps:keys(Used))],
                    Moved = erlang:length([x || {X, Y} <- lists:zip(Ma, Mb), X =/= Y]),
                    (M / La + M / Lb + (M - Moved / 2) / M) / 3
            end
    end.

jaro_match([A | As], I, Bs, Window, Lb, Used, Acc) ->
    case jaro_find(A, max(0, I - Window), min(Lb - 1, I + Window), Bs, Used) of
        none -> jaro_match(As, I + 1, Bs, Window, Lb, Used, Acc);
        J -> jaro_match(As, I + 1, Bs, Window, Lb, Used#{J => []}, [A | Acc])
    end;
jaro_match([], _, _, _, _, Used, Acc) -> {lists:reverse(Acc), Used}.

jaro_find(_, J, Last, _, _) when J > Last -> none;
jaro_find(A, J, Last, Bs, Used) ->
    case element(J + 1, Bs) =:= A andalso not is_map_key(J, Used) of
        true -> J;
        false -> jaro_find(A, J + 1, Last, Bs, Used)
    end.

%% Numbers at the beginning of a string

to_integer(S) ->
    try
        {_, _} = split_leading(S, "+-0123456789", true, S, []),
        number(S, fun scan_integer/1)
    catch _:_ -> {error, badarg}
    end.

to_float(S) ->
    try
        _ = next(S),
        number(S, fun scan_float/1)
    catch _:_ -> {error, badarg}
    end.

number(S, Scan) ->
    Chars = case S of
                B when is_binary(B) -> B;
                L -> unicode:characters_to_binary(L)
            end,
    case Scan(Chars) of
        {ok, Number, Used} when is_binary(S) ->
            {Number, binary:part(S, Used, byte_size(S) - Used)};
        {ok, Number, Used} -> {Number, drop_ascii(S, Used)};
        Error -> Error
    end.

drop_ascii([[] | S], 0) -> drop_ascii(S, 0);
drop_ascii([S], 0) when is_list(S) -> drop_ascii(S, 0);
drop_ascii(S, 0) -> S;
drop_ascii(S, N) -> [_ | Rest] = unicode_util:cp(S), drop_ascii(Rest, N - 1).

scan_integer(B) ->
    case sign_bytes(B) of
        Sign ->
            case digits(B, Sign) of
                Sign -> {error, no_integer};
                End ->
                    try {ok, binary_to_integer(binary:part(B, 0, End)), End}
                    catch error:system_limit -> {error, system_limit}
                    end
            end
    end.

scan_float(B) ->
    Sign = sign_bytes(B),
    case digits(B, Sign) of
        Sign -> {error, no_float};
        Dot ->
            case B of
                <<_:Dot/binary, P, _/binary>> when P =:= $.; P =:= $, ->
                    case digits(B, Dot + 1) of
                        End when End =:= Dot + 1 -> {error, no_float};
                        End ->
                            End1 = exponent(B, End),
                            <<Int:Dot/binary, _, Rest/binary>> = B,
                            Fraction = binary:part(Rest, 0, End1 - Dot - 1),
                            try {ok, binary_to_float(<<Int/binary, $., Fraction/binary>>), End1}
                            catch error:badarg -> {error, no_float} % too large
                            end
                    end;
                _ -> {error, no_float}
            end
    end.

exponent(B, At) ->
    case B of
        <<_:At/binary, E, Rest/binary>> when E =:= $e; E =:= $E ->
            Sign = sign_bytes(Rest),
            case digits(Rest, Sign) of
                Sign -> At;
                End -> At + 1 + End
            end;
        _ -> At
    end.

sign_bytes(<<C, _/binary>>) when C =:= $+; C =:= $- -> 1;
sign_bytes(_) -> 0.

digits(B, At) ->
    case B of
        <<_:At/binary, C, _/binary>> when C >= $0, C =< $9 -> digits(B, At + 1);
        _ -> At
    end.

%% The older functions: flat lists, a character is a code point

len(S) -> erlang:length(S).

concat(A, B) -> A ++ B.

chr(S, C) when is_integer(C) -> chr(S, C, 1).

chr([C | _], C, I) -> I;
chr([_ | T], C, I) -> chr(T, C, I + 1);
chr([], _, _) -> 0.

rchr(S, C) when is_integer(C) -> rchr(S, C, 1, 0).

rchr([C | T], C, I, _) -> rchr(T, C, I + 1, I);
rchr([_ | T], C, I, Last) -> rchr(T, C, I + 1, Last);
rchr([], _, _, Last) -> Last.

str(S, Sub) when is_list(Sub) -> str(S, Sub, 1).

str([C | T] = S, [C | _] = Sub, I) ->
    case lists:prefix(Sub, S) of
        true -> I;
        false -> str(T, Sub, I + 1)
    end;
str([_ | T], Sub, I) -> str(T, Sub, I + 1);
str([], _, _) -> 0.

rstr(S, Sub) when is_list(Sub) -> rstr(S, Sub, 1, 0).

rstr([C | T] = S, [C | _] = Sub, I, Last) ->
    case lists:prefix(Sub, S) of
        true -> rstr(T, Sub, I + 1, I);
        false -> rstr(T, Sub, I + 1, Last)
    end;
rstr([_ | T], Sub, I, Last) -> rstr(T, Sub, I + 1, Last);
rstr([], _, _, Last) -> Last.

span(S, Chars) -> span(S, Chars, 0).

span([C | T], Chars, N) ->
    case lists:member(C, Chars) of
        true -> span(T, Chars, N + 1);
        false -> N
    end;
span([], _, N) -> N.

cspan(S, Chars) -> cspan(S, Chars, 0).

cspan([C | T], Chars, N) ->
    case lists:member(C, Chars) of
        true -> N;
        false -> cspan(T, Chars, N + 1)
    end;
cspan([], _, N) -> N.

substr(S, 1) when is_list(S) -> S;
substr(S, From) when is_integer(From), From > 1 -> substr_from(S, From).

substr_from(S, 1) -> S;
substr_from([_ | T], N) -> substr_from(T, N - 1).

substr(S, From, Len) when is_integer(From), From > 0, is_integer(Len), Len >= 0 ->
    lists:sublist(substr_from(S, From), Len).

tokens(S, Seps) ->
    case lists:dropwhile(fun(C) -> lists:member(C, Seps) end, S) of
        [] -> [];
        S1 ->
            {Token, Rest} = lists:splitwith(fun(C) -> not lists:member(C, Seps) end, S1),
            [Token | tokens(Rest, Seps)]
    end.

chars(C, N) -> chars(C, N, []).

chars(C, N, Tail) when is_integer(C), is_integer(N), N > 0 -> chars(C, N - 1, [C | Tail]);
chars(C, 0, Tail) when is_integer(C) -> Tail.

copies(S, N) when is_list(S), is_integer(N), N >= 0 -> lists:append(lists:duplicate(N, S)).

words(S) -> words(S, $\s).

words(S, C) when is_integer(C) ->
    case strip(S, both, C) of
        [] -> 1;
        S1 -> word_starts(S1, C, 1)
    end.

word_starts([C, D | T], C, N) when D =/= C -> word_starts(T, C, N + 1);
word_starts([_ | T], C, N) -> word_starts(T, C, N);
word_starts([], _, N) -> N.

sub_word(S, N) -> sub_word(S, N, $\s).

sub_word(S, N, C) when is_integer(N), N > 0, is_integer(C) ->
    case strip(S, left, C) of
        S1 when N =:= 1 -> lists:takewhile(fun(X) -> X =/= C end, S1);
        [] -> [];
        S1 -> sub_word(lists:dropwhile(fun(X) -> X =/= C end, S1), N - 1, C)
    end.

strip(S) -> strip(S, both, $\s).

strip(S, Dir) -> strip(S, Dir, $\s).

strip([C | T], left, C) -> strip(T, left, C);
strip(S, left, C) when is_integer(C) -> S;
strip(S, right, C) when is_integer(C) -> strip_right(S, C);
strip(S, both, C) -> strip_right(strip(S, left, C), C).

strip_right([C | T], C) ->
    case strip_right(T, C) of
        [] -> [];
        T1 -> [C | T1]
    end;
strip_right([X | T], C) -> [X | strip_right(T, C)];
strip_right([], C) when is_integer(C) -> [].

sub_string(S, From) -> substr(S, From).

sub_string(S, From, To) -> substr(S, From, To - From + 1).

left(S, Len) when is_integer(Len) -> left(S, Len, $\s).

left(S, Len, C) when is_integer(Len), is_integer(C) ->
    case erlang:length(S) of
        L when L > Len -> substr(S, 1, Len);
        L -> S ++ chars(C, Len - L)
    end.

right(S, Len) when is_integer(Len) -> right(S, Len, $\s).

right(S, Len, C) when is_integer(Len), is_integer(C) ->
    case erlang:length(S) of
        L when L > Len -> substr(S, L - Len + 1);
        L -> chars(C, Len - L, S)
    end.

centre(S, Len) when is_integer(Len) -> centre(S, Len, $\s).

centre(S, 0, C) when is_list(S), is_integer(C) -> [];
centre(S, Len, C) when is_integer(Len), is_integer(C) ->
    case erlang:length(S) of
        L when L > Len -> substr(S, (L - Len) div 2 + 1, Len);
        L ->
            Before = (Len - L) div 2,
            chars(C, Before, S ++ chars(C, Len - L - Before))
    end.

join([], Sep) when is_list(Sep) -> [];
join([H | T], Sep) -> H ++ lists:append([Sep ++ X || X <- T]).

to_lower(S) when is_list(S) -> [lower1(C) || C <- S];
to_lower(C) when is_integer(C) -> lower1(C).

to_upper(S) when is_list(S) -> [upper1(C) || C <- S];
to_upper(C) when is_integer(C) -> upper1(C).

%% ISO 8859-1
lower1(C) when is_integer(C), C >= $A, C =< $Z -> C + 32;
lower1(C) when is_integer(C), C >= 16#C0, C =< 16#DE, C =/= 16#D7 -> C + 32;
lower1(C) -> C.

upper1(C) when is_integer(C), C >= $a, C =< $z -> C - 32;
upper1(C) when is_integer(C), C >= 16#E0, C =< 16#FE, C =/= 16#F7 -> C - 32;
upper1(C) -> C.
