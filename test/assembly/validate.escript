#!/usr/bin/env escript
%% Usage: validate.escript FILE.S ...
%% Prints a line for each file that OTP's validator does not accept as it stands, or that erlc
%% +from_asm does not: its passes over assembly have expectations of their own, and validate again
%% what they made of it. Then how many files it looked at.
-mode(compile).

main(Files) ->
    [io:format("~ts: ~tp~n", [filename:basename(File), What])
     || File <- Files, Complain <- [fun as_it_stands/1, fun as_input_of_erlc/1], What <- Complain(File)],
    io:format("~p files~n", [length(Files)]).

as_it_stands(File) ->
    case file:consult(File) of
        {ok, [{module, M}, {exports, E}, {attributes, A}, {labels, L} | Code]} ->
            Module = {M, E, A, functions(Code), L},
            [{validator, Errors} || {error, Errors} <- [beam_validator:validate(Module, strong)]];
        {ok, _} -> [{parts, missing}];
        {error, Why} -> [Why]
    end.

functions([{function, Name, Arity, Entry} | Rest]) ->
    {Code, Others} = lists:splitwith(fun(I) -> not is_tuple(I) orelse element(1, I) =/= function end, Rest),
    [{function, Name, Arity, Entry, Code} | functions(Others)];
functions([]) -> [].

as_input_of_erlc(File) ->
    try compile:file(filename:rootname(File), [from_asm, binary, return]) of
        {ok, _, _, _} -> [];
        Other -> [{from_asm, Other}]
    catch _:Why -> [{from_asm, Why}]
    end.
