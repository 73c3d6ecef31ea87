%% SPDX-License-Identifier: Apache-2.0
%% Readable descriptions of exceptions: what happened, and the stack trace line by line, in the form
%% the Erlang shell prints. What the shell itself calls for is an installed OTP's
%% (installed_module).
-module(erl_error).

-export([format_exception/3, format_exception/4, '$handle_undefined_function'/2]).

-define(DEPTH, 30).

%% Options: column (1), format_fun, stack_trim_fun.
format_exception(Class, Reason, Stack) -> format_exception(Class, Reason, Stack, #{}).

format_exception(Class, Reason, Stack, Options) ->
    Col = maps:get(column, Options, 1),
    Trim = maps:get(stack_trim_fun, Options, fun(_, _, _) -> false end),
    Print = maps:get(format_fun, Options, fun default_print/2),
    {Used, Plain} = explain(Class, Reason, Stack, Print, Col),
    What = maps:get(reason, faults(Reason, Used), Plain),
    Title = ["exception ", atom_to_list(Class), ": "],
    Trimmed = lists:reverse(lists:dropwhile(fun({M, F, A, _}) ->
        Trim(M, F, if is_list(A) -> length(A); true -> A end) end,
                                            lists:reverse(Used))),
    Lines = stack_lines(Trimmed, Reason, Print, Col),
    unicode:characters_to_list([lists:join("\n", [[Title, What] | Lines])]).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

default_print(Term, Col) ->
    io_lib:format("~.*tP", [Col, Term, ?DEPTH]).

%% {Stack still to be shown, Text}. An error of a call shows the call itself,
%% so its stack entry goes.
explain(error, badarg, Stack, _, _) -> {Stack, "bad argument"};
explain(error, {badarg, X}, Stack, P, Col) -> {Stack, value("bad argument: ", X, P, Col)};
explain(error, badarith, Stack, _, _) ->
    {Stack, "an error occurred when evaluating an arithmetic expression"};
explain(error, {badarity, {Fun, Args}}, Stack, _, _) when is_function(Fun), is_list(Args) ->
    {Stack, [fun_name(Fun), " called with ", count(length(Args), "argument")]};
explain(error, {badfun, X}, Stack, P, Col) -> {Stack, value("bad function ", X, P, Col)};
explain(error, {badmatch, X}, Stack, P, Col) ->
    {Stack, value("no match of right hand side value ", X, P, Col)};
explain(error, {case_clause, X}, Stack, P, Col) -> {Stack, value("no case clause matching ", X, P, Col)};
explain(error, {try_clause, X}, Stack, P, Col) -> {Stack, value("no try clause matching ", X, P, Col)};
explain(error, {else_clause, X}, Stack, P, Col) -> {Stack, value("no else clause matching ", X, P, Col)};
explain(error, if_clause, Stack, _, _) -> {Stack, "no true branch found when evaluating an if expression"};
explain(error, {badmap, X}, Stack, P, Col) -> {Stack, value("bad map: ", X, P, Col)};
explain(error, {badkey, X}, Stack, P, Col) -> {Stack, value("bad key: ", X, P, Col)};
explain(error, {badrecord, X}, Stack, P, Col) -> {Stack, value("bad record: ", X, P, Col)};
explain(error, {badfield, {{_, _}, _} = F}, Stack, _, _) -> {Stack, ["bad field name: ", record_field(F)]};
explain(error, {novalue, {{_, _}, _} = F}, Stack, _, _) ->
    {Stack, ["no value provided for field ", record_field(F)]};
explain(error, {bad_generators, X}, Stack, P, Col) -> {Stack, value("bad generators: ", X, P, Col)};
explain(error, {bad_generator, X}, Stack, P, Col) -> {Stack, value("bad generator ", X, P, Col)};
explain(error, {bad_filter, X}, Stack, P, Col) -> {Stack, value("bad filter ", X, P, Col)};
explain(error, noproc, Stack, _, _) -> {Stack, "no such process or port"};
explain(error, notalive, Stack, _, _) -> {Stack, "the node cannot be part of a distributed system"};
explain(error, system_limit, Stack, _, _) -> {Stack, "a system limit has been reached"};
explain(error, timeout_value, Stack, _, _) -> {Stack, "bad receive timeout value"};
explain(error, undef, [{M, F, A, _} | Stack], _, Col) ->
    Arity = if is_list(A) -> length(A); true -> A end,
    {Stack, ["undefined function ", mfa(M, F, Arity), missing(M, Col)]};
explain(error, function_clause, [{M, F, As, Loc} | Stack], P, Col) when is_list(As) ->
    {Stack, [value("no function clause matching ", call_text(M, F, As, P), Col), location(Loc)]};
explain(error, function_clause, Stack, _, _) -> {Stack, "no function clause matching"};
explain(_, Reason, Stack, P, Col) -> {Stack, value("", Reason, P, Col)}.

record_field({{M, N}, F}) -> io_lib:format("~w in #~w:~w{}", [F, M, N]).

%% What is not embedded comes from an installed OTP: whoever has none is told so.
missing(M, Col) ->
    case erts_internal:locate_module(M) =:= [] andalso not erlang:module_loaded(M) andalso
         code:where_is_file("kernel.app") =:= non_existing of
        true ->
            ["\n", lists:duplicate(Col + 1, $\s), "*** there is no module ", io_lib:write_atom(M),
             "; where it is one of Erlang/OTP's, install that (Debian: erlang-base and others) or name its "
             "root: -otp DIR"];
        false -> ""
    end.

count(1, Thing) -> ["one ", Thing];
count(N, Thing) when N < 10 ->
    [element(N + 1, {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}), $\s,
        Thing, $s];
count(N, Thing) -> [integer_to_list(N), $\s, Thing, $s].

%% A value follows its text; if it takes several lines it begins a new one.
value(Text, X, Print, Col) -> value(Text, fun(C) -> Print(X, C) end, Col).

value(Text, Show, Col) ->
    Used = Col + 17 + length(Text),
    One = Show(Used),
    case is_one_line(One) andalso Used + io_lib:chars_length(One) =< 80 of
        true -> [Text, One];
        false when Text =:= "" -> Show(Col + 17);
        false -> [Text, "\n", lists:duplicate(Col + 16, $\s), Show(Col + 17)]
    end.

is_one_line(Text) -> not lists:member($\n, lists:flatten(Text)).

stack_lines(Stack, Reason, Print, Col) -> stack_lines(Stack, 1, Reason, Print, lists:duplicate(Col + 1, $\s)).

stack_lines([{M, F, A, Loc} | Stack] = All, N, Reason, Print, Ind) ->
    Operator = is_operator(M, F, A),
    Word = if
               N =:= 1, Operator -> "in operator  ";
               N =:= 1 -> "in function  ";
               true -> "in call from "
           end,
    Arity = if is_list(A) -> length(A); true -> A end,
    Name = case Operator of
               true -> [atom_to_list(F), $/, integer_to_list(Arity)];
               false -> mfa(M, F, Arity)
           end,
    Lines = [[Ind, Word, Name, location(Loc)]
             | [["\n", Ind, "   called as ", call_text(M, F, A, Print, length(Ind) + 14)] || is_list(A)]
               ++ [["\n", Ind, "   *** ", Line] || N =:= 1, Line <- hints(Reason, All, length(Ind) + 7)]],
    [Lines | stack_lines(Stack, N + 1, Reason, Print, Ind)];
stack_lines([], _, _, _, _) -> [];
stack_lines([_ | Stack], N, Reason, Print, Ind) -> stack_lines(Stack, N, Reason, Print, Ind).

location(Loc) ->
    case {proplists:get_value(file, Loc), proplists:get_value(line, Loc)} of
        {File, Line} when File =/= undefined, is_integer(Line), Line > 0 ->
            [" (", File, ", line ", integer_to_list(Line), $)];
        _ -> ""
    end.

