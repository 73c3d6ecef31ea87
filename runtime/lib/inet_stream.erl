%% SPDX-License-Identifier: Apache-2.0
%% Stream sockets: what inet_tcp, inet6_tcp and local_tcp have in common.
-module(inet_stream).

-export([connect/5, listen/4, accept/4, mask/2]).

connect(Module, Family, Address, Options, Time) ->
    case open(Module, Family, asked, inet_open:config(connect, Family, Options)) of
        {ok, S, _} -> kept(S, prim_inet:connect(S, Address, 0, Time));
        Error -> Error
    end.

listen(Module, Family, Port, Options) ->
    Bind = if Family =:= local -> asked; true -> always end,
    case open(Module, Family, Bind, inet_open:config(listen, Family, [{port, Port} | Options])) of
        {ok, S, #{backlog := Backlog}} -> kept(S, prim_inet:listen(S, Backlog));
        Error -> Error
    end.

open(_, _, _, error) -> exit(badarg);
open(Module, Family, Bind, {ok, Config}) ->
    case inet_open:open(Module, tcp, Family, Bind, Config) of
        {ok, S} -> {ok, S, Config};
        Error -> Error
    end.

kept(S, ok) -> {ok, S};
kept(S, Error) ->
    prim_inet:close(S),
    Error.

accept(Module, Family, L, Time) ->
    case prim_inet:accept(L, Time, inherited(Family)) of
        {ok, S} ->
            inet_open:set_module(S, Module),
            {ok, S};
        Error -> Error
    end.

%% Options of the listening socket that go over to a connection, besides those of every family.
inherited(inet) -> [tos, ttl, recvtos, recvttl];
inherited(inet6) -> [tclass, recvtclass];
inherited(local) -> [].

mask(Mask, Ip) ->
    list_to_tuple(lists:zipwith(fun(A, B) -> A band B end, tuple_to_list(Mask), tuple_to_list(Ip))).
