%% Reading with a format: white space matches any white space, other characters
%% themselves, ~ introduces a control: d u - # f s a c l ~, with an optional *
%% (read but not answered), field width, and the modifier t.
-module(io_lib_fread).

-export([fread/2, fread/3]).

%% {ok, Values, Rest} | {more, RestFormat, CharsRead, Values} | {error, {fread, What}}
fread(Format, Chars) when is_list(Format) ->
    try read(Format, Chars, length(Chars), [])
    catch throw:What -> {error, {fread, What}}
    end;
fread(Format, Chars) -> fread(io_lib_fread_format(Format), Chars).

io_lib_fread_format(F) when is_atom(F) -> atom_to_list(F);
io_lib_fread_format(F) when is_binary(F) -> unicode:characters_to_list(F).

%% For the I/O protocol. The continuation is the text so far; an item that
%% touches its end may go on in what comes next.
fread([], Chars, Format) -> fread({text, []}, Chars, Format);
fread({text, []}, eof, _) -> {done, eof, eof};
fread({text, Text}, eof, Format) ->
    case all_white(Text) of
        true -> {done, eof, eof};
        false ->
            case fread(Format, Text) of
                {ok, Values, Rest} -> {done, {ok, Values}, Rest};
                {more, _, _, _} -> {done, {error, {fread, input}}, []};
                {error, _} = Error -> {done, Error, []}
            end
    end;
fread({text, Text0}, Chars, Format) ->
    Text = lists:dropwhile(fun is_newline/1, Text0 ++ Chars),
    case fread(Format, lists:reverse(lists:dropwhile(fun is_newline/1, lists:reverse(Text)))) of
        {more, _, _, _} -> {more, {text, Text}};
        _ -> read_text(Text, Format)
    end.

%% A line that is over is no reason to give up: what is missing may be on the next.
read_text(Text, Format) ->
    case fread(Format, Text) of
        {ok, _, []} when Text =/= [] ->
            case is_white(lists:last(Text)) of
                true -> done(Format, Text);
                false -> {more, {text, Text}}
            end;
        {ok, Values, [$\n | Rest]} -> {done, {ok, Values}, Rest}; % the end of a line is no text
        {ok, Values, Rest} -> {done, {ok, Values}, Rest};
        {more, _, _, _} -> {more, {text, Text}};
        {error, _} = Error -> {done, Error, []}
    end.

done(Format, Text) ->
    {ok, Values, Rest} = fread(Format, Text),
    {done, {ok, Values}, Rest}.

all_white(Text) -> lists:all(fun is_white/1, Text).

is_newline(C) -> C =:= $\n.

is_white(C) -> C =:= $\s orelse C =:= $\t orelse C =:= $\r orelse C =:= $\n.

skip([C | T] = L) ->
    case is_white(C) of
        true -> skip(T);
        false -> L
    end;
skip([]) -> [].

read([$~ | F0], In, N, Acc) ->
    {Star, F1} = case F0 of [$* | F] -> {true, F}; _ -> {false, F0} end,
    {Width, F2} = width(F1, none),
    {Unicode, [C | F3]} = modifiers(F2, false),
    control(C, [$~ | F0], F3, Star, Width, Unicode, In, N, Acc);
read([C | F] = F0, In, N, Acc) ->
    case is_white(C) of
        true -> read(F, skip(In), N, Acc);      % which may be nothing
        false ->
            case In of
                [C | Rest] -> read(F, Rest, N, Acc);
                [] -> more(F0, In, N, Acc);
                _ -> throw(input)
            end
    end;
read([], In, _, Acc) -> {ok, lists:reverse(Acc), In}.

more(F, In, N, Acc) -> {more, F, N - length(In), Acc}.

width([D | F], none) when D >= $0, D =< $9 -> width(F, D - $0);
width([D | F], W) when D >= $0, D =< $9 -> width(F, W * 10 + D - $0);
width(F, W) -> {W, F}.

modifiers([$t | F], _) -> modifiers(F, true);
modifiers(F, Unicode) when F =/= [] -> {Unicode, F};
modifiers([], _) -> throw(format).

control($l, _, F, Star, none, _, In, N, Acc) -> value(N - length(In), Star, F, In, N, Acc);
control($~, F0, F, false, none, _, In, N, Acc) ->
    case In of
        [$~ | Rest] -> read(F, Rest, N, Acc);
        [] -> more(F0, In, N, Acc);
        _ -> throw(input)
    end;
control(_, F0, _, _, _, _, [], N, Acc) -> more(F0, [], N, Acc);
control($c, _, F, Star, none, Unicode, In, N, Acc) ->
    {Chars, Rest} = field($c, In, 1),
    value(checked(Chars, Unicode), Star, F, Rest, N, Acc);
control($c, _, F, Star, Width, Unicode, In, N, Acc) ->
    {Chars, Rest} = field($c, In, Width),
    value(checked(Chars, Unicode), Star, F, Rest, N, Acc);
