%% Distribution over TCP on IPv6: inet_tcp_dist with another family.
-module(inet6_tcp_dist).

-export([listen/2, accept/1, accept_connection/5, setup/5, close/1, select/1, address/0, is_node_name/1, setopts/2, getopts/2]).

-define(FAMILY, inet6_tcp).

select(Node) -> inet_tcp_dist:gen_select(?FAMILY, Node).
address() -> inet_tcp_dist:gen_address(?FAMILY).
listen(Name, Host) -> inet_tcp_dist:gen_listen(?FAMILY, Name, Host).
accept(Listen) -> inet_tcp_dist:gen_accept(?FAMILY, Listen).
accept_connection(Acceptor, Socket, Own, Allowed, Timeout) ->
    inet_tcp_dist:gen_accept_connection(?FAMILY, Acceptor, Socket, Own, Allowed, Timeout).
setup(Node, Type, Own, Names, Timeout) -> inet_tcp_dist:gen_setup(?FAMILY, Node, Type, Own, Names, Timeout).
close(Socket) -> ?FAMILY:close(Socket).
is_node_name(Node) -> inet_tcp_dist:is_node_name(Node).
setopts(Socket, Options) -> inet_tcp_dist:setopts(Socket, Options).
getopts(Socket, Options) -> inet_tcp_dist:getopts(Socket, Options).
