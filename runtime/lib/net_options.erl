%% Options of net_kernel's functions: which there are, what they default to, what is wrong with them.
-module(net_options).

-export([start/1, start/2, complete/1, monitor_nodes/1, monitor_nodes/2]).

-define(TICK_S, 60).
-define(INTENSITY, 4).

%% --- Becoming a node ---

start([Name]) when is_atom(Name) -> start([Name, longnames, 15000]);
start([Name, Names]) when is_atom(Name), is_atom(Names) -> start([Name, Names, 15000]);
start([Name, Names, TickMs]) when is_atom(Name), is_atom(Names), is_integer(TickMs), TickMs > 0 ->
    start(Name, #{name_domain => Names, net_ticktime => (TickMs * ?INTENSITY + 999) div 1000, net_tickintensity => ?INTENSITY}).

start(Name, Options) when is_atom(Name), is_map(Options) ->
    case [Pair || {Key, Value} = Pair <- maps:to_list(Options), not is_valid(Key, Value)] of
        [] -> erl_distribution:start(Options#{name => Name});
        [{Key, Value} | _] -> error({invalid_option, Key, Value}, [Name, Options])
    end;
start(Name, Options) when is_map(Options) -> error(invalid_name, [Name, Options]);
start(Name, Options) -> error(invalid_options, [Name, Options]).

is_valid(name_domain, Value) -> Value =:= shortnames orelse Value =:= longnames;
is_valid(net_ticktime, Value) -> is_integer(Value) andalso Value > 0;
is_valid(net_tickintensity, Value) -> is_integer(Value) andalso Value >= 4 andalso Value =< 1000;
is_valid(dist_listen, Value) -> is_boolean(Value);
is_valid(hidden, Value) -> is_boolean(Value);
is_valid(_, _) -> false.

%% With what the command line says. Times in milliseconds; net_ticktime becomes a multiple of net_tickintensity.
complete(#{name := Name} = Options) ->
    Seconds = maps:get(net_ticktime, Options, within(kernel_options:get(net_ticktime, ?TICK_S), 1, infinity, ?TICK_S)),
    Intensity = maps:get(net_tickintensity, Options, within(kernel_options:get(net_tickintensity, ?INTENSITY), 4, 1000, ?INTENSITY)),
    Listens = not net_listeners:wants_name(Name) andalso maps:get(dist_listen, Options, argument(dist_listen, "true") =/= "false"),
    Hidden = not Listens orelse maps:get(hidden, Options, argument(hidden, "false") =:= "true"),
    Options#{net_ticktime => (Seconds * 1000 + Intensity - 1) div Intensity * Intensity, net_tickintensity => Intensity,
             name_domain => maps:get(name_domain, Options, longnames), dist_listen => Listens, hidden => Hidden}.

within(Value, Least, Most, _) when is_integer(Value) -> min(max(Value, Least), Most); % a number is less than an atom
within(_, _, _, Default) -> Default.

argument(Flag, Default) ->
    case init:get_argument(Flag) of
        {ok, [[] | _]} -> "true";
        {ok, [[Value | _] | _]} -> Value;
        error -> Default
    end.

%% --- Hearing of nodes ---

monitor_nodes(Flag) -> monitor_nodes(Flag, [], monitor_nodes).

monitor_nodes(Flag, Options) ->
    try as_map(Options) of
        Map -> monitor_nodes(Flag, Options, {monitor_nodes, Map})
    catch error:_ -> problem(Flag, Options)
    end.

monitor_nodes(Flag, Options, What) ->
    try erlang:process_flag(What, Flag) of
        N when is_integer(N) -> ok
    catch error:_ -> problem(Flag, Options)
    end.

as_map(Map) when is_map(Map), not is_map_key(list, Map) -> Map;
as_map(List) when is_list(List) ->
    lists:foldl(fun({node_type, Type}, #{node_type := Other}) when Type =/= Other -> error(badarg);
                   ({node_type, Type}, Map) -> Map#{node_type => Type};
                   (Key, Map) when Key =:= nodedown_reason; Key =:= connection_id -> Map#{Key => true}
                end, #{list => true}, List).

problem(Flag, _) when not is_boolean(Flag) -> error;
problem(_, Options) when is_map(Options) ->
    Allowed = #{connection_id => [true, false], nodedown_reason => [true, false], node_type => [visible, hidden, all]},
    case [{Key, Value} || {Key, Values} <- maps:to_list(Allowed), {ok, Value} <- [maps:find(Key, Options)], not lists:member(Value, Values)] of
        [{Key, Value} | _] -> {error, {bad_option_value, #{Key => Value}}};
        [] -> {error, {unknown_options, maps:without(maps:keys(Allowed), Options)}}
    end;
problem(_, Options) when is_list(Options) ->
    Types = lists:usort([Option || {node_type, _} = Option <- Options]),
    case {Types, [Option || {node_type, Type} = Option <- Types, not lists:member(Type, [visible, hidden, all])]} of
        {[A, B | _], _} -> {error, {option_value_mismatch, [A, B]}};
        {_, [Bad | _]} -> {error, {bad_option_value, Bad}};
        _ -> {error, {unknown_options, [Option || Option <- Options, Option =/= nodedown_reason, not lists:member(Option, Types)]}}
    end;
problem(_, Options) -> {error, {invalid_options, Options}}.
