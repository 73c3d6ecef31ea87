%% SPDX-License-Identifier: Apache-2.0
%% The crash report of proc_lib as text: about the process, [{Name, Value}], and about those that it
%% was linked to. The options are those of logger's formatter, and encoding.
-module(crash_text).

-export([text/2]).

%% Where the number of characters is limited, a third of it is for the reason, and of the neighbours
%% there are their names only.
text([Own, Linked], #{single_line := Single, chars_limit := Limit} = Options0) ->
    PartLimit = if is_integer(Limit) -> max(1, 2 * Limit div (3 * (length(Own) + 1))); true -> unlimited end,
    Options = Options0#{part_limit => PartLimit},
    Indent = indent(2, Options),
    [Indent, "crasher:", break(Single, " "), items(Own, 4, Options), break(Single, "; "),
     neighbours(Linked, Indent, Options)].

break(true, Separator) -> Separator;
break(false, _) -> "\n".

indent(_, #{single_line := true}) -> "";
indent(N, _) -> lists:duplicate(N, $\s).

neighbours(Linked, Indent, #{part_limit := Limit} = Options) when is_integer(Limit) ->
    [Indent, "neighbours: ", print([Pid || {neighbour, [{pid, Pid} | _]} <- Linked], none, Options)];
neighbours(Linked, Indent, #{single_line := Single} = Options) ->
    [Indent, "neighbours:", break(Single, " "),
     lists:join(break(Single, "; "),
                [[indent(4, Options), "neighbour:", break(Single, " "), items(Its, 6, Options)]
                 || {neighbour, Its} <- Linked])].

items(Items, Indent, #{single_line := Single} = Options) ->
    lists:join(break(Single, ", "), [[indent(Indent, Options), item(Item, Options)] || Item <- Items]).

item({error_info, {Class, Reason, Stack}}, #{single_line := true} = Options) ->
    [atom_to_list(Class), ": ", print({Reason, Stack}, none, with_third(Options))];
item({error_info, {Class, Reason, Stack}}, Options) ->
    erl_error:format_exception(Class, Reason, Stack,
                               #{column => 5,
                                 format_fun => fun(Term, Column) ->
                                     print(Term, Column, with_third(Options)) end,
                                 stack_trim_fun => fun(M, _, _) -> M =:= proc_lib orelse M =:= erl_eval end});
item({initial_call, {M, F, Args}}, #{encoding := Encoding}) when is_list(Args) ->
    ["initial call: ", name(M, Encoding), $:, name(F, Encoding), $/, integer_to_list(length(Args))];
item({Name, Value}, Options) -> [io_lib:format("~0p: ", [Name]), print(Value, 18, Options)].

with_third(#{chars_limit := Limit} = Options) ->
    Options#{part_limit => if is_integer(Limit) -> Limit div 3; true -> unlimited end}.

name(Atom, latin1) -> io_lib:write_atom_as_latin1(Atom);
name(Atom, _) -> io_lib:write_atom(Atom).

print(Term, Column, #{single_line := Single, encoding := Encoding, depth := Depth, part_limit := Limit}) ->
    Control = lists:append(["~", case Single of true -> "0"; false -> "" end,
                            case Column of none -> ""; _ -> [$. | integer_to_list(Column)] end,
                            case Encoding of latin1 -> ""; _ -> "t" end,
                            case Depth of unlimited -> "p"; _ -> "P" end]),
    io_lib:format(Control, [Term | [Depth || Depth =/= unlimited]],
                  [{chars_limit, Limit} || Limit =/= unlimited]).
