%% How a node gets its name, and the sockets it listens on: one for each distribution module of -proto_dist.
-module(net_listeners).

-export([start/3, select/2, module_for/3, ended/2, setopts/2, childspecs/0, without_place/1, wants_name/1, is_named_by_others/0,
         named_by_others/1, creation/0, next_creation/1]).

-include("net_kernel.hrl").
-include_lib("kernel/include/net_address.hrl").

-define(NAMED_BY_OTHERS, {erts_internal, dynamic_node_name}).
-define(LEAST_CREATION, 4).      % smaller ones have been used up by old nodes
-define(MOST_CREATION, 16#ffffffff).

%% {ok, Node, [#listener{}]} | {error, Reason}. Who is started from the command line (clean_halt) ends here when it cannot be.
start(Name, Names, #{clean_halt := CleanHalt, dist_listen := Listens}) ->
    case full_name(atom_to_list(Name), Names) of
        {ok, Node} ->
            case [Listener || Module <- modules(), {ok, Listener} <- [try_start(Module, Node, Listens, CleanHalt)]] of
                [] when CleanHalt -> halt(1);
                [] -> {error, badarg};
                Listeners -> {ok, Node, lists:reverse(Listeners)}
            end;
        error -> {error, badarg}
    end.

modules() ->
    Protocols = case init:get_argument(proto_dist) of
                    {ok, Given} -> lists:append(Given);
                    error -> ["inet_tcp"]
                end,
    [list_to_atom(Protocol ++ "_dist") || Protocol <- Protocols].

%% Processes that a distribution module needs.
childspecs() ->
    lists:append([case catch Module:childspecs() of
                      {ok, Specs} when is_list(Specs) -> Specs;
                      _ -> []
                  end || Module <- modules()]).

%% --- Names ---

full_name(Text, Names) ->
    {Name, At} = lists:splitwith(fun(C) -> C =/= $@ end, Text),
    case host(At, Names) of
        {ok, Host} ->
            case is_valid(Name, "^[0-9A-Za-z_\\-]+$") andalso is_valid(Host, "^[!-ÿ]*$") of
                true -> {ok, list_to_atom(Name ++ "@" ++ Host)};
                false -> invalid("Invalid node name!")
            end;
        error when Names =:= shortnames -> invalid("Can't set short node name!");
        error -> invalid("Can't set long node name!")
    end.

host([$@, First | Rest], shortnames) ->
    case lists:member($., [First | Rest]) of
        true -> error;
        false -> {ok, [First | Rest]}
    end;
host([$@, First | Rest], longnames) -> {ok, [First | Rest]};
host(_, shortnames) ->
    {ok, Host} = inet:gethostname(),
    {ok, hd(string:split(Host, "."))};
host(_, longnames) ->
    Long = net_adm:localhost(),
    case lists:member($., Long) of
        true -> {ok, Long};
        false -> error
    end.

is_valid(Text, Expression) -> re:run(Text, Expression, [unicode, {capture, none}]) =:= match.

invalid(What) ->
    error_logger:info_msg(What ++ "\nPlease check your configuration\n"),
    error.

%% A node that others name, each time it connects.
wants_name(Name) ->
    lists:takewhile(fun(C) -> C =/= $@ end, atom_to_list(Name)) =:= "undefined".

is_named_by_others() -> persistent_term:get(?NAMED_BY_OTHERS, false).

named_by_others(true) -> persistent_term:put(?NAMED_BY_OTHERS, true);
named_by_others(false) -> persistent_term:erase(?NAMED_BY_OTHERS).

creation() -> next_creation(os_random:integer(32) - 1).

next_creation(Creation) when Creation + 1 >= ?LEAST_CREATION, Creation < ?MOST_CREATION -> Creation + 1;
next_creation(_) -> ?LEAST_CREATION.

become(Node, Creation) when Creation < 0 -> become(Node, creation());
become(Node, _) when node() =:= Node -> ok; % by the module before
become(Node, Creation) ->
    try erlang:setnode(Node, Creation) of
        true -> ok
    catch error:_ -> error
    end.

%% --- Listening ---

try_start(Module, Node, Listens, CleanHalt) ->
    try start_one(Module, Node, Listens) of
        {ok, Listener} ->
            auth:sync_cookie(),
            {ok, Listener};
        error -> failed(Module, "invalid node name: " ++ atom_to_list(Node), CleanHalt);
        {error, duplicate_name} -> failed(Module, "the name " ++ atom_to_list(Node) ++ " seems to be in use by another Erlang node", CleanHalt);
        {error, Reason} -> failed(Module, io_lib:format("register/listen error: ~p", [Reason]), CleanHalt)
    catch
        error:undef -> failed(Module, "not supported", CleanHalt);
        _:Reason -> failed(Module, io_lib:format("register/listen error: ~p", [Reason]), CleanHalt)
    end.

start_one(Module, Node, true) ->
    {node, Name, Host} = dist_util:split_node(Node),
    case listen(Module, list_to_atom(Name), Host) of
        {ok, {Socket, Address, Creation}} ->
            case become(Node, Creation) of
                ok -> {ok, #listener{socket = Socket, address = Address, acceptor = Module:accept(Socket), module = Module}};
                error ->
                    Module:close(Socket),
                    error
            end;
        Error -> Error
    end;
start_one(Module, Node, false) ->
    Done = case wants_name(Node) of
               true -> named_by_others(true);
               false -> become(Node, creation())
           end,
    case Done of
        ok -> {ok, #listener{address = Module:address(), module = Module}};
        error -> error
    end.

listen(Module, Name, Host) ->
    _ = code:ensure_loaded(Module),
    case erlang:function_exported(Module, listen, 2) of
        true -> Module:listen(Name, Host);
        false -> Module:listen(Name)
    end.

failed(Module, Why, CleanHalt) ->
    Protocol = lists:sublist(atom_to_list(Module), length(atom_to_list(Module)) - length("_dist")),
    Text = ["Protocol '", Protocol, "': ", Why, "\n"],
    case CleanHalt of
        true -> io:put_chars(standard_error, Text);
        false -> error_logger:info_msg(lists:flatten(Text))
    end,
    failed.

%% --- Later ---

%% The one whose module reaches the node.
select(Node, Listeners) ->
    case lists:search(fun(#listener{module = Module}) -> Module:select(Node) end, Listeners) of
        {value, Listener} -> {ok, Listener};
        false -> error
    end.

module_for(Family, Protocol, Listeners) ->
    case [Module || #listener{acceptor = Acceptor, module = Module, address = #net_address{family = F, protocol = P}} <- Listeners,
                    Acceptor =/= undefined, F =:= Family, P =:= Protocol] of
        [Module | _] -> {ok, Module};
        [] -> error
    end.

without_place(#net_address{} = Address) -> Address#net_address{address = undefined, host = undefined}.

%% A process or port that has ended. An acceptor is started anew.
ended(Pid, Listeners) ->
    case {lists:keymember(Pid, #listener.socket, Listeners), lists:keyfind(Pid, #listener.acceptor, Listeners)} of
        {true, _} -> listen;
        {false, #listener{socket = Socket, module = Module} = L} ->
            {ok, lists:keyreplace(Pid, #listener.acceptor, Listeners, L#listener{acceptor = Module:accept(Socket)})};
        {false, false} -> unknown
    end.

%% Of sockets that listen, and of those to come.
setopts(Options, Listeners) ->
    case [Answer || #listener{socket = Socket, module = Module} <- Listeners, Socket =/= undefined,
                    Answer <- [try Module:setopts(Socket, Options) catch error:undef -> {error, enotsup} end], Answer =/= ok] of
        [] ->
            lists:foreach(fun(Key) -> kernel_options:set(Key, merged(Options, kernel_options:get(Key, []))) end,
                          [inet_dist_connect_options, inet_dist_listen_options]),
            case lists:keyfind(nodelay, 1, Options) of
                {_, Value} when is_boolean(Value) -> kernel_options:set(dist_nodelay, Value);
                _ -> ok
            end;
        [Error | _] -> Error
    end.

merged(New, Old) -> New ++ [Option || Option <- Old, not lists:keymember(element(1, Option), 1, New)].
