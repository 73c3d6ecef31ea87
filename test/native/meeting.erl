-module(meeting).
-export([on_scheduler/2, dirty_cpu/2, dirty_io/2, there/1, come/1]).
-nifs([on_scheduler/2, dirty_cpu/2, dirty_io/2, there/1, come/1]).
-on_load(load/0).
load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/meeting", 0).
on_scheduler(_, _) -> erlang:nif_error(not_loaded).
dirty_cpu(_, _) -> erlang:nif_error(not_loaded).
there(_) -> erlang:nif_error(not_loaded).
come(_) -> erlang:nif_error(not_loaded).
dirty_io(_, _) -> erlang:nif_error(not_loaded).
