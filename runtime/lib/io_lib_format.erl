%% SPDX-License-Identifier: Apache-2.0
%% Format strings. A format is first cut into characters and controls, each
%% control already holding its arguments; then the text is built. The current
%% column is computed only while a control that needs it is still to come.
-module(io_lib_format).

-export([fwrite/2, fwrite/3, scan/2, unscan/1, build/1, build/2, fwrite_g/1, indentation/2]).

-record(ctl, {char, args, width = none, adjust = right, precision = none, pad = $\s,
              encoding = latin1, strings = true, order = undefined}).

fwrite(Format, Args) -> render(cut(format_chars(Format), Args)).

fwrite(Format, Args, Options) -> build_limited(cut(format_chars(Format), Args), Options).

scan(Format, Args) -> [to_map(X) || X <- cut(format_chars(Format), Args)].

build(Items) -> render([from_map(X) || X <- Items]).

build(Items, Options) -> build_limited([from_map(X) || X <- Items], Options).

fwrite_g(Float) -> float_to_list(Float, [short]).

indentation(Text, Column) -> io_lib:indentation(Text, Column).

format_chars(F) when is_list(F) -> F;
format_chars(F) when is_atom(F) -> atom_to_list(F);
format_chars(F) when is_binary(F) -> unicode:characters_to_list(F).

%% Cutting

cut([$~ | F], Args) -> control(F, Args);
cut([C | F], Args) -> [C | cut(F, Args)];
cut([], []) -> [];
cut(_, _) -> error(badarg).

