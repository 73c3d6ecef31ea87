-module(counter).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init(N) -> {ok, N}.
handle_call(add, _, N) -> {reply, N + 1, N + 1}.
handle_cast(add, N) -> {noreply, N + 1}.
