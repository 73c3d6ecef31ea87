-module(bad_libraries).
-export([load/2, f/0]).
-nifs([f/0]).

load(Name, Info) -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/" ++ Name, Info).

f() -> erlang:nif_error(still_erlang).
