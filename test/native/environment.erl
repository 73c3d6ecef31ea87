-module(environment).
-export([texts/1, cut/2, written/2, locks/0, turns/0, times/0, memory/0, shared_libraries/1]).
-nifs([texts/1, cut/2, written/2, locks/0, turns/0, times/0, memory/0, shared_libraries/1]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/environment", 0).

texts(_) -> erlang:nif_error(not_loaded).
cut(_, _) -> erlang:nif_error(not_loaded).
written(_, _) -> erlang:nif_error(not_loaded).
locks() -> erlang:nif_error(not_loaded).
turns() -> erlang:nif_error(not_loaded).
times() -> erlang:nif_error(not_loaded).
memory() -> erlang:nif_error(not_loaded).
shared_libraries(_) -> erlang:nif_error(not_loaded).
