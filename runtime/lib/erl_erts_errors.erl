%% SPDX-License-Identifier: Apache-2.0
%% Why a built-in function refused its arguments. Each function has a row of what its arguments must be; those
%% that are not are named. Only where no OTP is installed, whose module of this name says more.
-module(erl_erts_errors).

-export([format_error/2, format_bs_fail/2]).

-spec format_error(term(), [tuple()]) -> #{pos_integer() | general => binary()}.
format_error(Reason, Stack) -> in_binaries(faults(Reason, Stack)).

in_binaries(Faults) -> maps:map(fun(_, Text) -> unicode:characters_to_binary(Text) end, Faults).

faults({badkey, _}, [{_, map_get, [_, _], _} | _]) -> #{1 => "not present in map"};
faults({badmap, _}, [{_, _, Args, _} | _]) when is_list(Args) -> #{length(Args) => "not a map"};
faults(system_limit, _) -> #{};
faults(_, [{M, F, Args, Location} | _]) when is_list(Args) ->
    case caused(M, F, Args, maps:get(cause, proplists:get_value(error_info, Location, #{}), none)) of
        unknown -> explain(kinds(M, F, length(Args)), Args);
        Faults -> Faults
    end;
faults(_, _) -> #{}.

%% What only the machine could tell.
caused(erlang, register, _, registered_name) -> #{2 => "this process or port already has a name"};
caused(erlang, register, _, notalive) -> #{2 => "the pid does not refer to an existing process"};
caused(erlang, register, [Name, Who], none) when is_atom(Name), Name =/= undefined, is_pid(Who)
    orelse is_port(Who), node(Who) =:= node() ->
    #{1 => "name is in use"};
caused(erlang, process_flag, [Pid, _, _], badtype) when is_pid(Pid) ->
    #{1 => "the pid does not refer to an existing process"};
caused(erlang, process_flag, [_, _, _], badtype) -> #{1 => "not a pid"};
caused(erlang, F, Args, badopt) when F =:= send; F =:= send_nosuspend; F =:= suspend_process;
    F =:= link; F =:= exit; F =:= exit_signal; F =:= monitor ->
    #{length(Args) => option_fault(lists:last(Args))};
caused(erlang, processes_next, _, _) -> #{1 => "invalid processes iterator"};
caused(erlang, alias, [Options], _) -> #{1 => option_fault(Options)};
caused(erlang, suspend_process, [Pid | _], none) when is_pid(Pid), Pid =/= self(), node(Pid) =:= node() ->
    #{1 => "the pid does not refer to an existing process"};
caused(_, _, _, _) -> unknown.

option_fault([_ | _] = Options) ->
    case is_proper(Options) of
        true -> "invalid option in list";
        false -> "not a proper list"
    end;
option_fault(_) -> "not a list".

%% A segment of a binary that cannot be built: the cause tells its place, type, and what is wrong with which
%% term.
-spec format_bs_fail(term(), [tuple()]) -> #{general | reason => binary()}.
format_bs_fail(_, [{_, _, _, Location} | _]) ->
    case proplists:get_value(error_info, Location, #{}) of
        #{cause := {Position, Type, What, Value}} = Info ->
            Show = maps:get(pretty_printer, Info, fun in_short/1),
            Text = ["segment ", integer_to_list(maps:get(override_segment_position, Info, Position)),
                " of type '", atom_to_list(Type), "': ",
                    segment_fault(What, Type, Show(Value), Value)],
            #{general => iolist_to_binary(Text), reason => <<"construction of binary failed">>};
        _ -> #{}
    end.

in_short(N) when is_integer(N) ->
    case integer_to_list(N) of
        Text when length(Text) < 48 -> Text;
        Text -> [lists:sublist(Text, 12), "...", lists:nthtail(length(Text) - 12, Text)]
    end;
in_short(B) when is_bitstring(B), byte_size(B) >= 16 ->
    Skipped = byte_size(B) - 10,
    <<First:8/binary, _:Skipped/binary, Last/bits>> = B,
    [First1, Last1] = [lists:flatten(io_lib:format("~w", [X])) || X <- [First, Last]],
    [string:trim(First1, trailing, ">"), "...,", string:trim(Last1, leading, "<")];
in_short(X) -> io_lib:format("~P", [X, 20]).

segment_fault(size, _, Text, N) when is_integer(N), N >= 0 -> ["the size ", Text, " is too large"];
segment_fault(size, _, Text, _) -> ["expected a non-negative integer as size but got: ", Text];
segment_fault(unit, _, Text, _) ->
    ["the size of the value ", Text, " is not a multiple of the unit for the segment"];
segment_fault(short, _, Text, _) -> ["the value ", Text, " is shorter than the size of the segment"];
segment_fault(invalid, _, Text, _) -> ["expected one of the supported sizes 16, 32, or 64 but got: ", Text];
segment_fault(no_float, _, Text, _) -> ["the value ", Text, " is outside the range expressible as a float"];
segment_fault(type, integer, Text, _) -> ["expected an integer but got: ", Text];
segment_fault(type, binary, Text, _) -> ["expected a binary but got: ", Text];
segment_fault(type, float, Text, _) -> ["expected a float or an integer but got: ", Text];
segment_fault(type, Utf, Text, _) ->
    ["expected a non-negative integer encodable as ", atom_to_list(Utf), " but got: ", Text].

%% The arguments that are not what Kinds asks of them.
explain(Kinds, Args) ->
    Numbered = lists:zip3(lists:seq(1, length(Kinds)), Kinds, lists:sublist(Args, length(Kinds))),
    maps:from_list([{N, Why} || {N, Kind, Arg} <- Numbered, Why <- [why(Kind, Arg, Args)], Why =/= ok]).

%% The rows; `any` needs nothing.
kinds(erlang, abs, 1) -> [number];
kinds(erlang, F, 1) when F =:= adler32; F =:= crc32 -> [iodata];
kinds(erlang, F, 2) when F =:= adler32; F =:= crc32 -> [natural, iodata];
kinds(erlang, F, 3) when F =:= adler32_combine; F =:= crc32_combine -> [natural, natural, natural];
kinds(erlang, append_element, 2) -> [tuple];
kinds(erlang, apply, 2) -> [function, list];
kinds(erlang, apply, 3) -> [atom, atom, list];
kinds(erlang, atom_to_binary, N) -> lists:sublist([atom, encoding_option], N);
kinds(erlang, atom_to_list, 1) -> [atom];
kinds(erlang, binary_part, 2) -> [binary, {range, 1}];
kinds(erlang, binary_part, 3) -> [binary, {start, 1}, {size, 2, 1}];
kinds(erlang, binary_to_atom, 1) -> [utf8];
kinds(erlang, binary_to_atom, 2) -> [utf8, encoding];
kinds(erlang, binary_to_existing_atom, N) -> lists:sublist([existing_atom, encoding], N);
kinds(erlang, binary_to_float, 1) -> [float_text];
kinds(erlang, binary_to_integer, 1) -> [integer_text];
kinds(erlang, binary_to_integer, 2) -> [{based, integer_text}, base];
kinds(erlang, binary_to_list, _) -> [binary];
kinds(erlang, binary_to_term, _) -> [external_term];
kinds(erlang, bit_size, 1) -> [bitstring];
kinds(erlang, byte_size, 1) -> [bitstring];
kinds(erlang, cancel_timer, _) -> [reference];
kinds(erlang, ceil, 1) -> [number];
kinds(erlang, check_process_code, _) -> [pid];
kinds(erlang, convert_time_unit, 3) -> [integer, time_unit, time_unit];
kinds(erlang, delete_element, 2) -> [{index, 2}, tuple];
kinds(erlang, demonitor, _) -> [reference];
kinds(erlang, element, 2) -> [{index, 2}, tuple];
kinds(erlang, display_string, 2) -> [device, characters];
kinds(erlang, exit, 2) -> [pid];
kinds(erlang, exit, 3) -> [destination];
kinds(erlang, exit_signal, _) -> [destination];
kinds(erlang, external_size, 2) -> [any, list];
kinds(erlang, float, 1) -> [number];
kinds(erlang, floor, 1) -> [number];
kinds(erlang, float_to_binary, 1) -> [float];
kinds(erlang, float_to_binary, 2) -> [float, {options, 1}];
kinds(erlang, float_to_list, 1) -> [float];
kinds(erlang, float_to_list, 2) -> [float, {options, 1}];
kinds(erlang, fun_info, 1) -> [function];
kinds(erlang, fun_info, 2) -> [function];
kinds(erlang, garbage_collect, 1) -> [pid];
kinds(erlang, group_leader, 2) -> [pid, pid];
kinds(erlang, hd, 1) -> [nonempty_list];
kinds(erlang, hibernate, 3) -> [atom, atom, list];
kinds(erlang, insert_element, 3) -> [{new_index, 2}, tuple];
kinds(erlang, integer_to_binary, 1) -> [integer];
kinds(erlang, integer_to_binary, 2) -> [integer, base];
kinds(erlang, integer_to_list, 1) -> [integer];
kinds(erlang, integer_to_list, 2) -> [integer, base];
kinds(erlang, iolist_size, 1) -> [iodata];
kinds(erlang, iolist_to_binary, 1) -> [iodata];
kinds(erlang, iolist_to_iovec, 1) -> [iodata];
kinds(erlang, is_function, 2) -> [any, arity];
kinds(erlang, is_integer, 3) -> [any, integer, integer];
kinds(erlang, is_record, 3) -> [any, atom, integer];
kinds(erlang, length, 1) -> [list];
kinds(erlang, link, 1) -> [pid];
kinds(erlang, link, 2) -> [linked];
kinds(erlang, list_to_atom, 1) -> [character_list];
kinds(erlang, list_to_binary, 1) -> [iolist];
kinds(erlang, list_to_bitstring, 1) -> [iolist];
kinds(erlang, list_to_existing_atom, 1) -> [existing_atom];
kinds(erlang, list_to_float, 1) -> [float_text];
kinds(erlang, list_to_integer, 1) -> [integer_text];
kinds(erlang, list_to_integer, 2) -> [{based, integer_text}, base];
kinds(erlang, list_to_pid, 1) -> [pid_text];
kinds(erlang, list_to_tuple, 1) -> [list];
kinds(erlang, load_module, 2) -> [atom, binary];
kinds(erlang, localtime_to_universaltime, 1) -> [local_time];
kinds(erlang, make_fun, 3) -> [atom, atom, arity];
kinds(erlang, make_tuple, 2) -> [size];
kinds(erlang, map_size, 1) -> [map];
kinds(erlang, md5, 1) -> [iodata];
kinds(erlang, monitor, 2) -> [monitor_type, pid];
kinds(erlang, monotonic_time, 1) -> [time_unit];
kinds(erlang, phash2, 2) -> [any, positive];
kinds(erlang, pid_to_list, 1) -> [pid];
kinds(erlang, process_flag, 2) -> [process_flag, {value, process_flag}];
kinds(erlang, process_info, 1) -> [pid];
kinds(erlang, process_info, 2) -> [pid, {value, item}];
kinds(erlang, ref_to_list, 1) -> [reference];
kinds(erlang, register, 2) -> [new_name, pid_or_port];
kinds(erlang, round, 1) -> [number];
kinds(erlang, send, _) -> [destination];
kinds(erlang, send_after, _) -> [natural, pid_or_atom];
kinds(erlang, setelement, 3) -> [{index, 2}, tuple];
kinds(erlang, size, 1) -> [tuple_or_binary];
kinds(erlang, spawn, 1) -> [function];
kinds(erlang, spawn, 3) -> [atom, atom, list];
kinds(erlang, spawn_link, 1) -> [function];
kinds(erlang, spawn_link, 3) -> [atom, atom, list];
kinds(erlang, spawn_monitor, 1) -> [function];
kinds(erlang, spawn_monitor, 3) -> [atom, atom, list];
kinds(erlang, spawn_opt, 2) -> [function, {value, spawn_option}];
kinds(erlang, spawn_opt, 4) -> [atom, atom, list, {value, spawn_option}];
kinds(erlang, split_binary, 2) -> [binary, {position, 1}];
kinds(erlang, start_timer, _) -> [natural, pid_or_atom];
kinds(erlang, statistics, 1) -> [statistics_item];
kinds(erlang, suspend_process, _) -> [other_pid];
kinds(erlang, system_flag, 2) -> [system_flag];
kinds(erlang, system_info, 1) -> [system_info_item];
kinds(erlang, system_time, 1) -> [time_unit];
kinds(erlang, term_to_binary, 2) -> [any, {options, 0}];
kinds(erlang, tl, 1) -> [nonempty_list];
kinds(erlang, trunc, 1) -> [number];
kinds(erlang, tuple_size, 1) -> [tuple];
kinds(erlang, tuple_to_list, 1) -> [tuple];
kinds(erlang, unique_integer, 1) -> [modifiers];
kinds(erlang, unlink, 1) -> [pid];
kinds(erlang, unregister, 1) -> [registered];
kinds(erlang, whereis, 1) -> [atom];
kinds(atomics, new, 2) -> [positive, list];
kinds(atomics, _, N) when N >= 2 -> [reference, place];
kinds(counters, new, 2) -> [positive, list];
kinds(counters, _, N) when N >= 2 -> [any, place];
kinds(persistent_term, _, 1) -> [persistent_key];
kinds(_, _, _) -> [].

why(any, _, _) -> ok;
why({index, At}, I, Args) when is_integer(I) ->
    Tuple = lists:nth(At, Args),
    case is_tuple(Tuple) andalso (I < 1 orelse I > tuple_size(Tuple)) of
        true -> "out of range";
        false -> ok
    end;
why({new_index, At}, I, Args) when is_integer(I) ->
    Tuple = lists:nth(At, Args),
    case is_tuple(Tuple) andalso (I < 1 orelse I > tuple_size(Tuple) + 1) of
        true -> "out of range";
        false -> ok
    end;
why({size, StartAt, At}, N, Args) when is_integer(N) ->
    case in_binary(lists:nth(StartAt, Args), 0, lists:nth(At, Args)) of
        ok -> in_binary(lists:nth(StartAt, Args), N, lists:nth(At, Args));
        _ -> ok
    end;
why({based, Kind}, X, [_, Base] = Args) ->
    case is_kind(base, Base) of
        true -> why(Kind, X, Args);
        false -> ok
    end;
why({options, _}, X, _) when not is_list(X) -> "not a list";
why({options, 0}, _, _) -> "invalid option in list";
why({options, 1}, _, [X | _]) -> if is_float(X) -> "invalid option in list"; true -> ok end;
why({value, spawn_option}, X, _) when not is_list(X) -> "not a list";
why({value, spawn_option}, _, Args) ->
    case explain(lists:sublist([atom, atom, list], length(Args) - 1), lists:droplast(Args)) of
        _ when length(Args) =:= 2, not is_function(hd(Args)) -> ok;
        Faults when length(Args) =:= 4, map_size(Faults) > 0 -> ok;
        _ -> "invalid spawn option"
    end;
why({value, item}, _, [Pid | _]) -> if is_pid(Pid) -> "invalid item or item list"; true -> ok end;
why({value, process_flag}, _, [Flag | _]) ->
    case why(process_flag, Flag, []) of
        ok -> "invalid value for this process flag";
        _ -> ok
    end;
why({position, At}, I, Args) when is_integer(I) -> in_binary(I, 0, lists:nth(At, Args));
why({start, At}, I, Args) when is_integer(I) -> in_binary(I, 0, lists:nth(At, Args));
why({range, At}, {I, Len}, Args) when is_integer(I), is_integer(Len) ->
    in_binary(I, Len, lists:nth(At, Args));
why({range, _}, _, _) -> "not a valid {Start,Length} tuple";
why({_, _}, I, _) when not is_integer(I) -> "not an integer";
why(existing_atom, X, _) when is_list(X); is_binary(X) -> "not an already existing atom";
why(integer_text, X, _) when is_list(X); is_binary(X) -> "not a textual representation of an integer";
why(float_text, X, _) when is_list(X); is_binary(X) -> "not a textual representation of a float";
why(external_term, X, _) when is_binary(X) -> "invalid external representation of a term";
why(registered, X, _) when is_atom(X) -> "invalid registered name";
why(registered, _, _) -> "not an atom";
why(process_flag, F, _) ->
    case lists:member(F, [async_dist, error_handler, fullsweep_after, max_heap_size, message_queue_data,
        min_bin_vheap_size,
                          min_heap_size, monitor_nodes, priority, save_calls, sensitive, trap_exit]) of
        true -> ok;
        false -> "invalid process flag"
    end;
why(new_name, undefined, _) -> "'undefined' is not a valid name";
why(new_name, X, _) -> why(atom, X, []);
why(monitor_type, X, _) when X =:= process; X =:= port; X =:= time_offset -> ok;
why(monitor_type, _, _) -> "invalid monitor type";
why(statistics_item, _, _) -> "invalid statistics item";
why(system_flag, _, _) -> "invalid system flag";
why(system_info_item, _, _) -> "invalid system info item";
why(local_time, _, _) -> "not a valid local time";
why(persistent_key, _, _) -> "no persistent term stored with this key";
why(pid_text, X, _) when is_list(X) -> "not a textual representation of a pid";
why(pid_text, _, _) -> "not a list";
why(other_pid, X, _) when X =:= self() -> "the pid refers to the current process";
why(other_pid, X, _) -> why(pid, X, []);
why(modifiers, [_ | _], _) -> "invalid modifier";
why(modifiers, X, _) -> why(list, X, []);
why(utf8, X, _) when is_binary(X) ->
    case unicode:characters_to_list(X) of
        L when is_list(L) -> ok;
        _ -> "invalid UTF8 encoding"
    end;
why(encoding, X, _) when X =:= latin1; X =:= utf8; X =:= unicode -> ok;
why(encoding, _, _) -> "not one of the atoms: latin1, utf8, or unicode";
why(encoding_option, X, _) when X =:= latin1; X =:= utf8; X =:= unicode -> ok;
why(encoding_option, _, _) -> "is an invalid encoding option";
why(time_unit, U, _) ->
    case lists:member(U, [second, millisecond, microsecond, nanosecond, native, perf_counter, seconds,
        milli_seconds,
                          micro_seconds, nano_seconds]) orelse is_integer(U) andalso U > 0 of
        true -> ok;
        false -> "invalid time unit"
    end;
why(size, N, _) -> if is_integer(N), N >= 0 -> ok; true -> "out of range" end;
why(place, N, _) when is_integer(N) -> "out of range";
why(Kind, N, _) when is_integer(N), N < 0, Kind =:= natural orelse Kind =:= arity -> "out of range";
why(positive, N, _) when is_integer(N) -> if N > 0 -> ok; true -> "out of range" end;
why(device, X, _) when X =:= stdin; X =:= stdout; X =:= stderr -> ok;
why(device, _, _) -> "not a valid device type";
why(characters, X, _) when is_binary(X) -> ok;
why(characters, X, _) -> why(character_list, X, []);
why(linked, X, _) when is_pid(X); is_port(X) -> ok;
why(linked, _, _) -> "not a pid or a port";
why(destination, X, _) when is_pid(X); is_reference(X) -> ok;
why(destination, _, _) -> "invalid destination";
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

in_binary(I, Len, B) when is_binary(B), (I < 0 orelse I > byte_size(B) orelse I + Len > byte_size(B)
    orelse I + Len < 0) ->
    "out of range";
in_binary(_, _, _) -> ok.

is_proper([_ | T]) -> is_proper(T);
is_proper(T) -> T =:= [].

is_kind(tuple_or_binary, X) -> is_tuple(X) orelse is_bitstring(X);
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
is_kind(bitstring, X) -> is_bitstring(X);
is_kind(function, X) -> is_function(X);
is_kind(pid, X) -> is_pid(X);
is_kind(pid_or_port, X) -> is_pid(X) orelse is_port(X);
is_kind(reference, X) -> is_reference(X);
is_kind(pid_or_atom, X) -> is_pid(X) orelse is_atom(X);
is_kind(iolist, X) when not is_list(X) -> false;
is_kind(Kind, X) when Kind =:= iolist; Kind =:= iodata ->
    try iolist_size(X) of
        _ -> true
    catch error:_ -> false
    end;
is_kind(_, _) -> false.

described(number) -> "a number";
described(integer) -> "an integer";
described(float) -> "a float";
described(natural) -> "an integer";
described(arity) -> "an integer";
described(positive) -> "an integer";
described(place) -> "an integer";
described(base) -> "an integer in the range 2 through 36";
described(atom) -> "an atom";
described(list) -> "a list";
described(nonempty_list) -> "a nonempty list";
described(character_list) -> "a list of characters";
described(tuple) -> "a tuple";
described(tuple_or_binary) -> "tuple or binary";
described(map) -> "a map";
described(bitstring) -> "a bitstring";
described(function) -> "a fun";
described(pid) -> "a pid";
described(pid_or_port) -> "a pid or port";
described(reference) -> "a reference";
described(iodata) -> "an iodata term";
described(iolist) -> "an iolist term";
described(pid_or_atom) -> "a pid or an atom";
described(utf8) -> "a binary";
described(existing_atom) -> "a binary or list";
described(_) -> "a binary".