control($u, _, F, Star, Base, _, In, N, Acc) ->
    {Value, Rest} = integer(In, case Base of none -> 10; _ -> Base end, false),
    value(Value, Star, F, Rest, N, Acc);
control($-, _, F, Star, _, _, In, N, Acc) ->
    {Value, Rest} = convert($-, In, false),
    value(Value, Star, F, Rest, N, Acc);
control(C, _, F, Star, none, Unicode, In, N, Acc) ->
    {Value, Rest} = convert(C, skip(In), Unicode),
    value(Value, Star, F, Rest, N, Acc);
control(C, _, F, Star, Width, Unicode, In, N, Acc) ->
    {Field, Rest} = field(C, In, Width),
    case convert(C, skip(Field), Unicode) of
        {_, [_ | _]} when C =:= $d -> throw(integer);
        {Value, Left} -> value(Value, Star, F, Left ++ Rest, N, Acc)
    end.

%% Exactly so many characters of one line
field(C, In, Width) ->
    case length(In) >= Width andalso lists:split(Width, In) of
        false -> throw(kind(C));
        {Field, Rest} ->
            lists:member($\n, Field) andalso throw(kind(C)),
            {Field, Rest}
    end.

kind($d) -> integer;
kind($f) -> float;
kind($#) -> based;
kind($s) -> string;
kind($a) -> atom;
kind($c) -> character;
kind(_) -> format.

value(_, true, F, In, N, Acc) -> read(F, In, N, Acc);
value(V, false, F, In, N, Acc) -> read(F, In, N, [V | Acc]).

checked(Chars, true) -> Chars;
checked(Chars, false) ->
    case io_lib:latin1_char_list(Chars) of
        true -> Chars;
        false -> throw(unicode)
    end.

convert($d, In, _) -> integer(In, 10, true);
convert($-, [$- | In], _) -> {-1, In};
convert($-, [$+ | In], _) -> {1, In};
convert($-, In, _) -> {1, In};
convert($#, In, _) ->
    {Sign, In1} = sign(In),
    case lists:splitwith(fun(C) -> C >= $0 andalso C =< $9 end, In1) of
        {[_ | _] = Base0, [$# | Rest]} ->
            Base = list_to_integer(Base0),
            (Base >= 2 andalso Base =< 36) orelse throw(based),
            case digits(Rest, Base, []) of
                {[], _} -> throw(based);
                {Digits, Left} -> {Sign * list_to_integer(Digits, Base), Left}
            end;
        _ -> throw(based)
    end;
convert($f, In, _) ->
    {Sign, In1} = sign(In),
    case digits(In1, 10, []) of
        {[_ | _] = Int, [$. | Rest]} ->
            case digits(Rest, 10, []) of
                {[_ | _] = Fraction, Rest1} ->
                    {Exponent, Left} = exponent(Rest1),
                    {Sign * list_to_float(Int ++ "." ++ Fraction ++ Exponent), Left};
                _ -> throw(float)
            end;
        _ -> throw(float)
    end;
convert($s, In, Unicode) ->
    {Word, Left} = lists:splitwith(fun(C) -> not is_white(C) end, In),
    {checked(Word, Unicode), Left};
convert($a, In, Unicode) ->
    {Word, Left} = convert($s, In, Unicode),
    {list_to_atom(Word), Left};
convert(_, _, _) -> throw(format).

integer(In, Base, Signed) ->
    {Sign, In1} = case Signed of true -> sign(In); false -> {1, In} end,
    case digits(In1, Base, []) of
        {[], _} when Signed -> throw(integer);
        {[], _} -> throw(unsigned);
        {_, [C | _]} when C >= $0, C =< $9 -> throw(unsigned);  % no digit of this base
        {Digits, Left} -> {Sign * list_to_integer(Digits, Base), Left}
    end.

sign([$- | T]) -> {-1, T};
sign([$+ | T]) -> {1, T};
sign(T) -> {1, T}.

digits([C | T] = In, Base, Acc) ->
    D = if
            C >= $0, C =< $9 -> C - $0;
            C >= $a, C =< $z -> C - $a + 10;
            C >= $A, C =< $Z -> C - $A + 10;
            true -> 99
        end,
    if
        D < Base -> digits(T, Base, [C | Acc]);
        true -> {lists:reverse(Acc), In}
    end;
digits([], _, Acc) -> {lists:reverse(Acc), []}.

exponent([E | T] = In) when E =:= $e; E =:= $E ->
    {Sign, T1} = case T of
                     [C | T0] when C =:= $-; C =:= $+ -> {[C], T0};
                     _ -> {"", T}
                 end,
    case digits(T1, 10, []) of
        {[], _} -> {"", In};
        {Digits, Left} -> {"e" ++ Sign ++ Digits, Left}
    end;
exponent(In) -> {"", In}.
