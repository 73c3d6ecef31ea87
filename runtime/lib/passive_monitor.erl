%% SPDX-License-Identifier: Apache-2.0
%% monitor_node/3 with allow_passive_connect, of a node that is not connected: the built-in function comes
%% here, for it has to wait for net_kernel. A node that must not be connected to (dist_auto_connect) may still
%% connect to this one.
-module(passive_monitor).
-export([monitor_node/3]).

monitor_node(Node, Flag, Options) ->
    case net_kernel:passive_cnct(Node) of
        true -> erlang:monitor_node(Node, Flag, Options);
        false ->
            self() ! {nodedown, Node},
            true
    end.