call_text(M, F, As, Print) -> fun(Col) -> call_text(M, F, As, Print, Col) end.

call_text(erlang, F, [X], Print, Col) when F =:= '-'; F =:= '+'; F =:= 'not'; F =:= 'bnot' ->
    [atom_to_list(F), $\s, Print(X, Col)];
call_text(M, F, [X, Y] = As, Print, Col) ->
    case is_operator(M, F, As) of
        true -> [Print(X, Col), $\s, atom_to_list(F), $\s, Print(Y, Col)];
        false -> plain_call(M, F, As, Print, Col)
    end;
call_text(M, F, As, Print, Col) -> plain_call(M, F, As, Print, Col).

plain_call(M, F, As, Print, Col) ->
    Name = name(M, F, length(As)),
    Col1 = Col + io_lib:chars_length(Name) + 1,
    [Name, $(, lists:join($,, broken([Print(A, Col1) || A <- As], Col1)), $)].

%% Arguments of several lines stand below each other.
broken(Texts, Col) ->
    case lists:all(fun is_one_line/1, Texts) of
        true -> Texts;
        false -> [hd(Texts) | [["\n", lists:duplicate(Col - 1, $\s), T] || T <- tl(Texts)]]
    end.

is_operator(erlang, F, A) ->
    Arity = if is_list(A) -> length(A); true -> A end,
    try erl_internal:op_type(F, Arity) of
        Type -> Type =/= send
    catch error:function_clause -> false
    end;
is_operator(_, _, _) -> false.

mfa(M, F, Arity) -> [name(M, F, Arity), $/, integer_to_list(Arity)].

name(erlang, F, Arity) ->
    case erl_internal:bif(F, Arity) of
        true -> io_lib:write_atom(F);
        false -> ["erlang:", io_lib:write_atom(F)]
    end;
name(M, F, _) -> [io_lib:write_atom(M), $:, io_lib:write_atom(F)].

fun_name(Fun) ->
    {module, M} = erlang:fun_info(Fun, module),
    {name, F} = erlang:fun_info(Fun, name),
    {arity, A} = erlang:fun_info(Fun, arity),
    mfa(M, F, A).

%% What a module offers about its own failure: an error_info entry names it;
%% Module:format_error(Reason, Stack) answers a map from argument position (or
%% general) to a line of text, and perhaps another text for the reason.
faults(Reason, [{M, _, _, Loc} | _] = Stack) ->
    case proplists:get_value(error_info, Loc) of
        #{} = Info ->
            Module = maps:get(module, Info, M),
            Function = maps:get(function, Info, format_error),
            try Module:Function(Reason, Stack) of
                #{} = Map -> Map;
                _ -> #{}
            catch _:_ -> #{}
            end;
        _ -> #{}
    end;
faults(_, _) -> #{}.

hints(Reason, Stack, Col) ->
    [hint(K, V, Col) || {K, V} <- lists:sort(maps:to_list(faults(Reason, Stack))), K =/= reason].

hint(Position, Text, Col) when is_integer(Position) ->
    Which = ["argument ", integer_to_list(Position), ": "],
    [Which, indented(Text, Col + iolist_size(Which))];
hint(_, Text, Col) -> indented(Text, Col).

indented(Text, Col) -> string:replace(Text, "\n", [$\n | lists:duplicate(Col, $\s)], all).
