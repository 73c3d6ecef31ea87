-module(kept).
-export([keep/0, is_there/0, let_go/0]).
-nifs([keep/0, is_there/0, let_go/0]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/kept", 0).

keep() -> erlang:nif_error(not_loaded).
is_there() -> erlang:nif_error(not_loaded).
let_go() -> erlang:nif_error(not_loaded).
