-module(apart).
-export([on_scheduler/0, dirty_cpu/0, dirty_io/0]).
-nifs([on_scheduler/0, dirty_cpu/0, dirty_io/0]).
-on_load(load/0).
load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/apart", 0).
on_scheduler() -> erlang:nif_error(not_loaded).
dirty_cpu() -> erlang:nif_error(not_loaded).
dirty_io() -> erlang:nif_error(not_loaded).
