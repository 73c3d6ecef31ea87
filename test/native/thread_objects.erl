-module(thread_objects).
-export([make/0]).
-nifs([make/0]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/thread_objects", 0).

make() -> erlang:nif_error(not_loaded).
