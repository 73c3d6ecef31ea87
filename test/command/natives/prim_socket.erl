%% Native functions of OTP's prim_socket that OTP 29 has, and some that it needs.
-module(prim_socket).
-export([nif_supports/1, nif_open/4, nif_bind/2, nif_listen/2, nif_accept/2, nif_connect/1,
    nif_connect/3, nif_sockname/1, nif_recv/4, nif_sendv/3, nif_sendmmsg/4, nif_recvmmsg/6,
    nif_getopt/3, nif_getopt/5, nif_setopt/5, nif_peeloff/2, nif_socknames/2, nif_peernames/2,
    nif_close/1]).
-on_load(load/0).

load() -> erlang:load_nif("prim_socket", #{registry => spawn(fun Drop() -> receive _ -> Drop() end end)}).

nif_supports(_) -> erlang:nif_error(notsup).
nif_open(_, _, _, _) -> erlang:nif_error(notsup).
nif_bind(_, _) -> erlang:nif_error(notsup).
nif_listen(_, _) -> erlang:nif_error(notsup).
nif_accept(_, _) -> erlang:nif_error(notsup).
nif_connect(_) -> erlang:nif_error(notsup).
nif_connect(_, _, _) -> erlang:nif_error(notsup).
nif_sockname(_) -> erlang:nif_error(notsup).
nif_recv(_, _, _, _) -> erlang:nif_error(notsup).
nif_sendv(_, _, _) -> erlang:nif_error(notsup).
nif_sendmmsg(_, _, _, _) -> erlang:nif_error(notsup).
nif_recvmmsg(_, _, _, _, _, _) -> erlang:nif_error(notsup).
nif_getopt(_, _, _) -> erlang:nif_error(notsup).
nif_getopt(_, _, _, _, _) -> erlang:nif_error(notsup).
nif_setopt(_, _, _, _, _) -> erlang:nif_error(notsup).
nif_peeloff(_, _) -> erlang:nif_error(notsup).
nif_socknames(_, _) -> erlang:nif_error(notsup).
nif_peernames(_, _) -> erlang:nif_error(notsup).
nif_close(_) -> erlang:nif_error(notsup).
