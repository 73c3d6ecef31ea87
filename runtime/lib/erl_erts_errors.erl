%% Why a built-in function refused its arguments, for erl_error. Each function
%% has a row of what its arguments must be; those that are not are named.
-module(erl_erts_errors).

-export([format_error/2]).

-spec format_error(term(), [tuple()]) -> #{pos_integer() | general => string()}.
format_error({badkey, _}, [{_, map_get, [_, _], _} | _]) -> #{1 => "not present in map"};
format_error({badmap, _}, [{_, _, Args, _} | _]) when is_list(Args) -> #{length(Args) => "not a map"};
format_error(badarith, [{math, _, [X | _], _} | _]) when is_number(X) ->
    #{1 => "is outside the domain for this function"};
format_error(system_limit, _) -> #{};
format_error(_, [{M, F, Args, _} | _]) when is_list(Args) ->
    Kinds = kinds(M, F, length(Args)),
    Numbered = lists:zip3(lists:seq(1, length(Kinds)), Kinds, lists:sublist(Args, length(Kinds))),
    maps:from_list([{N, Why} || {N, Kind, Arg} <- Numbered, Why <- [why(Kind, Arg, Args)], Why =/= ok]);
format_error(_, _) -> #{}.

%% The rows; `any` needs nothing.
kinds(erlang, abs, 1) -> [number];
kinds(erlang, apply, 2) -> [function, list];
kinds(erlang, apply, 3) -> [atom, atom, list];
kinds(erlang, atom_to_binary, _) -> [atom];
kinds(erlang, atom_to_list, 1) -> [atom];
kinds(erlang, binary_part, 2) -> [binary, {range, 1}];
kinds(erlang, binary_part, 3) -> [binary, {start, 1}];
kinds(erlang, binary_to_atom, _) -> [binary];
kinds(erlang, binary_to_existing_atom, _) -> [existing_atom];
kinds(erlang, binary_to_float, 1) -> [float_text];
kinds(erlang, binary_to_integer, _) -> [integer_text];
kinds(erlang, binary_to_list, _) -> [binary];
kinds(erlang, binary_to_term, _) -> [external_term];
kinds(erlang, bit_size, 1) -> [bitstring];
kinds(erlang, byte_size, 1) -> [bitstring];
kinds(erlang, cancel_timer, _) -> [reference];
kinds(erlang, demonitor, _) -> [reference];
kinds(erlang, element, 2) -> [{index, 2}, tuple];
kinds(erlang, exit, 2) -> [pid_or_port];
kinds(erlang, float, 1) -> [number];
kinds(erlang, float_to_binary, _) -> [float];
kinds(erlang, float_to_list, _) -> [float];
kinds(erlang, fun_info, _) -> [function];
kinds(erlang, group_leader, 2) -> [pid, pid];
kinds(erlang, hd, 1) -> [nonempty_list];
kinds(erlang, integer_to_binary, 1) -> [integer];
kinds(erlang, integer_to_binary, 2) -> [integer, base];
kinds(erlang, integer_to_list, 1) -> [integer];
kinds(erlang, integer_to_list, 2) -> [integer, base];
kinds(erlang, iolist_size, 1) -> [iolist];
kinds(erlang, iolist_to_binary, 1) -> [iolist];
kinds(erlang, is_function, 2) -> [any, arity];
kinds(erlang, length, 1) -> [list];
kinds(erlang, link, 1) -> [pid];
kinds(erlang, list_to_atom, 1) -> [character_list];
kinds(erlang, list_to_binary, 1) -> [iolist];
kinds(erlang, list_to_bitstring, 1) -> [iolist];
kinds(erlang, list_to_existing_atom, 1) -> [existing_atom];
kinds(erlang, list_to_float, 1) -> [float_text];
kinds(erlang, list_to_integer, 1) -> [integer_text];
kinds(erlang, list_to_integer, 2) -> [integer_text, base];
kinds(erlang, list_to_tuple, 1) -> [list];
kinds(erlang, make_tuple, 2) -> [natural];
kinds(erlang, map_size, 1) -> [map];
kinds(erlang, process_info, _) -> [pid];
kinds(erlang, register, 2) -> [atom, pid_or_port];
kinds(erlang, round, 1) -> [number];
kinds(erlang, send, _) -> [destination];
kinds(erlang, '!', 2) -> [destination];
kinds(erlang, send_after, _) -> [natural, destination];
kinds(erlang, setelement, 3) -> [{index, 2}, tuple];
kinds(erlang, spawn, 1) -> [function];
kinds(erlang, spawn, 3) -> [atom, atom, list];
kinds(erlang, spawn_link, 1) -> [function];
kinds(erlang, spawn_link, 3) -> [atom, atom, list];
kinds(erlang, spawn_monitor, 1) -> [function];
kinds(erlang, spawn_monitor, 3) -> [atom, atom, list];
kinds(erlang, split_binary, 2) -> [binary, {position, 1}];
kinds(erlang, start_timer, _) -> [natural, destination];
kinds(erlang, tl, 1) -> [nonempty_list];
kinds(erlang, trunc, 1) -> [number];
kinds(erlang, tuple_size, 1) -> [tuple];
kinds(erlang, tuple_to_list, 1) -> [tuple];
kinds(erlang, unlink, 1) -> [pid];
kinds(erlang, unregister, 1) -> [registered];
kinds(erlang, whereis, 1) -> [atom];
kinds(binary, at, 2) -> [binary, {position, 1}];
kinds(binary, copy, _) -> [binary, natural];
kinds(binary, first, 1) -> [nonempty_binary];
kinds(binary, last, 1) -> [nonempty_binary];
kinds(binary, part, 2) -> [binary, {range, 1}];
kinds(binary, part, 3) -> [binary, {start, 1}];
kinds(lists, keyfind, 3) -> [any, integer, list];
kinds(lists, keymember, 3) -> [any, integer, list];
kinds(lists, keysearch, 3) -> [any, integer, list];
kinds(lists, member, 2) -> [any, list];
kinds(lists, reverse, 2) -> [list];
kinds(math, _, 1) -> [number];
kinds(math, _, 2) -> [number, number];
kinds(ets, new, 2) -> [atom, list];
kinds(ets, F, _) when F =/= whereis, F =/= all -> [table];
kinds(_, _, _) -> [].

