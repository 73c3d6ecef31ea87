%% SPDX-License-Identifier: Apache-2.0
%% since: 26
%% exclusiveaddruse, an option of Windows since OTP 26: taken elsewhere too, where it stays false.
-module(options_of_windows).
-export([main/0]).

main() ->
    Options = [{exclusiveaddruse, true}],
    [io:format("~p~n", [asked(Open, Options)]) || Open <- [fun gen_tcp:listen/2, fun gen_udp:open/2]],
    io:format("~p~n", [asked(fun gen_tcp:listen/2, [{reuseaddr, true} | Options])]),
    io:format("~p~n", [connected(Options)]).

asked(Open, Options) ->
    case catch Open(0, Options) of
        {ok, Socket} ->
            [inet:getopts(Socket, [exclusiveaddruse, reuseaddr]), inet:setopts(Socket, Options),
                inet:getopts(Socket, [exclusiveaddruse])];
        Other ->
            Other
    end.

connected(Options) ->
    {ok, Listening} = gen_tcp:listen(0, []),
    {ok, Port} = inet:port(Listening),
    case catch gen_tcp:connect(localhost, Port, Options) of
        {ok, Socket} -> inet:getopts(Socket, [exclusiveaddruse]);
        Other -> Other
    end.
