-module(calls).
-export([identity/1, add/2, look/1, cell/1, value/1, dirty/1]).
-nifs([identity/1, add/2, look/1, cell/1, value/1, dirty/1]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/calls", 0).

identity(_) -> erlang:nif_error(not_loaded).
add(_, _) -> erlang:nif_error(not_loaded).
look(_) -> erlang:nif_error(not_loaded).
cell(_) -> erlang:nif_error(not_loaded).
value(_) -> erlang:nif_error(not_loaded).
dirty(_) -> erlang:nif_error(not_loaded).
