%% SPDX-License-Identifier: Apache-2.0
%% The process code_server of a node. The machine loads code by itself and needs none, but modules of OTP take
%% the name for the sign that code can be loaded: inet_tls_dist lets nobody in before.
-module(code_ready).
-behaviour(gen_server).

-export([start_link/0]).
-export([init/1, handle_call/3, handle_cast/2]).

start_link() -> gen_server:start_link({local, code_server}, ?MODULE, [], []).

init([]) -> {ok, none, hibernate}.

handle_call(_, _, S) -> {noreply, S, hibernate}.
handle_cast(_, S) -> {noreply, S, hibernate}.
