%% SPDX-License-Identifier: Apache-2.0
%% Regular expressions. compile/1,2, inspect/2 and run/2,3 are built into the machine, by PCRE2; here is what
%% is made of them.
-module(re).
-define(ERRORS, [{error_info, #{module => erl_stdlib_errors}}]).  % who explains

-export([replace/3, replace/4, split/2, split/3]).

-type mp() :: {re_pattern, _, _, _, _}.
-export_type([mp/0]).

%% Replacing: & and \1 to \9… , \gN and \g{N} stand for what was captured.

replace(Subject, Expression, With) ->
    try replaced(Subject, Expression, With, [])
    catch throw:badarg -> error(badarg, [Subject, Expression, With], ?ERRORS)
    end.

replace(Subject, Expression, With, Options) ->
    try replaced(Subject, Expression, With, Options)
    catch throw:badarg -> error(badarg, [Subject, Expression, With, Options], ?ERRORS)
    end.

replaced(Subject, Expression, With, Options) ->
    {#{return := Return}, Run} = own_options(Options, #{return => iodata}, [capture, report_errors]),
    {Pattern, Run1} = compiled(Expression, Run),
    Bytes = bytes(Subject, Pattern),
    New = replacement(With, Pattern),
    case {found(Bytes, Pattern, Run1), lists:member(global, Run1)} of
        {[], _} -> returned(Subject, Return, Pattern);
        {[Captured], false} -> returned(replaced_once(Captured, New, Bytes), Return, Pattern);
        {Found, true} -> returned(replaced_all(Found, 0, New, Bytes), Return, Pattern)
    end.

%% Nothing empty goes between the replacements.
replaced_once([{From, Length} | _] = Captured, New, Bytes) ->
    <<Before:From/binary, _:Length/binary, After/binary>> = Bytes,
    With = with(New, Captured, Bytes),
    case {Before, After} of
        {<<>>, <<>>} -> [With];
        {<<>>, _} -> [With | After];
        {_, <<>>} -> [Before, With];
        _ -> [Before, With | After]
    end.

replaced_all([[{From, Length} | _] = Captured | Found], At, New, Bytes) ->
    More = [with(New, Captured, Bytes) | replaced_all(Found, From + Length, New, Bytes)],
    if
        From > At -> [binary:part(Bytes, At, From - At) | More];
        true -> More
    end;
replaced_all([], At, _, Bytes) when At < byte_size(Bytes) -> binary:part(Bytes, At, byte_size(Bytes) - At);
replaced_all([], _, _, _) -> [].

%% A function, the text that stays the same, or a list of texts and group numbers
replacement(With, _) when is_function(With, 2) -> With;
replacement(With, Pattern) ->
    case parts(bytes(With, Pattern), <<>>) of
        [] -> [];
        [Text] when is_binary(Text) -> Text;
        Parts -> Parts
    end.

with(New, [Whole | Groups], Bytes) when is_function(New) ->
    Text = New(part(Whole, Bytes), [part(Group, Bytes) || Group <- Groups]),
    try iolist_size(Text) of
        _ -> Text
    catch error:_ -> bytes(Text, {re_pattern, 0, 1, 0, none})  % characters above 255
    end;
with(New, Captured, Bytes) when is_list(New) ->
    [if
         is_binary(Part) -> Part;
         Part < length(Captured) -> part(lists:nth(Part + 1, Captured), Bytes);
         true -> <<>>
     end || Part <- New];
with(New, _, _) -> New.

part({From, Length}, Bytes) when From >= 0 -> binary:part(Bytes, From, Length);
part(_, _) -> <<>>.

parts(<<$&, T/binary>>, Text) -> text(Text, [0 | parts(T, <<>>)]);
parts(<<"\\g{", T/binary>>, Text) ->
    case number(T) of
        {N, <<$}, Rest/binary>>} -> text(Text, [N | parts(Rest, <<>>)]);
        _ -> throw(badarg)
    end;
parts(<<"\\g", T/binary>>, Text) ->
    {N, Rest} = number(T),
    text(Text, [N | parts(Rest, <<>>)]);
parts(<<$\\, C, _/binary>> = All, Text) when C >= $1, C =< $9 ->
    <<_, T/binary>> = All,
    {N, Rest} = number(T),
    text(Text, [N | parts(Rest, <<>>)]);
parts(<<$\\, C, T/binary>>, Text) -> parts(T, <<Text/binary, C>>);
parts(<<C, T/binary>>, Text) -> parts(T, <<Text/binary, C>>);
parts(<<>>, Text) -> text(Text, []).

text(<<>>, Parts) -> Parts;
text(Text, Parts) -> [Text | Parts].

number(<<C, T/binary>>) when C >= $0, C =< $9 -> number(T, C - $0);
number(_) -> throw(badarg).

number(<<C, T/binary>>, N) when C >= $0, C =< $9 -> number(T, N * 10 + C - $0);
number(T, N) -> {N, T}.

%% Splitting: what is captured in the separators goes between the parts.

split(Subject, Expression) ->
    try parted(Subject, Expression, [])
    catch throw:badarg -> error(badarg, [Subject, Expression], ?ERRORS)
    end.

split(Subject, Expression, Options) ->
    try parted(Subject, Expression, Options)
    catch throw:badarg -> error(badarg, [Subject, Expression, Options], ?ERRORS)
    end.

parted(Subject, Expression, Options) ->
    {Own, Run} = own_options(Options, #{return => iodata, parts => infinity, group => false},
                             [capture, report_errors, global]),
    #{return := Return, parts := Most, group := Group} = Own,
    {Pattern, Run1} = compiled(Expression, Run),
    Bytes = bytes(Subject, Pattern),
    Found = case Most of
                1 -> [];
                _ -> found(Bytes, Pattern, [global | Run1])
            end,
    Separators = if
                     is_integer(Most), Most > 1 -> Most - 1;
                     true -> infinity
                 end,
    Pieces = pieces(Found, 0, Separators, element(2, Pattern), Bytes),
    Trimmed = Most =:= 0 andalso Found =/= [],
    case Group of
        true -> [[returned(Piece, Return, Pattern) || Piece <- Pieced] || Pieced <- trimmed(Trimmed, Pieces)];
        false -> [returned(Piece, Return, Pattern) || Piece <- trimmed(Trimmed, lists:append(Pieces))]
    end.

%% Pieces, or groups of them, that are empty do not stay at the end.
trimmed(true, Pieces) ->
    lists:reverse(lists:dropwhile(fun(Piece) -> iolist_size(Piece) =:= 0 end, lists:reverse(Pieces)));
trimmed(false, Pieces) -> Pieces.

%% Nothing right behind the last separator is none.
pieces([[{From, 0} | _] | Found], At, Left, Groups, Bytes) when From =< At ->
    pieces(Found, At, Left, Groups, Bytes);
pieces([[{From, Length} | Captured] | Found], At, Left, Groups, Bytes) when Left =/= 0 ->
    Less = case Left of infinity -> infinity; _ -> Left - 1 end,
    [[binary:part(Bytes, At, From - At) | captured(Captured, Groups, Bytes)] | pieces(Found, From + Length,
        Less, Groups, Bytes)];
pieces(_, At, _, _, Bytes) -> [[binary:part(Bytes, At, byte_size(Bytes) - At)]].

%% What comes behind the last group that was set is not in the match.
captured(_, 0, _) -> [];
captured([], Groups, Bytes) -> [<<>> | captured([], Groups - 1, Bytes)];
captured([Group | Captured], Groups, Bytes) -> [part(Group, Bytes) | captured(Captured, Groups - 1, Bytes)].

%% What both need

%% {What of the options is in Own, the others}
own_options([trim | Options], #{parts := _} = Own, Refused) ->
    own_options([{parts, 0} | Options], Own, Refused);
own_options([Option | Options], Own, Refused) ->
    {Name, Value} = case Option of
                        {_, _} -> Option;
                        _ when is_tuple(Option), tuple_size(Option) > 0 -> {element(1, Option), Option};
                        _ -> {Option, true}
                    end,
    case {lists:member(Name, Refused), Own} of
        {true, _} -> throw(badarg);
        {false, #{Name := _}} ->
            allowed(Name, Value) orelse throw(badarg),
            own_options(Options, Own#{Name := Value}, Refused);
        {false, _} ->
            {Own1, Run} = own_options(Options, Own, Refused),
            {Own1, [Option | Run]}
    end;
own_options([], Own, _) -> {Own, []};
own_options(_, _, _) -> throw(badarg).

allowed(return, Value) -> Value =:= iodata orelse Value =:= list orelse Value =:= binary;
allowed(parts, Value) -> Value =:= infinity orelse (is_integer(Value) andalso Value >= 0);
allowed(_, Value) -> Value =:= true.

%% {Pattern, Options for running with it}
compiled({re_pattern, _, _, _, _} = Pattern, Options) -> {Pattern, Options};
compiled(Expression, Options) ->
    {Run, Compile} = lists:partition(fun runs/1, Options),
    try re:compile(Expression, Compile) of
        {ok, Pattern} -> {Pattern, [anchored || lists:member(anchored, Compile)] ++ Run};
        {error, _} -> throw(badarg)
    catch error:badarg -> throw(badarg)
    end.

runs({Name, _}) -> Name =/= newline;
runs(Option) -> lists:member(Option, [global, notbol, noteol, notempty, notempty_atstart]).

found(Bytes, Pattern, Options) ->
    try re:run(Bytes, Pattern, Options) of
        nomatch -> [];
        {match, [[_ | _] | _] = All} -> All;
        {match, Captured} -> [Captured]
    catch error:badarg -> throw(badarg)
    end.

bytes(Binary, _) when is_binary(Binary) -> Binary;
bytes(Text, {re_pattern, _, Unicode, _, _}) ->
    try
        Bytes = case Unicode of
                    1 -> unicode:characters_to_binary(Text);
                    _ -> iolist_to_binary(Text)
                end,
        true = is_binary(Bytes),
        Bytes
    catch error:_ -> throw(badarg)
    end.

returned(Text, iodata, _) -> Text;
returned(Text, binary, Pattern) -> bytes(Text, Pattern);
returned(Text, list, {re_pattern, _, 1, _, _}) ->
    case unicode:characters_to_list(Text) of
        List when is_list(List) -> List;
        _ -> throw(badarg)
    end;
returned(Text, list, _) -> binary_to_list(iolist_to_binary(Text)).
