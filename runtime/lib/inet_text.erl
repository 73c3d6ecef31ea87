%% SPDX-License-Identifier: Apache-2.0
%% IP addresses as text, both ways. What is no address is answered by {error, einval}.
-module(inet_text).

-export([address/1, strict_address/1, strict_address/2, ipv4_address/1, ipv6_address/1, ntoa/1]).

%% Words whose addresses may carry a scope in the second word: link-local ones
-define(HAS_SCOPE(Word), (Word =:= 16#fe80 orelse Word =:= 16#ff02)).

address(Text) -> first_of([fun ipv4/1, fun ipv6/1], Text).

strict_address(Text) -> first_of([fun ipv4_strict/1, fun ipv6/1], Text).

strict_address(Text, inet) -> first_of([fun ipv4_strict/1], Text);
strict_address(Text, inet6) -> first_of([fun ipv6/1], Text);
strict_address(_, _) -> {error, einval}.

ipv4_address(Text) -> first_of([fun ipv4/1], Text).

%% An address of version 4 is answered as the one of version 6 that it is mapped to.
ipv6_address(Text) -> first_of([fun(T) -> inet:ipv4_mapped_ipv6_address(ipv4(T)) end, fun ipv6/1], Text).

first_of([], _) -> {error, einval};
first_of([Parse | T], Text) ->
    try {ok, Parse(Text)}
    catch error:_ -> first_of(T, Text)
    end.

%% One to four numbers, of which the last one fills what is left; hexadecimal and octal as in C.
ipv4(Text) ->
    Numbers = [c_number(Part) || Part <- parts(Text, ".")],
    {First, [Last]} = lists:split(length(Numbers) - 1, Numbers),
    Bits = 32 - 8 * length(First),
    true = Bits >= 8 andalso lists:all(fun(N) -> N < 256 end, First) andalso Last < 1 bsl Bits,
    <<A, B, C, D>> = << << <<N>> || N <- First >>/binary, Last:Bits >>,
    {A, B, C, D}.

c_number([$0, X | Digits]) when X =:= $x; X =:= $X -> number(Digits, 16);
c_number([$0 | _] = Digits) -> number(Digits, 8);
c_number(Digits) -> number(Digits, 10).

number([_ | _] = Digits, Base) -> lists:foldl(fun(C, N) -> N * Base + digit(C, Base) end, 0, Digits).

digit(C, Base) ->
    Value = if C >= $0, C =< $9 -> C - $0;
               C >= $a, C =< $f -> C - $a + 10;
               C >= $A, C =< $F -> C - $A + 10
            end,
    true = Value < Base,
    Value.

parts(Text, Separator) -> string:split(Text, Separator, all).

ipv4_strict(Text) ->
    [_, _, _, _] = Numbers = [plain_number(Part) || Part <- parts(Text, ".")],
    list_to_tuple(Numbers).

plain_number("0") -> 0;
plain_number([First | _] = Digits) when First =/= $0, length(Digits) =< 3 ->
    N = number(Digits, 10),
    true = N < 256,
    N.

%% RFC 4291: eight words, of which zeros may be left out once, the last two perhaps as an address of
%% version 4; behind a `%`, the scope.
ipv6(Text) ->
    case string:split(Text, "%") of
        [Address] -> list_to_tuple(all_words(Address));
        [Address, Scope] ->
            [Word, 0 | Others] = all_words(Address),
            true = ?HAS_SCOPE(Word),
            list_to_tuple([Word, scope(Scope) | Others])
    end.

all_words(Text) ->
    case string:split(Text, "::") of
        [All] ->
            Words = words(All),
            8 = length(Words),
            Words;
        [Before, After] ->
            First = if Before =:= "" -> []; true -> [hex_word(Part) || Part <- parts(Before, ":")] end,
            Last = if After =:= "" -> []; true -> words(After) end,
            Zeros = 8 - length(First) - length(Last),
            true = Zeros > 0,
            First ++ lists:duplicate(Zeros, 0) ++ Last
    end.

words(Text) ->
    {First, [Last]} = lists:split(length(parts(Text, ":")) - 1, parts(Text, ":")),
    [hex_word(Part) || Part <- First] ++
        case lists:member($., Last) of
            true ->
                {A, B, C, D} = ipv4_strict(Last),
                [A bsl 8 + B, C bsl 8 + D];
            false -> [hex_word(Last)]
        end.

hex_word(Digits) when length(Digits) =< 4 -> number(Digits, 16).

%% A number is written with a zero before it. Names of interfaces are not looked up.
scope([$0, C | Digits]) ->
    N = number([C | Digits], 10),
    true = N < 1 bsl 16,
    N;
scope(_) -> 0.

ntoa({_, _, _, _} = Ip) ->
    case inet:is_ipv4_address(Ip) of
        true -> dotted(Ip);
        false -> {error, einval}
    end;
ntoa(Ip) ->
    case inet:is_ipv6_address(Ip) of
        true -> ipv6_text(Ip);
        false -> {error, einval}
    end.

dotted(Ip) -> lists:append(lists:join(".", [integer_to_list(N) || N <- tuple_to_list(Ip)])).

ipv6_text({0, 0, 0, 0, 0, 0, 0, N}) when N =< 1 -> "::" ++ [$1 || N =:= 1];
ipv6_text({0, 0, 0, 0, 0, 0, A, B}) -> "::" ++ dotted_words(A, B);
ipv6_text({0, 0, 0, 0, 0, 16#ffff, A, B}) -> "::ffff:" ++ dotted_words(A, B);
ipv6_text({Word, Scope, _, _, _, _, _, _} = Ip) when Scope =/= 0, ?HAS_SCOPE(Word) ->
    ipv6_text(setelement(2, Ip, 0)) ++ "%0" ++ integer_to_list(Scope);
ipv6_text(Ip) ->
    Words = tuple_to_list(Ip),
    case longest_zeros(Words, 1, {1, 0}) of
        {_, Count} when Count < 2 -> hex_text(Words);
        {At, Count} ->
            {Before, Rest} = lists:split(At - 1, Words),
            hex_text(Before) ++ "::" ++ hex_text(lists:nthtail(Count, Rest))
    end.

dotted_words(A, B) -> dotted({A bsr 8, A band 255, B bsr 8, B band 255}).

hex_text(Words) -> lists:append(lists:join(":", [string:lowercase(integer_to_list(W, 16)) || W <- Words])).

%% Where the first one of the longest runs of zeros begins, and how long it is.
longest_zeros([], _, Best) -> Best;
longest_zeros([0 | _] = Words, At, {_, Most} = Best) ->
    {Zeros, Rest} = lists:splitwith(fun(W) -> W =:= 0 end, Words),
    Count = length(Zeros),
    longest_zeros(Rest, At + Count, if Count > Most -> {At, Count}; true -> Best end);
longest_zeros([_ | T], At, Best) -> longest_zeros(T, At + 1, Best).
