%% A distribution module of somebody else: inet_tcp_dist, and a word when a connection is made.
-module(counting_tcp_dist).
-export([listen/2, accept/1, accept_connection/5, setup/5, close/1, select/1, address/0, is_node_name/1]).

listen(Name, Host) -> inet_tcp_dist:listen(Name, Host).
accept(Socket) -> inet_tcp_dist:accept(Socket).
accept_connection(Acceptor, Socket, Own, Allowed, Timeout) -> inet_tcp_dist:accept_connection(Acceptor,
    Socket, Own, Allowed, Timeout).
setup(Node, Type, Own, Names, Timeout) ->
    io:format(user, "~p carries~n", [?MODULE]),
    inet_tcp_dist:setup(Node, Type, Own, Names, Timeout).
close(Socket) -> inet_tcp_dist:close(Socket).
select(Node) -> inet_tcp_dist:select(Node).
address() -> inet_tcp_dist:address().
is_node_name(Node) -> inet_tcp_dist:is_node_name(Node).
