%% SPDX-License-Identifier: Apache-2.0
%% SCTP is not there: no socket can be opened, as on a system that does not have it. So there is
%% none to do anything with.
-module(gen_sctp).

-export([open/0, open/1, open/2, error_string/1]).
-export([listen/2, peeloff/2, connect/3, connect/4, connect/5, connect_init/3, connect_init/4, connect_init/5,
         connectx_init/3, connectx_init/4, connectx_init/5, send/3, send/4, recv/1, recv/2, eof/2, abort/2,
         close/1, controlling_process/2]).

open() -> open(0, []).

open(PortOrOptions) when is_integer(PortOrOptions); is_list(PortOrOptions) -> {error, eprotonosupport}.

open(Port, Options) when is_integer(Port), is_list(Options) -> {error, eprotonosupport};
open(Options, Port) when is_list(Options), is_integer(Port) -> {error, eprotonosupport}.

listen(S, Backlog) -> error(badarg, [S, Backlog]).
peeloff(S, Association) -> error(badarg, [S, Association]).
connect(S, Address, Port) -> error(badarg, [S, Address, Port]).
connect(S, Address, Port, Options) -> error(badarg, [S, Address, Port, Options]).
connect(S, Address, Port, Options, Timeout) -> error(badarg, [S, Address, Port, Options, Timeout]).
connect_init(S, Address, Options) -> error(badarg, [S, Address, Options]).
connect_init(S, Address, Port, Options) -> error(badarg, [S, Address, Port, Options]).
connect_init(S, Address, Port, Options, Timeout) -> error(badarg, [S, Address, Port, Options, Timeout]).
connectx_init(S, Addresses, Options) -> error(badarg, [S, Addresses, Options]).
connectx_init(S, Addresses, Port, Options) -> error(badarg, [S, Addresses, Port, Options]).
connectx_init(S, Addresses, Port, Options, Timeout) -> error(badarg, [S, Addresses, Port, Options, Timeout]).
send(S, To, Data) -> error(badarg, [S, To, Data]).
send(S, Association, Stream, Data) -> error(badarg, [S, Association, Stream, Data]).
recv(S) -> error(badarg, [S]).
recv(S, Timeout) -> error(badarg, [S, Timeout]).
eof(S, Association) -> error(badarg, [S, Association]).
abort(S, Association) -> error(badarg, [S, Association]).
close(S) -> error(badarg, [S]).
controlling_process(S, Pid) -> error(badarg, [S, Pid]).

%% Causes of errors, numbered as in RFC 4960, section 3.3.10.
error_string(0) -> ok;
error_string(N) when is_integer(N) -> proplists:get_value(N, causes(), unknown_error);
error_string(Other) -> error(badarg, [Other]).

causes() ->
    [{1, "Invalid Stream Identifier"},
     {2, "Missing Mandatory Parameter"},
     {3, "Stale Cookie Error"},
     {4, "Out of Resource"},
     {5, "Unresolvable Address"},
     {6, "Unrecognized Chunk Type"},
     {7, "Invalid Mandatory Parameter"},
     {8, "Unrecognized Parameters"},
     {9, "No User Data"},
     {10, "Cookie Received While Shutting Down"},
     {11, "Restart of an Association with New Addresses"},
     {12, "User Initiated Abort"},
     {13, "Protocol Violation"}].
