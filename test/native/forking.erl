-module(forking).
-export([status_of_child/1, left_child/1, status_of/1]).
-on_load(load/0).

load() -> erlang:load_nif(filename:join(os:getenv("NATIVE_DIR"), "forking"), 0).

status_of_child(_) -> erlang:nif_error(not_loaded).
left_child(_) -> erlang:nif_error(not_loaded).
status_of(_) -> erlang:nif_error(not_loaded).
