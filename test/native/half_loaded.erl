-module(half_loaded).
-export([f/0]).
-on_load(load/0).

load() ->
    ok = erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/half_loaded", 0),
    case whereis(doubt) of
        undefined -> ok;
        _ -> doubtful
    end.

f() -> erlang:nif_error(not_loaded).
