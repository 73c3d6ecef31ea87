%% SPDX-License-Identifier: Apache-2.0
%% Tokens of Erlang text. A token is {Category, Location, Value} or
%% {Symbol, Location}; a location is a line, or {Line, Column} if the scan was
%% started with one; where the option text or text_fun asks for what was read,
%% [{text, Text}, {location, Location}] stands there instead. With the options
%% return, return_comments and return_white_spaces comments and white space
%% become tokens too.
-module(erl_scan).

-export([string/1, string/2, string/3, tokens/3, tokens/4, continuation_location/1, format_error/1,
         reserved_word/1, f_reserved_word/1, category/1, symbol/1, location/1, line/1, column/1,
         end_location/1, text/1]).

-record(st, {loc, tokens = [], comments = false, white = false,
             reserved,         % which atoms are reserved words
             keeps = none}).   % or a function: the tokens whose text is kept

string(Text) -> string(Text, 1, []).

string(Text, Location) -> string(Text, Location, []).

string(Text, Location, Options)
  when is_list(Text), is_integer(Location);
       is_list(Text), is_integer(element(1, Location)), is_integer(element(2, Location)) ->
    try scanned(Text, Location, Options) of
        {eof, Tokens, End} -> {ok, Tokens, End};
        {dot, Rest, Before, Reached} ->
            case string(Rest, Reached, Options) of
                {ok, Tokens, End} -> {ok, Before ++ Tokens, End};
                Error -> Error
            end
    catch throw:{scan, At, What, End, _} -> {error, {At, ?MODULE, What}, End}
    end.

%% Up to the first full stop, {dot, Rest, Tokens, End}, or all of it, {eof, Tokens, End}.
scanned(Text, Location, Options) ->
    S = state(Location, Options),
    case S#st.keeps of
        none -> result(scan(Text, S), fun(Tokens, _) -> Tokens end, Location);
        _ -> scanned_with_texts(Text, S)
    end.

