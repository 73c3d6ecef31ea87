%% SPDX-License-Identifier: Apache-2.0
%% What every module has without having defined it: types, and the functions that a compiler adds.
%% For erl_internal.
-module(erl_predefined).

-export([type/2, old_type_test/2, functions/1]).

type(list, Arity) -> Arity =:= 0 orelse Arity =:= 1;
type(nonempty_list, Arity) -> Arity =:= 0 orelse Arity =:= 1;
type(maybe_improper_list, Arity) -> Arity =:= 0 orelse Arity =:= 2;
type(nonempty_maybe_improper_list, Arity) -> Arity =:= 0 orelse Arity =:= 2;
type(nonempty_improper_list, Arity) -> Arity =:= 2;
type(Name, 0) -> lists:member(Name, plain_types());
type(_, _) -> false.

plain_types() ->
    [any, arity, atom, binary, bitstring, bool, boolean, byte, char, float, function, identifier, integer,
     iodata, iolist, map, mfa, module,
     neg_integer, nil, no_return, node, non_neg_integer, none, nonempty_binary, nonempty_bitstring,
     nonempty_string, number, pid, port,
     pos_integer, reference, string, term, timeout, tuple].

%% The tests that guards had before those that begin with is_.
old_type_test(record, 2) -> true;
old_type_test(Name, 1) ->
    lists:member(Name, [atom, binary, float, function, integer, list, number, pid, port, reference, tuple]);
old_type_test(Name, Arity) when is_atom(Name), is_integer(Arity) -> false.

%% The abstract forms of behaviour_info/1, in a module with callbacks, of module_info/0,1, and of
%% what exports them.
functions(Forms) ->
    {_, Module} = lists:keyfind(module, 1, [{Name, Value} || {attribute, _, Name, Value} <- Forms]),
    Functions = behaviour_info(Forms) ++ information(Module),
    [{attribute, 0, export, [{Name, Arity} || {function, _, Name, Arity, _} <- Functions]} | Functions].

behaviour_info(Forms) ->
    Optional = lists:append([Value || {attribute, _, optional_callbacks, Value} <- Forms, is_names(Value)]),
    case [{Name, Arity} || {attribute, _, callback, {{Name, Arity}, _}} <- Forms] of
        [] -> [];
        Callbacks ->
            [{function, 0, behaviour_info, 1,
              [{clause, 0, [{atom, 0, What}], [], [list(Names)]}
               || {What, Names} <- [{callbacks, Callbacks}, {optional_callbacks, Optional}]]}]
    end.

is_names(Value) when is_list(Value) ->
    lists:all(fun({Name, Arity}) -> is_atom(Name) andalso is_integer(Arity) andalso Arity >= 0;
                 (_) -> false
              end, Value);
is_names(_) -> false.

list(Names) ->
    lists:foldr(fun({Name, Arity}, Tail) ->
                        {cons, 0, {tuple, 0, [{atom, 0, Name}, {integer, 0, Arity}]}, Tail}
                end, {nil, 0}, Names).

information(Module) ->
    [{function, 0, module_info, length(Arguments),
      [{clause, 0, Arguments, [],
        [{call, 0, {remote, 0, {atom, 0, erlang}, {atom, 0, get_module_info}},
          [{atom, 0, Module} | Arguments]}]}]}
     || Arguments <- [[], [{var, 0, 'X'}]]].
