%% See onlooker.c.
-module(onlooker).
-export([enabled/3, trace/5, enabled_send/3, trace_send/5]).
-nifs([enabled/3, trace/5, enabled_send/3, trace_send/5]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/onlooker", 0).

enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_send(_, _, _) -> erlang:nif_error(not_loaded).
trace_send(_, _, _, _, _) -> erlang:nif_error(not_loaded).