%% ~ width . precision . pad modifiers control
control([$- | F], Args) ->
    {Width, F1, Args1} = number(F, Args),
    precision(F1, Args1, #ctl{width = Width, adjust = left});
control(F, Args) ->
    case number(F, Args) of
        {Width, F1, Args1} when is_integer(Width), Width < 0 ->
            precision(F1, Args1, #ctl{width = -Width, adjust = left});
        {Width, F1, Args1} -> precision(F1, Args1, #ctl{width = Width})
    end.

number([$* | F], [N | Args]) when is_integer(N) -> {N, F, Args};
number([D | _] = F, Args) when D >= $0, D =< $9 -> digits(F, 0, Args);
number(F, Args) -> {none, F, Args}.

digits([D | F], N, Args) when D >= $0, D =< $9 -> digits(F, N * 10 + D - $0, Args);
digits(F, N, Args) -> {N, F, Args}.

precision([$., $. | _] = [_ | F], Args, C) -> pad(F, Args, C);
precision([$. | F], Args, C) ->
    {P, F1, Args1} = number(F, Args),
    pad(F1, Args1, C#ctl{precision = P});
precision(F, Args, C) -> pad(F, Args, C).

pad([$., $* | F], [Pad | Args], C) -> modifiers(F, Args, C#ctl{pad = Pad});
pad([$., Pad | F], Args, C) -> modifiers(F, Args, C#ctl{pad = Pad});
pad(F, Args, C) -> modifiers(F, Args, C).

modifiers([$t | F], Args, C) -> modifiers(F, Args, C#ctl{encoding = unicode});
modifiers([$l | F], Args, C) -> modifiers(F, Args, C#ctl{strings = false});
modifiers([$k | F], Args, C) -> modifiers(F, Args, C#ctl{order = ordered});
modifiers([$K | F], [Order | Args], C) -> modifiers(F, Args, C#ctl{order = Order});
modifiers([Char | F], Args, C) ->
    {Mine, Rest} = arguments(Char, Args),
    [C#ctl{char = Char, args = Mine} | cut(F, Rest)].

arguments(C, Args) when C =:= $~; C =:= $n -> {[], Args};
arguments(C, [A | Args])
  when C =:= $w; C =:= $p; C =:= $s; C =:= $c; C =:= $f; C =:= $e; C =:= $g; C =:= $b;
       C =:= $B; C =:= $#; C =:= $+; C =:= $i -> {[A], Args};
arguments(C, [A, B | Args]) when C =:= $W; C =:= $P; C =:= $x; C =:= $X -> {[A, B], Args}.

to_map(#ctl{char = Char, args = Args, width = W, adjust = A, precision = P, pad = Pad,
            encoding = E, strings = S, order = Order}) ->
    Map = #{control_char => Char, args => Args, width => W, adjust => A, precision => P,
            pad_char => Pad, encoding => E, strings => S},
    case Order of
        undefined -> Map;
        _ -> Map#{maps_order => Order}
    end;
to_map(Char) -> Char.

from_map(#{control_char := Char, args := Args, width := W, adjust := A, precision := P,
           pad_char := Pad, encoding := E} = Map) ->
    #ctl{char = Char, args = Args, width = W, adjust = A, precision = P, pad = Pad, encoding = E,
         strings = maps:get(strings, Map, true), order = maps:get(maps_order, Map, undefined)};
from_map(Char) -> Char.

unscan(Items) ->
    {Format, Args} = unscan_all(Items),
    {lists:flatten(Format), lists:append(Args)}.

unscan_all([Map | T]) when is_map(Map) ->
    C = from_map(Map),
    {Fs, As} = unscan_all(T),
    {OrderMod, OrderArgs} =
        case C#ctl.order of
            undefined -> {"", []};
            ordered -> {"k", []};
            Order -> {"K", [Order]}
        end,
    F = [$~, [$- || C#ctl.adjust =:= left, C#ctl.width =/= none], unscan_number(C#ctl.width),
         unscan_precision(C#ctl.precision, C#ctl.pad),
         [$t || C#ctl.encoding =:= unicode], [$l || not C#ctl.strings], OrderMod, C#ctl.char],
    {[F | Fs], [OrderArgs ++ C#ctl.args | As]};
unscan_all([C | T]) ->
    {Fs, As} = unscan_all(T),
    {[C | Fs], As};
unscan_all([]) -> {[], []}.

unscan_number(none) -> "";
unscan_number(N) -> integer_to_list(N).

unscan_precision(none, $\s) -> "";
unscan_precision(P, $\s) -> [$. | unscan_number(P)];
unscan_precision(P, Pad) -> [$., unscan_number(P), $., Pad].

%% Building

render(Items) ->
    case needs_column(Items) of
        true -> render(Items, 0);
        false -> unplaced(Items)
    end.

unplaced([#ctl{} = C | T]) -> before(text(C, 0, -1), C, unplaced(T));
unplaced([C | T]) -> [C | unplaced(T)];
unplaced([]) -> [].

%% The text of a term or a string is an element of the result, that of other controls part of it: "5" is what
%% ~B gives for 5.
before(Text, #ctl{char = C}, Rest) ->
    case is_small(C) of
        true -> lists:flatten(Text, Rest);
        false -> [Text | Rest]
    end.

is_small(C) -> C =/= $p andalso C =/= $P andalso C =/= $w andalso C =/= $W andalso C =/= $s.

needs_column([#ctl{char = C} | T]) -> C =:= $p orelse C =:= $P orelse needs_column(T);
needs_column([_ | T]) -> needs_column(T);
needs_column([]) -> false.

render([#ctl{} = C | T], Col) ->
    Text = text(C, Col, -1),
    case needs_column(T) of
        true -> before(Text, C, render(T, io_lib:indentation(Text, Col)));
        false -> before(Text, C, render(T, Col))
    end;
render([$\n | T], _) -> [$\n | render(T, 0)];
render([$\t | T], Col) -> [$\t | render(T, (Col div 8 + 1) * 8)];
render([C | T], Col) when is_integer(C) -> [C | render(T, Col + 1)];
render([Text | T], Col) -> [Text | render(T, io_lib:indentation(Text, Col))];
render([], _) -> [].

%% With a limit on characters, controls that print terms and strings share
%% what the others leave over.
build_limited(Items, Options) ->
    case proplists:get_value(chars_limit, Options, -1) of
        Limit when is_integer(Limit), Limit >= 0 ->
            Fixed = lists:flatmap(fun fixed/1, Items),
            Count = length([x || #ctl{} <- Fixed]),
            Used = length([C || C <- Fixed, not is_record(C, ctl)]),
            limited(Fixed, 0, Count, max(0, Limit - Used));
        _ -> render(Items)
    end.

fixed(#ctl{char = C} = X) ->
    case is_small(C) of
        true -> lists:flatten(text(X, 0, -1));
        false -> [X]
    end;
fixed(X) -> [X].

limited([#ctl{} = C | T], Col, Count, Left) ->
    Text = text(C, Col, Left div Count),
    [Text | limited(T, io_lib:indentation(Text, Col), Count - 1, max(0, Left - io_lib:chars_length(Text)))];
limited([C | T], Col, Count, Left) when is_integer(C) ->
    [C | limited(T, io_lib:indentation([C], Col), Count, Left)];
limited([Text | T], Col, Count, Left) ->
    [Text | limited(T, io_lib:indentation(Text, Col), Count, Left)];
limited([], _, _, _) -> [].

text(#ctl{char = Char, args = Args} = C, Col, Limit) ->
    #ctl{width = F, adjust = Adj, precision = P, pad = Pad} = C,
    case {Char, Args} of
        {$p, [T]} -> pretty(T, -1, C, Col, Limit);
        {$s, [T]} -> string(T, C, Limit);
        {$w, [T]} -> term(io_lib:write(T, -1, C#ctl.encoding, C#ctl.order, Limit), F, Adj, P, Pad);
        {$B, [N]} -> integer(N, C, upper, "");
        {$n, []} -> newlines(F, Adj);
        {$c, [X]} when is_integer(X) -> char(char_code(X, C#ctl.encoding), F, Adj, P, Pad);
        {$~, []} -> char($~, F, Adj, P, Pad);
        {$f, [X]} -> float_f(X, F, Adj, P, Pad);
        {$e, [X]} -> float_e(X, F, Adj, P, Pad);
        {$g, [X]} -> float_g(X, F, Adj, P, Pad);
        {$W, [T, D]} when is_integer(D) ->
            term(io_lib:write(T, D, C#ctl.encoding, C#ctl.order, Limit), F, Adj, P, Pad);
        {$P, [T, D]} when is_integer(D) -> pretty(T, D, C, Col, Limit);
        {$b, [N]} -> integer(N, C, lower, "");
        {$X, [N, Prefix]} -> integer(N, C, upper, prefix(Prefix));
        {$x, [N, Prefix]} -> integer(N, C, lower, prefix(Prefix));
        {$#, [N]} -> integer(N, C, upper, base);
        {$+, [N]} -> integer(N, C, lower, base);
        {$i, [_]} -> []
    end.

char_code(X, unicode) -> X;
char_code(X, latin1) -> X band 255.

prefix(A) when is_atom(A) -> atom_to_list(A);
prefix(S) ->
    true = io_lib:deep_char_list(S),
    S.

%% ~p: width is the line length, precision the column
pretty(T, Depth, #ctl{width = F, precision = P, encoding = E, strings = S, order = O}, Col, Limit) ->
    Column = case P of none -> Col + 1; _ -> P end,
    Line = case F of none -> 80; _ -> F end,
    io_lib_pretty:print(T, [{column, Column}, {line_length, Line}, {depth, Depth}, {encoding, E},
                            {strings, S}, {maps_order, O}, {chars_limit, Limit}]).

term(T, none, _, none, _) -> T;
term(T, none, Adj, P, Pad) -> term(T, P, Adj, P, Pad);
term(T, F, Adj, P0, Pad) ->
    Len = io_lib:chars_length(T),
    P = min(Len, case P0 of none -> F; _ -> min(P0, F) end),
    if
        Len > P -> adjust(chars($*, P), chars(Pad, F - P), Adj);
        F >= P -> adjust(T, chars(Pad, F - Len), Adj)
    end.

adjust(Text, [], _) -> Text;
adjust(Text, Pad, left) -> [Text | Pad];
adjust(Text, Pad, right) -> [Pad | Text].

chars(_, 0) -> [];
chars(C, N) when N > 0 -> lists:duplicate(N, C).

%% ~s
string(T, #ctl{encoding = E} = C, Limit) ->
    Text = if
               is_atom(T), E =:= latin1 -> atom_latin1(T);
               is_atom(T) -> atom_to_list(T);
               E =:= latin1 -> latin1_text(T);
               true -> unicode_text(T)
           end,
    field(limit_text(Text, Limit), C#ctl.width, C#ctl.adjust, C#ctl.precision, C#ctl.pad).

atom_latin1(A) ->
    lists:flatmap(fun(C) when C < 256 -> [C];
                     (C) -> "\\x{" ++ integer_to_list(C, 16) ++ "}"
                  end, atom_to_list(A)).

latin1_text(B) when is_binary(B) -> binary_to_list(B);
latin1_text(L) when is_list(L) -> binary_to_list(iolist_to_binary(L)).

%% Invalid UTF-8 is taken as Latin-1, and a number too large for a character is left to whoever prints it.
unicode_text(T) when is_binary(T); is_list(T) ->
    case unicode:characters_to_list(T) of
        L when is_list(L) -> L;
        _ -> characters(T)
    end.

characters([C | T]) when is_integer(C), C >= 0 -> [C | characters(T)];
characters([H | T]) -> [characters(H) | characters(T)];
characters([]) -> [];
characters(B) when is_binary(B) ->
    case unicode:characters_to_list(B) of
        L when is_list(L) -> L;
        _ -> binary_to_list(B)
    end;
characters(_) -> error(badarg).

limit_text(Text, Limit) when Limit < 0 -> Text;
limit_text(Text, Limit) ->
    case io_lib:chars_length(Text) > Limit of
        true when Limit > 3 -> [string:slice(Text, 0, Limit - 3), "..."];
        true -> "...";
        false -> Text
    end.

field(S, none, _, none, _) -> S;
field(S, F, Adj, none, Pad) -> fit(S, F, Adj, io_lib:chars_length(S), Pad);
field(S, none, _, P, Pad) -> fit(S, P, left, io_lib:chars_length(S), Pad);
field(S, F, Adj, P, Pad) when F > P ->
    adjust(fit(S, P, left, io_lib:chars_length(S), Pad), chars(Pad, F - P), Adj);
field(S, F, Adj, F, Pad) -> fit(S, F, Adj, io_lib:chars_length(S), Pad).

fit(S, F, _, Len, _) when Len > F -> string:slice(S, 0, F);
fit(S, F, Adj, Len, Pad) -> adjust(S, chars(Pad, F - Len), Adj).

char(C, none, _, none, _) -> [C];
char(C, F, _, none, _) -> chars(C, F);
char(C, none, _, P, _) -> chars(C, P);
char(C, F, Adj, P, Pad) when F >= P -> adjust(chars(C, P), chars(Pad, F - P), Adj).

newlines(none, _) -> "\n";
newlines(N, right) -> chars($\n, N).

%% Integers

integer(N, #ctl{width = F, adjust = Adj, precision = P, pad = Pad}, Case, Prefix) when is_integer(N) ->
    Base = case P of none -> 10; _ -> P end,
    true = Base >= 2 andalso Base =< 36,
    Digits = cased(integer_to_list(abs(N), Base), Case),
    Before = case Prefix of base -> [integer_to_list(Base), $#]; _ -> Prefix end,
    Text = if N < 0 -> [$-, Before, Digits]; true -> [Before, Digits] end,
    term(Text, F, Adj, none, Pad).

cased(Digits, upper) -> Digits;
cased(Digits, lower) -> string:to_lower(Digits).

%% Floating point. The digits come from the 21 of float_to_list/1 and are
%% rounded half up in decimal; beyond them there are zeros.

float_e(X, none, Adj, none, Pad) -> float_e(X, none, Adj, 6, Pad);
float_e(X, none, _, P, _) when P >= 2 -> scientific(X, P);
float_e(X, F, Adj, none, Pad) -> term(scientific(X, 6), F, Adj, F, Pad);
float_e(X, F, Adj, P, Pad) when P >= 2 -> term(scientific(X, P), F, Adj, F, Pad).

float_f(X, none, Adj, none, Pad) -> float_f(X, none, Adj, 6, Pad);
float_f(X, none, _, P, _) when P >= 1 -> fixed_point(X, P);
float_f(X, F, Adj, none, Pad) -> term(fixed_point(X, 6), F, Adj, F, Pad);
float_f(X, F, Adj, P, Pad) when P >= 1 -> term(fixed_point(X, P), F, Adj, F, Pad).

%% Fixed point from 0.1 to 10000, P significant digits.
float_g(X, F, Adj, none, Pad) -> float_g(X, F, Adj, 6, Pad);
float_g(X, F, Adj, P, Pad) when P >= 1 ->
    A = abs(X),
    Exp = if
              A < 0.1 -> small;
              A < 1.0 -> -1;
              A < 10.0 -> 0;
              A < 100.0 -> 1;
              A < 1000.0 -> 2;
              A < 10000.0 -> 3;
              true -> large
          end,
    if
        is_integer(Exp), P =< 1, Exp =:= -1;
        is_integer(Exp), P - 1 > Exp -> float_f(X, F, Adj, P - 1 - Exp, Pad);
        P =< 1 -> float_e(X, F, Adj, 2, Pad);
        true -> float_e(X, F, Adj, P, Pad)
    end.

scientific(X, P) when is_float(X) ->
    {Sign, Digits, Exp} = decimal(X),
    {Rounded, Exp1} = rounded(Digits, P, Exp),
    [D | Ds] = lists:sublist(Rounded, P),
    ExpSign = if Exp1 >= 0 -> $+; true -> $- end,
    [Sign, D, $., Ds, $e, ExpSign | integer_to_list(abs(Exp1))].

fixed_point(X, P) when is_float(X) ->
    {Sign, Digits, Exp} = decimal(X),
    {Ds, Exp1} =
        case Exp + 1 + P of
            Keep when Keep >= 0 -> rounded(Digits, Keep, Exp);
            _ -> {[], -P - 1}
        end,
    {Int, Frac} =
        if
            Exp1 >= 0 ->
                Padded = padded(Ds, Exp1 + 1 + P),
                lists:split(Exp1 + 1, Padded);
            true -> {"0", lists:sublist(chars($0, -Exp1 - 1) ++ padded(Ds, P), P)}
        end,
    [Sign, Int, $. | Frac].

%% {Sign, 21 digits, exponent of the first}.
decimal(X) ->
    case float_to_list(X) of
        [$- | T] -> {"-", T1, Exp} = decimal_parts("-", T), {"-", T1, Exp};
        T -> decimal_parts("", T)
    end.

decimal_parts(Sign, [D, $. | T]) ->
    {Frac, [$e | Exp]} = lists:splitwith(fun(C) -> C =/= $e end, T),
    {Sign, [D | Frac], list_to_integer(Exp)}.

%% Exactly N digits. A carry out of the first digit raises the exponent (and
%% keeps one digit more, so that the last one has the same weight).
rounded(Digits, N, Exp) when N >= length(Digits) -> {padded(Digits, N), Exp};
rounded(Digits, N, Exp) ->
    {Keep, [Next | _]} = lists:split(N, Digits),
    case Next >= $5 of
        false -> {Keep, Exp};
        true ->
            case increment(lists:reverse(Keep), []) of
                {carry, Ds} -> {[$1 | Ds], Exp + 1};
                Ds -> {Ds, Exp}
            end
    end.

increment([$9 | T], Acc) -> increment(T, [$0 | Acc]);
increment([D | T], Acc) -> lists:reverse(T, [D + 1 | Acc]);
increment([], Acc) -> {carry, Acc}.

padded(Digits, N) -> Digits ++ chars($0, max(0, N - length(Digits))).