result({eof, S}, Finish, Location) ->
    {eof, Finish(lists:reverse(S#st.tokens), S#st.loc), like(S#st.loc, Location)};
result({dot, Rest, S}, Finish, Location) ->
    {dot, Rest, Finish(lists:reverse(S#st.tokens), S#st.loc), like(S#st.loc, Location)}.

%% With columns, white space and comments the tokens lie side by side: the text of each goes to
%% where the next begins.
scanned_with_texts(Text, #st{loc = Location} = S) ->
    Start = if is_tuple(Location) -> Location; true -> {Location, 1} end,
    try
        result(scan(Text, S#st{loc = Start, comments = true, white = true}),
               fun(Tokens, End) -> with_texts(Tokens, Text, End, S) end, Location)
    catch
        throw:{scan, At, What, End, Left} ->
            throw({scan, like(At, Location), What, like(End, Location), Left})
    end.

%% A place without its column where who asked has not given one.
like({Line, _}, Location) when not is_tuple(Location) -> Line;
like(Place, _) -> Place.

with_texts([], _, _, _) -> [];
with_texts([Token | Tokens], Text, End, S) ->
    At = element(2, Token),
    Next = case Tokens of [] -> End; [T | _] -> element(2, T) end,
    {Own, Rest} = between(At, Next, Text, []),
    More = with_texts(Tokens, Rest, End, S),
    case element(1, Token) of
        comment when not S#st.comments -> More;
        white_space when not S#st.white -> More;
        Category ->
            [setelement(2, Token, annotation(like(At, S#st.loc), Own, (S#st.keeps)(Category, Own))) | More]
    end.

between(Place, Place, Text, Acc) -> {lists:reverse(Acc), Text};
between(Place, End, [C | Text], Acc) -> between(after_char(C, Place), End, Text, [C | Acc]).

annotation(Location, Text, true) -> [{text, Text}, {location, Location}];
annotation(Location, _, false) -> Location.

state(Location, Options0) ->
    Options = if is_list(Options0) -> Options0; true -> [Options0] end,
    Return = lists:member(return, Options),
    Reserved = case lists:keyfind(reserved_word_fun, 1, Options) of
                   false -> fun is_keyword/1;
                   {_, F} when is_function(F, 1) -> F;
                   _ -> error(badarg, [Options0])
               end,
    Keeps = case lists:member(text, Options) of
                true -> fun(_, _) -> true end;
                false -> proplists:get_value(text_fun, Options, none)
            end,
    #st{loc = Location, comments = Return orelse lists:member(return_comments, Options),
        white = Return orelse lists:member(return_white_spaces, Options), reserved = Reserved, keeps = Keeps}.

%% For the I/O protocol: tokens up to a full stop. The continuation holds the text so far, piece by
%% piece, last first. It is scanned again when what has come may be the end.
tokens(Cont, Chars, Location) -> tokens(Cont, Chars, Location, []).

tokens([], Chars, Location, Options) -> tokens({more_text, [], Location}, Chars, Location, Options);
tokens({more_text, Pieces, Location}, eof, _, Options) ->
    try scanned(lists:append(lists:reverse(Pieces)), Location, Options) of
        {eof, [], End} -> {done, {eof, End}, eof};
        {eof, Tokens, End} -> {done, {ok, Tokens, End}, eof};
        {dot, Rest, Tokens, End} -> {done, {ok, Tokens, End}, Rest}
    catch throw:{scan, At, What, End, _} -> {done, {error, {At, ?MODULE, What}, End}, eof}
    end;
tokens({more_text, Pieces, Location}, [], _, _) -> {more, {more_text, Pieces, Location}};
tokens({more_text, Pieces0, Location}, Chars, _, Options) ->
    Pieces = [Chars | Pieces0],
    case may_end(Chars, Pieces0) of
        true -> whole_tokens(lists:append(lists:reverse(Pieces)), Pieces, Location, Options);
        false -> {more, {more_text, Pieces, Location}}
    end.

whole_tokens(Text, Pieces, Location, Options) ->
    try scanned(Text, Location, Options) of
        {dot, _, [], _} -> {more, {more_text, Pieces, Location}};
        {dot, Rest, Tokens, End} ->
            case ends_in_white(Text, Rest) of
                true -> {done, {ok, Tokens, End}, Rest};
                false -> {more, {more_text, Pieces, Location}}
            end;
        {eof, _, _} -> {more, {more_text, Pieces, Location}}
    catch
        throw:{scan, _, Unterminated, _, _} when element(1, Unterminated) =:= unterminated ->
            {more, {more_text, Pieces, Location}};
        throw:{scan, At, {illegal, What}, End, []} when What =:= integer; What =:= float; What =:= string ->
            case lists:last(Text) > $\s of
                true -> {more, {more_text, Pieces, Location}};  % it may go on
                false -> {done, {error, {At, ?MODULE, {illegal, What}}, End}, []}
            end;
        throw:{scan, At, What, End, Left} -> {done, {error, {At, ?MODULE, What}, End}, Left}
    end.

%% The first piece is always looked at, so that what is wrong with a line typed in is told at once.
may_end(_, []) -> true;
may_end(Chars, [Last | _]) -> lists:last(Last) =:= $. orelse has_stop(Chars).

has_stop([$.]) -> true;
has_stop([$., C | _]) when C =< $\s; C =:= $%; C >= 16#7F, C =< 16#A0 -> true;
has_stop([_ | T]) -> has_stop(T);
has_stop([]) -> false.

%% Where the text goes on
continuation_location([]) -> 1;
continuation_location({more_text, Pieces, Location}) -> lists:foldr(fun moved/2, Location, Pieces).

moved(Piece, {Line, Column}) ->
    case lists:splitwith(fun(C) -> C =/= $\n end, Piece) of
        {Same, []} -> {Line, Column + length(Same)};
        {_, [$\n | More]} -> moved(More, {Line + 1, 1})
    end;
moved(Piece, Line) -> Line + length([C || C <- Piece, C =:= $\n]).

%% A dot at the very end of the text may be the beginning of something else.
ends_in_white(Text, []) -> lists:last(Text) =/= $.;
ends_in_white(_, _) -> true.

%% Scanning

scan([C | T], S) when C >= $a, C =< $z -> atom(T, [C], S);
scan([C | T], S) when C >= $A, C =< $Z; C =:= $_ -> variable(T, [C], S);
scan([C | T], S) when C >= $0, C =< $9 -> number([C | T], S);
scan([$\n | _] = Text, S) -> white(Text, S);
scan([C | _] = Text, S) when C =< $\s; C >= 16#7F, C =< 16#A0 -> white(Text, S);
scan([$% | _] = Text, S) ->
    {Comment, Rest} = lists:splitwith(fun(C) -> C =/= $\n end, Text),
    S1 = if S#st.comments -> push({comment, S#st.loc, Comment}, S); true -> S end,
    scan(Rest, advance(length(Comment), S1));
scan([$", $", $" | _] = Text, S) ->
    {String, Rest, Loc} = triple_quoted(Text, true, S#st.loc),
    string_token(S#st.loc, String, Rest, Loc, S);
scan([$~ | T], S) -> sigil(T, S);
scan([$" | T], S) ->
    {String, Rest, Loc} = quoted(T, $", string, forward(S#st.loc, 1), forward(S#st.loc, 1), []),
    string_token(S#st.loc, String, Rest, Loc, S);
scan([$' | T], S) ->
    {Chars, Rest, Loc} = quoted(T, $', atom, forward(S#st.loc, 1), forward(S#st.loc, 1), []),
    case length(Chars) < 256 of
        true -> scan(Rest, (push({atom, S#st.loc, list_to_atom(Chars)}, S))#st{loc = Loc});
        false -> fail(S#st.loc, {illegal, atom}, Loc)
    end;
scan([$$ | T], S) -> character(T, S);
scan([$., C | T], S) when C =:= $\n; C =< $\s; C >= 16#7F, C =< 16#A0 ->
    S1 = advance(1, push({dot, S#st.loc}, S)),
    {dot, T, S1#st{loc = after_char(C, S1#st.loc)}};
scan([$., $% | _] = [_ | T], S) -> {dot, T, advance(1, push({dot, S#st.loc}, S))};
scan([$.], S) -> {dot, [], advance(1, push({dot, S#st.loc}, S))};
scan([C | T], S) when C >= $ß, C =< $ÿ, C =/= $÷ -> atom(T, [C], S);
scan([C | T], S) when C >= $À, C =< $Þ, C =/= $× -> variable(T, [C], S);
scan([], S) -> {eof, S};
scan(Text, S) -> symbol_token(Text, symbols(), S).

push(Token, #st{tokens = Tokens} = S) -> S#st{tokens = [Token | Tokens]}.

advance(N, #st{loc = Loc} = S) -> S#st{loc = forward(Loc, N)}.

forward({Line, Col}, N) -> {Line, Col + N};
forward(Line, _) -> Line.

after_char($\n, {Line, _}) -> {Line + 1, 1};
after_char($\n, Line) -> Line + 1;
after_char(_, Loc) -> forward(Loc, 1).

string_token(At, Chars, Rest, Loc, S) ->
    separate(Rest, Loc),
    scan(Rest, (push({string, At, Chars}, S))#st{loc = Loc}).

%% Strings do not touch.
separate([$" | _] = Rest, Loc) -> fail(Loc, string_concat, Loc, Rest);
separate(_, _) -> ok.

fail(At, What, End) -> fail(At, What, End, []).

%% Left: where somebody who reads on would begin.
fail(At, What, End, Left) -> throw({scan, At, What, End, Left}).

white(Text, #st{white = false} = S) ->
    {Space, Rest} = lists:splitwith(fun is_white/1, Text),
    scan(Rest, S#st{loc = lists:foldl(fun after_char/2, S#st.loc, Space)});
white(Text, S) ->
    {Space, Rest} = white_run(Text),
    S1 = push({white_space, S#st.loc, Space}, S),
    scan(Rest, S1#st{loc = lists:foldl(fun after_char/2, S1#st.loc, Space)}).

is_white(C) -> C =< $\s orelse (C >= 16#7F andalso C =< 16#A0).

%% What is one token of white space. A new line can only be its first character; spaces and tabs
%% that begin it, or follow the new line, are by themselves, and not more of them than 16 or 10.
white_run([$\n, C | T]) when C =:= $\r; C =:= $\f -> {[$\n, C], T};
white_run([$\n | T]) ->
    {Space, Rest} = white_run_in_line(T),
    {[$\n | Space], Rest};
white_run(Text) -> white_run_in_line(Text).

white_run_in_line([$\s | _] = Text) -> run_of($\s, 16, Text, []);
white_run_in_line([$\t | _] = Text) -> run_of($\t, 10, Text, []);
white_run_in_line(Text) -> lists:splitwith(fun(C) -> C =/= $\n andalso is_white(C) end, Text).

run_of(C, N, [C | T], Acc) when N > 0 -> run_of(C, N - 1, T, [C | Acc]);
run_of(_, _, T, Acc) -> {Acc, T}.

name_rest([C | T], Acc) ->
    case is_name(C) of
        true -> name_rest(T, [C | Acc]);
        false -> {lists:reverse(Acc), [C | T]}
    end;
name_rest([], Acc) -> {lists:reverse(Acc), []}.

is_name(C) ->
    (C >= $a andalso C =< $z) orelse (C >= $A andalso C =< $Z) orelse (C >= $0 andalso C =< $9)
        orelse C =:= $_ orelse C =:= $@ orelse (C >= $À andalso C =< $ÿ andalso C =/= $× andalso C =/= $÷).

atom(T, Acc, S) ->
    {Name, Rest} = name_rest(T, Acc),
    Atom = list_to_atom(Name),
    Token = case (S#st.reserved)(Atom) of
                true -> {Atom, S#st.loc};
                false -> {atom, S#st.loc, Atom}
            end,
    scan(Rest, advance(length(Name), push(Token, S))).

variable(T, Acc, S) ->
    {Name, Rest} = name_rest(T, Acc),
    scan(Rest, advance(length(Name), push({var, S#st.loc, list_to_atom(Name)}, S))).

reserved_word(Atom) -> erl_scan_words:reserved(Atom).

%% Texts that were written before OTP 27 have these two as atoms.
is_keyword(Atom) -> Atom =/= 'maybe' andalso Atom =/= 'else' andalso reserved_word(Atom).

%% Without the words of features.
f_reserved_word(Atom) -> is_keyword(Atom).

symbols() ->
    ["<<", ">>", "<-", "<=", "<:-", "<:=", "->", "=>", "=:=", "=/=", "=<", "==", "=", ">=", ">", "<", ":=",
     "::", ":", "/=", "/", "++", "+", "--", "-", "||", "|", "...", "..", ".", "?=", "?", "(", ")", "[", "]",
     "{", "}", ",", ";", "#", "*", "!", "^", "&&", "&"].

symbol_token(Text, [Symbol | Symbols], S) ->
    case lists:prefix(Symbol, Text) of
        true ->
            N = length(Symbol),
            scan(lists:nthtail(N, Text), advance(N, push({list_to_atom(Symbol), S#st.loc}, S)));
        false -> symbol_token(Text, Symbols, S)
    end;
symbol_token([C | T], [], S) when C < 256 -> scan(T, advance(1, push({list_to_atom([C]), S#st.loc}, S)));
symbol_token(_, [], S) -> fail(S#st.loc, {illegal, character}, forward(S#st.loc, 1)).

%% Numbers: 12, 1_000, 16#FF, 1.5e3, 16#F.8#e-2

number(Text, S) ->
    {Digits, Rest} = digits(Text, 10, []),
    case Rest of
        [$# | T] ->
            Base = list_to_integer(Digits),
            Base >= 2 andalso Base =< 36 orelse fail(S#st.loc, {base, Base}, behind(Text, Rest, S)),
            case digits(T, Base, []) of
                {[], _} -> fail(S#st.loc, {illegal, integer}, behind(Text, T, S));
                {Based, [$., C | _] = Rest1} ->
                    case digit(C) of
                        99 -> integer_token(list_to_integer(Based, Base), Text, Rest1, S);
                        _ -> based_float(Based, Base, tl(Rest1), Text, S)
                    end;
                {Based, Rest1} -> integer_token(list_to_integer(Based, Base), Text, Rest1, S)
            end;
        [$., D | _] = [_ | T] when D >= $0, D =< $9 ->
            {Fraction, Rest1} = digits(T, 10, []),
            {Exponent, Rest2} = exponent(Rest1),
            try list_to_float(Digits ++ [$. | Fraction] ++ Exponent) of
                Float -> number_token(float, Float, Text, Rest2, S)
            catch error:badarg -> fail(S#st.loc, {illegal, float}, behind(Text, Rest2, S))
            end;
        _ -> integer_token(list_to_integer(Digits), Text, Rest, S)
    end.

based_float(Digits, Base, Text1, Text, S) ->
    {Fraction, Rest} = digits(Text1, Base, []),
    Illegal = fun(To) -> fail(S#st.loc, {illegal, float}, behind(Text, To, S)) end,
    Fraction =/= [] orelse Illegal(Rest),
    {Exponent, Rest1} = based_exponent(Rest, Illegal),
    try scaled(list_to_integer(Digits ++ Fraction, Base), Base, Exponent - length(Fraction)) of
        Float -> number_token(float, Float, Text, Rest1, S)
    catch error:_ -> Illegal(Rest1)
    end.

based_exponent([$#, E | T], Illegal) when E =:= $e; E =:= $E ->
    {Sign, T1} = case T of
                     [C | More] when C =:= $+; C =:= $- -> {[C], More};
                     _ -> {"", T}
                 end,
    case digits(T1, 10, []) of
        {[], Rest} -> Illegal(Rest);
        {Digits, Rest} -> {list_to_integer(Sign ++ Digits), Rest}
    end;
based_exponent(Text, _) -> {0, Text}.

%% Number * Base ^ Power, the nearest float.
scaled(0, _, _) -> 0.0;
scaled(Number, Base, Power) when Power >= 0, Power =< 1100 -> float(Number * power(Base, Power));
scaled(Number, Base, Power) when Power < 0 ->
    case -Power > 1100 + length(integer_to_list(Number, Base)) of
        true -> 0.0;
        false -> divided(Number, power(Base, -Power))
    end.

%% The quotient has 66 bits or more, and its last is set where there is a remainder.
divided(Number, Divisor) ->
    Shift = max(0, 66 + bits(Divisor) - bits(Number)),
    Shifted = Number bsl Shift,
    Sticky = if Shifted rem Divisor =:= 0 -> 0; true -> 1 end,
    halved(float(Shifted div Divisor bor Sticky), Shift).

halved(Float, Times) when Times > 1000 -> halved(Float / (1 bsl 1000), Times - 1000);
halved(Float, Times) -> Float / (1 bsl Times).

bits(Number) -> length(integer_to_list(Number, 2)).

power(_, 0) -> 1;
power(Base, N) when N rem 2 =:= 0 -> power(Base * Base, N div 2);
power(Base, N) -> Base * power(Base, N - 1).

integer_token(Value, Text, [$., C | _] = Rest, S) ->
    case begins_word(C) of
        true -> fail(S#st.loc, {illegal, float}, behind(Text, Rest, S), Rest);
        false -> number_token(integer, Value, Text, Rest, S)
    end;
integer_token(Value, Text, Rest, S) -> number_token(integer, Value, Text, Rest, S).

%% No word touches a number.
number_token(Category, Value, Text, Rest, S) ->
    End = behind(Text, Rest, S),
    Rest =/= [] andalso begins_word(hd(Rest)) andalso fail(S#st.loc, {illegal, Category}, End, Rest),
    scan(Rest, (push({Category, S#st.loc, Value}, S))#st{loc = End}).

begins_word(C) -> digit(C) < 36 orelse C =:= $_ orelse C =:= $@.

%% The location of Rest, which Text ends in. Counting the whole text would cost its length for every number.
behind(Text, Rest, S) -> forward(S#st.loc, reach(Text, 0) - reach(Rest, 0)).

%% How far characters of numbers go on.
reach([C | T], N) when C >= $0, C =< $9; C >= $a, C =< $z; C >= $A, C =< $Z; C =:= $_; C =:= $#; C =:= $.;
    C =:= $+; C =:= $- ->
    reach(T, N + 1);
reach(_, N) -> N.

digits([$_, C | T] = Text, Base, [_ | _] = Acc) ->
    case digit(C) < Base of
        true -> digits([C | T], Base, Acc);
        false -> {lists:reverse(Acc), Text}
    end;
digits([C | T] = Text, Base, Acc) ->
    case digit(C) < Base of
        true -> digits(T, Base, [C | Acc]);
        false -> {lists:reverse(Acc), Text}
    end;
digits([], _, Acc) -> {lists:reverse(Acc), []}.

digit(C) when C >= $0, C =< $9 -> C - $0;
digit(C) when C >= $a, C =< $z -> C - $a + 10;
digit(C) when C >= $A, C =< $Z -> C - $A + 10;
digit(_) -> 99.

exponent([E, C | T]) when (E =:= $e orelse E =:= $E), (C =:= $+ orelse C =:= $-) ->
    {Digits, Rest} = digits(T, 10, []),
    {[$e, C | Digits], Rest};
exponent([E | T]) when E =:= $e; E =:= $E ->
    {Digits, Rest} = digits(T, 10, []),
    {[$e | Digits], Rest};
exponent(T) -> {"", T}.

%% Characters and quoted text

character([$\\ | T], S) ->
    {C, Rest, Loc} = escape(T, char, S#st.loc, S#st.loc, forward(S#st.loc, 2)),
    scan(Rest, (push({char, S#st.loc, C}, S))#st{loc = Loc});
character([C | T], S) ->
    Loc = after_char(C, forward(S#st.loc, 1)),
    scan(T, (push({char, S#st.loc, C}, S))#st{loc = Loc});
character([], S) -> fail(S#st.loc, {unterminated, char}, forward(S#st.loc, 1)).

quoted([Quote | T], Quote, _, _, Loc, Acc) -> {lists:reverse(Acc), T, forward(Loc, 1)};
quoted([$\\ | T], Quote, What, Start, Loc, Acc) ->
    {C, Rest, Loc1} = escape(T, {Quote, Acc}, Start, Loc, forward(Loc, 1)),
    quoted(Rest, Quote, What, Start, Loc1, [C | Acc]);
quoted([C | T], Quote, What, Start, Loc, Acc) -> quoted(T, Quote, What, Start, after_char(C, Loc), [C | Acc]);
quoted([], Quote, _, Start, Loc, Acc) -> fail(Start, unterminated({Quote, Acc}), Loc).

%% Sigils: a prefix, text within a pair of delimiters, a suffix.
sigil(T, S) ->
    {Prefix, Rest} = name_rest(T, []),
    At = forward(S#st.loc, 1 + length(Prefix)),
    {Chars, Rest1, Loc} =
        case Rest of
            [$", $", $" | _] -> triple_quoted(Rest, Prefix =:= [] orelse hd(Prefix) < $a, At);
            [Open | Rest0] -> sigil_text(Prefix, Open, Rest0, At);
            [] -> fail(At, {illegal, string}, At)
        end,
    {Suffix, Rest2} = name_rest(Rest1, []),
    Suffix =:= [] andalso separate(Rest1, Loc),
    S1 = push({string, At, Chars}, push({sigil_prefix, S#st.loc, list_to_atom(Prefix)}, S)),
    scan(Rest2, (push({sigil_suffix, Loc, Suffix}, S1))#st{loc = forward(Loc, length(Suffix))}).

sigil_text(Prefix, Open, Text, At) ->
    Close = closing(Open),
    Close =/= none orelse fail(At, {illegal, string}, At),
    {Verbatim, Ends} = {Prefix =/= [] andalso hd(Prefix) < $a, quoted_kind(Close)},
    try text_to(Close, Verbatim, Text, At, forward(At, 1), [])
    catch throw:{scan, _, {unterminated, Kind, _}, End, _} when Kind =:= Ends ->
        Start = lists:sublist(Text, 16),
        fail(forward(At, 1), {unterminated, {sigil, list_to_atom(Prefix), Open, Close}, Start}, End)
    end.

text_to(Close, false, Text, Start, Loc, Acc) -> quoted(Text, Close, sigil, Start, Loc, Acc);
text_to(Close, true, [Close | T], _, Loc, Acc) -> {lists:reverse(Acc), T, forward(Loc, 1)};
text_to(Close, true, [C | T], Start, Loc, Acc) ->
    text_to(Close, true, T, Start, after_char(C, Loc), [C | Acc]);
text_to(Close, true, [], Start, Loc, Acc) -> fail(Start, unterminated({Close, Acc}), Loc).

closing($() -> $);
closing($[) -> $];
closing(${) -> $};
closing($<) -> $>;
closing(C) when C =:= $/; C =:= $|; C =:= $'; C =:= $"; C =:= $`; C =:= $# -> C;
closing(_) -> none.

%% Lines between lines with three quotes or more. The white space in front of the closing quotes is
%% that in front of each line, and does not belong to the string.
triple_quoted(Text, Verbatim, Loc) ->
    {Quotes, T} = lists:splitwith(fun(C) -> C =:= $" end, Text),
    Start = forward(Loc, length(Quotes)),
    {First, More} = text_line(T),
    Unterminated = {unterminated, {string, length(Quotes)}, T},
    {Lines, Indent, Rest} = lines(More, Quotes, Start, Unterminated, moved(T, Start), []),
    Begin = moved([$\n], Start),
    Last = lists:foldl(fun(_, At) -> after_char($\n, At) end, Begin, Lines),
    End = forward(Last, length(Indent) + length(Quotes)),
    {White, Other} = lists:splitwith(fun is_white/1, First),
    Other =:= [] orelse fail(forward(Start, length(White)), white_space, End),
    Body = lists:append(lists:join("\n", without_indent(Lines, Indent, Begin, End))),
    case Verbatim of
        true -> {Body, Rest, End};
        false -> {escaped_text(Body, Start, forward(Begin, length(Indent)), []), Rest, End}
    end.

text_line(Text) -> lists:splitwith(fun(C) -> C =/= $\n end, Text).

lines([$\n | Text], Quotes, Start, Unterminated, End, Acc) ->
    {White, T} = lists:splitwith(fun(C) -> C =/= $\n andalso is_white(C) end, Text),
    case lists:prefix(Quotes, T) of
        true -> {lists:reverse(Acc), White, lists:nthtail(length(Quotes), T)};
        false ->
            {Line, More} = text_line(Text),
            lines(More, Quotes, Start, Unterminated, End, [Line | Acc])
    end;
lines([], _, Start, Unterminated, End, _) -> fail(Start, Unterminated, End).

without_indent([Line | Lines], Indent, At, End) ->
    [case lists:prefix(Indent, Line) of
         true -> last_line(lists:nthtail(length(Indent), Line), Lines);
         false when Line =:= []; Line =:= "\r" -> last_line(Line, Lines);
         false -> fail(forward(At, common(Line, Indent)), indentation, End)
     end | without_indent(Lines, Indent, after_char($\n, At), End)];
without_indent([], _, _, _) -> [].

last_line(Line, [_ | _]) -> Line;
last_line(Line, []) -> lists:reverse(without_return(lists:reverse(Line))).

without_return([$\r | T]) -> T;
without_return(T) -> T.

common([C | A], [C | B]) -> 1 + common(A, B);
common(_, _) -> 0.

escaped_text([$\\ | T], Start, Loc, Acc) ->
    {C, Rest, Loc1} = escape(T, {$", Acc}, Start, Loc, forward(Loc, 1)),
    escaped_text(Rest, Start, Loc1, [C | Acc]);
escaped_text([C | T], Start, Loc, Acc) -> escaped_text(T, Start, after_char(C, Loc), [C | Acc]);
escaped_text([], _, _, Acc) -> lists:reverse(Acc).

%% In: char, or {Quote, what was read before}, in case that the text ends here. At is where a wrong escape is
%% told to be.
escape([C1, C2, C3 | T], _, _, _, Loc) when C1 >= $0, C1 =< $7, C2 >= $0, C2 =< $7, C3 >= $0, C3 =< $7 ->
    {(C1 * 8 + C2) * 8 + C3 - 73 * $0, T, forward(Loc, 3)};
escape([C1, C2 | T], _, _, _, Loc) when C1 >= $0, C1 =< $7, C2 >= $0, C2 =< $7 ->
    {C1 * 8 + C2 - 9 * $0, T, forward(Loc, 2)};
escape([C | T], _, _, _, Loc) when C >= $0, C =< $7 -> {C - $0, T, forward(Loc, 1)};
escape([$x, ${ | T], In, Start, At, Loc) ->
    case digits(T, 16, []) of
        {[_ | _] = Hex, [$} | Rest]} ->
            End = forward(Loc, length(Hex) + 3),
            case list_to_integer(Hex, 16) of
                C when C =< 16#10FFFF, (C < 16#D800 orelse C > 16#DFFF) -> {C, Rest, End};
                _ -> fail(At, {illegal, character}, End)
            end;
        {Hex, []} -> fail(Start, unterminated(In), forward(Loc, length(Hex) + 2));
        {Hex, _} -> fail(At, {illegal, character}, forward(Loc, length(Hex) + 2))
    end;
escape([$x, A, B | T], _, _, At, Loc) ->
    case digit(A) < 16 andalso digit(B) < 16 of
        true -> {digit(A) * 16 + digit(B), T, forward(Loc, 3)};
        false -> fail(At, {illegal, character}, forward(Loc, 1))
    end;
escape([$x | _], _, _, At, Loc) -> fail(At, {illegal, character}, forward(Loc, 1));
escape([$^, $? | T], _, _, _, Loc) -> {127, T, forward(Loc, 2)};
escape([$^, C | T], _, _, _, Loc) when C >= $@, C =< $_; C >= $a, C =< $z -> {C band 31, T, forward(Loc, 2)};
escape([$^, _ | _], _, _, At, Loc) -> fail(At, {illegal, character}, forward(Loc, 1));
escape([$^], In, Start, _, Loc) -> fail(Start, unterminated(In), forward(Loc, 1));
escape([C | T], _, _, _, Loc) -> {escaped(C), T, after_char(C, Loc)};
escape([], In, Start, _, Loc) -> fail(Start, unterminated(In), Loc).

unterminated(char) -> {unterminated, char};
unterminated({Quote, Acc}) -> {unterminated, quoted_kind(Quote), lists:sublist(lists:reverse(Acc), 16)}.

%% What ends with this character: the kinds of text that errors name, or the delimiter of a sigil.
quoted_kind($") -> string;
quoted_kind($') -> atom;
quoted_kind(Close) -> Close.

escaped($n) -> $\n;
escaped($r) -> $\r;
escaped($t) -> $\t;
escaped($v) -> $\v;
escaped($b) -> $\b;
escaped($f) -> $\f;
escaped($e) -> $\e;
escaped($s) -> $\s;
escaped($d) -> $\d;
escaped(C) -> C.

%% About tokens and errors

category(Token) -> element(1, Token).

symbol({_, _, Value}) -> Value;
symbol({Symbol, _}) -> Symbol.

location(Token) ->
    case element(2, Token) of
        Annotation when is_list(Annotation) -> element(2, lists:keyfind(location, 1, Annotation));
        Location -> Location
    end.

line(Token) ->
    case location(Token) of
        {Line, _} -> Line;
        Line -> Line
    end.

column(Token) ->
    case location(Token) of
        {_, Column} -> Column;
        _ -> undefined
    end.

text(Token) ->
    case element(2, Token) of
        Annotation when is_list(Annotation) -> proplists:get_value(text, Annotation);
        _ -> undefined
    end.

%% Behind the token: known where its text is.
end_location(Token) ->
    case text(Token) of
        undefined -> undefined;
        Text -> lists:foldl(fun after_char/2, location(Token), Text)
    end.

format_error({unterminated, char}) -> "unterminated character";
format_error({unterminated, string, Text}) -> unterminated_text("string", $", Text);
format_error({unterminated, atom, Text}) -> unterminated_text("atom", $', Text);
format_error({unterminated, {sigil, Prefix, Open, Close}, Text}) ->
    lists:flatten(io_lib:format("unterminated ~~~ts~ts~ts sigil string starting with ~ts",
                                [Prefix, [Open], [Close], io_lib:write_string(Text)]));
format_error({unterminated, {string, _}, Text}) -> unterminated_text("triple-quoted string", $", Text);
format_error(string_concat) -> "adjacent string literals without intervening white space";
format_error(white_space) -> "not white space after start of triple-quoted string";
format_error(indentation) -> "bad indentation in triple-quoted string";
format_error({illegal, What}) -> lists:flatten(io_lib:format("illegal ~w", [What]));
format_error({base, Base}) -> lists:flatten(io_lib:format("illegal base '~w'", [Base]));
format_error(Other) -> io_lib:write(Other).

unterminated_text(What, Quote, Text) ->
    lists:flatten(io_lib:format("unterminated ~s starting with ~ts",
                                [What, io_lib:write_string(Text, Quote)])).
