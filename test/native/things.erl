-module(things).
-export([make/1, watch/2, unwatch/1, same_monitor/2, keep/1, let_go/0, call/3, selected/2, unselected/1,
    port/1, bytes/1, vector/2]).
-nifs([make/1, watch/2, unwatch/1, same_monitor/2, keep/1, let_go/0, call/3, selected/2, unselected/1, port/1,
    bytes/1, vector/2]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/things", 0).

make(_) -> erlang:nif_error(not_loaded).
watch(_, _) -> erlang:nif_error(not_loaded).
unwatch(_) -> erlang:nif_error(not_loaded).
same_monitor(_, _) -> erlang:nif_error(not_loaded).
keep(_) -> erlang:nif_error(not_loaded).
let_go() -> erlang:nif_error(not_loaded).
call(_, _, _) -> erlang:nif_error(not_loaded).
selected(_, _) -> erlang:nif_error(not_loaded).
unselected(_) -> erlang:nif_error(not_loaded).
port(_) -> erlang:nif_error(not_loaded).
bytes(_) -> erlang:nif_error(not_loaded).
vector(_, _) -> erlang:nif_error(not_loaded).
