%% Keeps the cookies: what two nodes must both know to talk to each other. This node's own is that of -setcookie Cookie, or
%% else of the file .erlang.cookie (auth_file); there may be others for single nodes.
-module(auth).
-behaviour(gen_server).

-export([start_link/0, get_cookie/0, get_cookie/1, set_cookie/1, set_cookie/2, sync_cookie/0, print/3]).
-export([is_auth/1, cookie/0, cookie/1, node_cookie/1, node_cookie/2]).
-export([init/1, handle_call/3, handle_cast/2]).

-record(cookies, {own, others = #{}}).

start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

get_cookie() -> ask_or(get_own, fun() -> nocookie end).

get_cookie(Node) when Node =:= node() -> get_cookie();
get_cookie(Node) -> ask_or({get, Node}, fun() -> nocookie end).

set_cookie(Cookie) -> ask_or({set_own, Cookie}, fun() -> error(distribution_not_started) end).

set_cookie(Node, Cookie) when Node =:= node() -> set_cookie(Cookie);
set_cookie(Node, Cookie) -> ask_or({set, Node, Cookie}, fun() -> error(distribution_not_started) end).

%% When the node gets its name: a cookie may have been set for that name before.
sync_cookie() -> gen_server:call(?MODULE, sync, infinity).

%% Has another node log something.
print(Node, Format, Args) -> catch gen_server:cast({?MODULE, Node}, {print, Format, Args}).

%% Older names

cookie() -> get_cookie().

cookie([Cookie]) -> set_cookie(Cookie);
cookie(Cookie) -> set_cookie(Cookie).

node_cookie([Node, Cookie]) -> node_cookie(Node, Cookie).

node_cookie(Node, Cookie) ->
    set_cookie(Node, Cookie),
    is_auth(Node).

is_auth(Node) ->
    case net_adm:ping(Node) of
        pong -> yes;
        pang -> no
    end.

ask_or(Request, Otherwise) ->
    case whereis(?MODULE) of
        undefined -> Otherwise();
        Pid -> gen_server:call(Pid, Request, infinity)
    end.

init([]) ->
    process_flag(trap_exit, true),
    {ok, from_command_line(init:get_argument(setcookie))}.

%% Cookies that are given twice count as not given.
from_command_line(error) -> #cookies{own = default()};
from_command_line({ok, Given}) ->
    Own = [Values || Values <- Given, length(Values) < 2],
    Others = lists:foldl(fun([Node, _], Map) when is_map_key(Node, Map) -> Map#{Node => none};
                            ([Node, Cookie], Map) -> Map#{Node => Cookie};
                            (_, Map) -> Map
                         end, #{}, Given),
    #cookies{own = case Own of [[Cookie]] -> list_to_atom(Cookie); _ -> default() end,
             others = maps:from_list([{list_to_atom(Node), list_to_atom(Cookie)} || {Node, Cookie} <- maps:to_list(Others), Cookie =/= none])}.

default() ->
    case init:get_argument(nocookie) of
        error -> auth_file:cookie();
        {ok, _} -> nocookie
    end.

handle_call(get_own, _, C) -> {reply, C#cookies.own, C};
handle_call({get, Node}, _, #cookies{own = Own, others = Others} = C) -> {reply, maps:get(Node, Others, Own), C};
handle_call({set_own, Cookie}, _, C) -> {reply, true, C#cookies{own = Cookie}};
handle_call({set, Node, Cookie}, _, #cookies{others = Others} = C) -> {reply, true, C#cookies{others = Others#{Node => Cookie}}};
handle_call(sync, _, #cookies{others = Others} = C) ->
    case maps:take(node(), Others) of
        {Cookie, Rest} -> {reply, true, C#cookies{own = Cookie, others = Rest}};
        error -> {reply, true, C}
    end.

%% Of other nodes: what they want to be seen here.
handle_cast({print, Format, Args}, C) ->
    error_logger:error_msg(Format, Args),
    {noreply, C};
handle_cast(_, C) -> {noreply, C}.