why(any, _, _) -> ok;
why({index, At}, I, Args) when is_integer(I) ->
    Tuple = lists:nth(At, Args),
    case is_tuple(Tuple) andalso (I < 1 orelse I > tuple_size(Tuple)) of
        true -> "out of range";
        false -> ok
    end;
why({position, At}, I, Args) when is_integer(I) -> in_binary(I, 0, lists:nth(At, Args));
why({start, At}, I, Args) when is_integer(I) -> in_binary(I, 0, lists:nth(At, Args));
why({range, At}, {I, Len}, Args) when is_integer(I), is_integer(Len) -> in_binary(I, Len, lists:nth(At, Args));
why({range, _}, _, _) -> "not a valid {Start,Length} tuple";
why({_, _}, I, _) when not is_integer(I) -> "not an integer";
why(existing_atom, X, _) when is_list(X); is_binary(X) -> "not an already existing atom";
why(integer_text, X, _) when is_list(X); is_binary(X) -> "not a textual representation of an integer";
why(float_text, X, _) when is_list(X); is_binary(X) -> "not a textual representation of a float";
why(external_term, X, _) when is_binary(X) -> "invalid external representation of a term";
why(registered, X, _) when is_atom(X) -> "invalid registered name";
why(destination, X, _) when is_pid(X); is_reference(X) -> ok;
why(destination, _, _) -> "invalid destination";
why(table, _, _) -> "the table identifier does not refer to an existing ETS table";
why(list, [_ | _] = X, _) ->
    case is_proper(X) of
        true -> ok;
        false -> "not a list"
    end;
why(Kind, X, _) ->
    case is_kind(Kind, X) of
        true -> ok;
        false -> "not " ++ described(Kind)
    end.

in_binary(I, Len, B) when is_binary(B), (I < 0 orelse I > byte_size(B) orelse I + Len > byte_size(B) orelse I + Len < 0) ->
    "out of range";
in_binary(_, _, _) -> ok.

is_proper([_ | T]) -> is_proper(T);
is_proper(T) -> T =:= [].

is_kind(number, X) -> is_number(X);
is_kind(integer, X) -> is_integer(X);
is_kind(float, X) -> is_float(X);
is_kind(natural, X) -> is_integer(X) andalso X >= 0;
is_kind(arity, X) -> is_integer(X) andalso X >= 0;
is_kind(base, X) -> is_integer(X) andalso X >= 2 andalso X =< 36;
is_kind(atom, X) -> is_atom(X);
is_kind(list, X) -> is_list(X);
is_kind(nonempty_list, X) -> is_list(X) andalso X =/= [];
is_kind(character_list, X) -> is_list(X) andalso io_lib:char_list(X);
is_kind(tuple, X) -> is_tuple(X);
is_kind(map, X) -> is_map(X);
is_kind(binary, X) -> is_binary(X);
is_kind(nonempty_binary, X) -> is_binary(X) andalso X =/= <<>>;
is_kind(bitstring, X) -> is_bitstring(X);
is_kind(function, X) -> is_function(X);
is_kind(pid, X) -> is_pid(X);
is_kind(pid_or_port, X) -> is_pid(X) orelse is_port(X);
is_kind(reference, X) -> is_reference(X);
is_kind(iolist, X) ->
    try iolist_size(X) of
        _ -> true
    catch error:_ -> false
    end;
is_kind(_, _) -> false.

described(number) -> "a number";
described(integer) -> "an integer";
described(float) -> "a float";
described(natural) -> "a non-negative integer";
described(arity) -> "a valid arity";
described(base) -> "an integer in the range 2 through 36";
described(atom) -> "an atom";
described(list) -> "a list";
described(nonempty_list) -> "a nonempty list";
described(character_list) -> "a list of characters";
described(tuple) -> "a tuple";
described(map) -> "a map";
described(bitstring) -> "a bitstring";
described(nonempty_binary) -> "a nonempty binary";
described(function) -> "a fun";
described(pid) -> "a pid";
described(pid_or_port) -> "a pid or port";
described(reference) -> "a reference";
described(iolist) -> "an iodata term";
described(existing_atom) -> "a binary or list";
described(_) -> "a binary".
