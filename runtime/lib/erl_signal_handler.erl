%% SPDX-License-Identifier: Apache-2.0
%% What signals of the operating system do unless a program puts its own handler in this one's place: the
%% handler of the event manager erl_signal_server.
-module(erl_signal_handler).
-behaviour(gen_event).

-export([init/1, handle_event/2, handle_call/2]).

init(_) -> {ok, []}.

handle_event(sigterm, S) ->
    error_logger:info_msg("SIGTERM received - shutting down~n"),
    ok = init:stop(),
    {ok, S};
handle_event(sigquit, _) -> halt();
handle_event(sigusr1, _) -> halt("Received SIGUSR1");
handle_event(_, S) -> {ok, S}.

handle_call(_, S) -> {ok, ok, S}.
