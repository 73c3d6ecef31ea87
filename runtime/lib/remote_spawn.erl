%% SPDX-License-Identifier: Apache-2.0
%% spawn, spawn_link, spawn_monitor and spawn_opt with a node that is another one: the built-in
%% functions come here, for they have to wait.
-module(remote_spawn).
-export([spawn/5]).

spawn(Node, Module, Function, Arguments, Options) ->
    case erts_internal:dist_spawn_request(Node, {Module, Function, Arguments}, Options, spawn_opt) of
        {Request, IsMonitor} -> await(Request, IsMonitor, Node, {Module, Function, Arguments}, Options);
        badarg -> error(badarg)
    end.

await(Request, IsMonitor, Node, Call, Options) ->
    receive
        {spawn_reply, Request, ok, Pid} when IsMonitor -> {Pid, Request};
        {spawn_reply, Request, ok, Pid} -> Pid;
        {spawn_reply, Request, error, badopt} -> error(badarg);
        {spawn_reply, Request, error, Reason} when Reason =:= noconnection; Reason =:= notsup ->
            erts_internal:spawn_unreachable(Node, Call, Options, Reason);
        {spawn_reply, Request, error, Reason} -> error(Reason)
    end.
