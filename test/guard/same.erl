%% The native function of same.c.
-module(same).
-export([same/1]).
-nifs([same/1]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR") ++ "/same", 0).

same(_) -> erlang:nif_error(not_loaded).
