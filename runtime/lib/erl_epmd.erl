%% Client of epmd, the service that tells the ports of the nodes on a host (Erlang/OTP, "EPMD Protocol"). The process keeps the
%% connection that stands for this node's name; it registers again when epmd has been away. -epmd_module names another module
%% with these functions. Where no epmd runs, the first node starts one: epmd_service.
-module(erl_epmd).
-behaviour(gen_server).

-export([start/0, start_link/0, stop/0, port_please/2, port_please/3, listen_port_please/2, names/0, names/1,
         register_node/2, register_node/3, address_please/3, port/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-include_lib("kernel/include/dist.hrl").

-define(PORT, 4369).
-define(ANSWER_MS, 10000).
-define(RETRY_MS, 2000).

-define(ALIVE2_REQUEST, $x).
-define(ALIVE2_ANSWER, $y).        % creation of 16 bits
-define(ALIVE2_LONG_ANSWER, $v).   % of 32 bits
-define(PORT2_REQUEST, $z).
-define(PORT2_ANSWER, $w).
-define(NAMES_REQUEST, $n).
-define(NORMAL_NODE, $M).
-define(TCP, 0).

%% What is registered; without a socket while epmd is away.
-record(epmd, {socket = none, name = "", port = -1, family = inet}).

start() -> gen_server:start({local, ?MODULE}, ?MODULE, [], []).
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).
stop() -> gen_server:call(?MODULE, stop, infinity).

%% --- Questions about nodes ---

port_please(Name, Host) -> port_please(Name, Host, infinity).

port_please(Name, Host, Timeout) ->
    case listen_port_please(Name, Host) of
        {ok, 0} ->
            case address(Host, Timeout) of
                {ok, Address} -> ask_for_port(Name, Address, Timeout);
                _ -> noport
            end;
        {ok, Port} -> {port, Port, ?ERL_DIST_VER_LOW}
    end.

%% The port all nodes listen on, if -erl_epmd_port gives one; 0: any.
listen_port_please(_Name, _Host) ->
    case init:get_argument(erl_epmd_port) of
        {ok, [[Text]]} ->
            try {ok, list_to_integer(Text)}
            catch error:_ -> {ok, 0}
            end;
        _ -> {ok, 0}
    end.

address_please(_Name, Host, Family) -> inet:getaddr(Host, Family).

names() ->
    {ok, Host} = inet:gethostname(),
    names(Host).

names(Host) ->
    case address(Host, infinity) of
        {ok, Address} -> ask_for_names(Address);
        Error -> Error
    end.

address(Host, Timeout) when is_atom(Host) -> address(atom_to_list(Host), Timeout);
address(Host, _) when is_list(Host) -> inet:getaddr(Host, inet);
address(Address, _) -> {ok, Address}.

ask_for_port(Name, Address, Timeout) ->
    case ask(Address, [?PORT2_REQUEST, text(Name)], Timeout) of
        {ok, <<?PORT2_ANSWER, 0, Port:16, _Type, ?TCP, High:16, Low:16, _/binary>>} -> {port, Port, version(Low, High)};
        {ok, <<?PORT2_ANSWER, _, _/binary>>} -> noport;
        {ok, <<>>} -> closed;
        {ok, Garbage} -> {error, {garbage_from_epmd, binary_to_list(Garbage)}};
        {error, _} -> noport
    end.

%% The highest that both speak; 0: there is none.
version(Low, High) when Low > ?ERL_DIST_VER_HIGH; High < ?ERL_DIST_VER_LOW - 1 -> 0;
version(_, High) -> min(High, ?ERL_DIST_VER_HIGH).

ask_for_names(Address) ->
    Port = port(),
    case ask(Address, [?NAMES_REQUEST], infinity) of
        {ok, <<Port:32, Lines/binary>>} -> {ok, names_in(string:split(binary_to_list(Lines), "\n", all), [])};
        {ok, <<>>} -> {ok, []};
        _ -> {error, address}
    end.

names_in([Line | Rest], Names) ->
    case string:lexemes(Line, " ") of
        ["name", Name, "at", "port", Port] -> names_in(Rest, [{Name, list_to_integer(Port)} | Names]);
        _ -> names_in(Rest, Names)
    end;
names_in([], Names) -> Names.

%% epmd closes the connection behind its answer.
ask(Address, Request, Timeout) ->
    case connect(Address, Timeout) of
        {ok, Socket} ->
            try
                ok = gen_tcp:send(Socket, <<(iolist_size(Request)):16, (iolist_to_binary(Request))/binary>>),
                received(Socket, <<>>)
            catch error:{badmatch, Error} -> Error
            after gen_tcp:close(Socket)
            end;
        Error -> Error
    end.

received(Socket, Sofar) ->
    case gen_tcp:recv(Socket, 0, ?ANSWER_MS) of
        {ok, Bytes} -> received(Socket, <<Sofar/binary, Bytes/binary>>);
        {error, closed} -> {ok, Sofar};
        Error -> Error
    end.

connect(Address, Timeout) ->
    Family = case tuple_size(Address) of 4 -> inet; 8 -> inet6 end,
    gen_tcp:connect(Address, port(), [Family, binary, {active, false}, {packet, raw}], Timeout).

port() ->
    case init:get_argument(epmd_port) of
        {ok, [[Text | _] | _]} -> list_to_integer(Text);
        _ -> ?PORT
    end.

text(Name) when is_atom(Name) -> atom_to_list(Name);
text(Name) -> Name.

%% --- This node's name ---

register_node(Name, Port) -> register_node(Name, Port, inet).

register_node(Name, Port, inet_tcp) -> register_node(Name, Port, inet);
register_node(Name, Port, inet6_tcp) -> register_node(Name, Port, inet6);
register_node(Name, Port, Family) -> gen_server:call(?MODULE, {register, Name, Port, Family}, infinity).

init([]) -> {ok, #epmd{}}.

handle_call({register, Name, Port, Family}, _, #epmd{socket = none} = E) ->
    Wanted = E#epmd{name = text(Name), port = Port, family = Family},
    case alive(Wanted, fun epmd_service:start/0) of
        {ok, Socket, Creation} -> {reply, {ok, Creation}, Wanted#epmd{socket = Socket}};
        Error ->
            case init:get_argument(erl_epmd_port) of
                {ok, _} -> {reply, {ok, -1}, Wanted}; % others know the port without epmd
                error -> {reply, Error, E}
            end
    end;
handle_call({register, _, _, _}, _, E) -> {reply, {error, already_registered}, E};
handle_call(client_info_req, _, E) -> {reply, {ok, {r4, E#epmd.name, E#epmd.port}}, E};
handle_call(stop, _, E) -> {stop, shutdown, ok, E}.

handle_cast(_, E) -> {noreply, E}.

handle_info({tcp_closed, Socket}, #epmd{socket = Socket} = E) ->
    retry_later(),
    {noreply, E#epmd{socket = none}};
handle_info(reconnect, #epmd{socket = none, port = Port} = E) when Port >= 0 ->
    case alive(E, fun() -> none end) of
        {ok, Socket, _Creation} -> {noreply, E#epmd{socket = Socket}};
        _ ->
            retry_later(),
            {noreply, E}
    end;
handle_info(_, E) -> {noreply, E}.

retry_later() -> erlang:send_after(?RETRY_MS, self(), reconnect).

%% Start: what to do where nothing answers; then it is tried once more.
alive(#epmd{name = Name, port = Port, family = Family} = E, Start) ->
    case connect(case Family of inet -> {127, 0, 0, 1}; inet6 -> {0, 0, 0, 0, 0, 0, 0, 1} end, infinity) of
        {ok, Socket} ->
            Request = <<?ALIVE2_REQUEST, Port:16, ?NORMAL_NODE, ?TCP, ?ERL_DIST_VER_HIGH:16, ?ERL_DIST_VER_LOW:16,
                        (length(Name)):16, (list_to_binary(Name))/binary, 0:16>>,
            registered(gen_tcp:send(Socket, <<(byte_size(Request)):16, Request/binary>>), Socket);
        {error, econnrefused} = Error ->
            case Start() of
                started -> alive(E, fun() -> none end);
                none -> Error
            end;
        Error -> Error
    end.

registered(ok, Socket) ->
    case creation(Socket) of
        {ok, Creation} ->
            ok = inet:setopts(Socket, [{active, true}]), % tells when epmd goes away
            {ok, Socket, Creation};
        Error ->
            gen_tcp:close(Socket),
            Error
    end;
registered(Error, Socket) ->
    gen_tcp:close(Socket),
    Error.

creation(Socket) ->
    case gen_tcp:recv(Socket, 4, ?ANSWER_MS) of
        {ok, <<?ALIVE2_ANSWER, 0, Creation:16>>} -> {ok, Creation};
        {ok, <<?ALIVE2_LONG_ANSWER, 0, Upper:16>>} ->
            case gen_tcp:recv(Socket, 2, ?ANSWER_MS) of
                {ok, <<Lower:16>>} -> {ok, Upper bsl 16 bor Lower};
                {error, _} -> {error, epmd_close}
            end;
        {ok, <<Answer, _, _:16>>} when Answer =:= ?ALIVE2_ANSWER; Answer =:= ?ALIVE2_LONG_ANSWER -> {error, duplicate_name};
        {ok, Garbage} -> {error, {garbage_from_epmd, binary_to_list(Garbage)}};
        {error, timeout} -> {error, no_reg_reply_from_epmd};
        {error, _} -> {error, epmd_close}
    end.
