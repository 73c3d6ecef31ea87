-module(deep).
-export([recurse/0, recurse_dirty/0]).
-nifs([recurse/0, recurse_dirty/0]).
-on_load(load/0).
load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/deep", 0).
recurse() -> erlang:nif_error(not_loaded).
recurse_dirty() -> erlang:nif_error(not_loaded).
