-module(pipes).
-export([open/0, await/3, cancel/2, stop/2, put/2, take/1, number/2, await_repeatedly/2]).
-nifs([open/0, await/3, cancel/2, stop/2, put/2, take/1, number/2, await_repeatedly/2]).
-compile({no_auto_import, [put/2]}).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/pipes", 0).

open() -> erlang:nif_error(not_loaded).
await(_, _, _) -> erlang:nif_error(not_loaded).
cancel(_, _) -> erlang:nif_error(not_loaded).
stop(_, _) -> erlang:nif_error(not_loaded).
put(_, _) -> erlang:nif_error(not_loaded).
take(_) -> erlang:nif_error(not_loaded).
number(_, _) -> erlang:nif_error(not_loaded).
await_repeatedly(_, _) -> erlang:nif_error(not_loaded).
