-module(bad_term).
-export([nothing/0, crash/0, atoms/0]).
-nifs([nothing/0, crash/0, atoms/0]).
-on_load(load/0).
load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/bad_term", 0).
nothing() -> erlang:nif_error(not_loaded).
crash() -> erlang:nif_error(not_loaded).
atoms() -> erlang:nif_error(not_loaded).
