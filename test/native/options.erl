-module(options).
-export([refused/0, until_halt/1, keeps_scheduler/1, size/1, cache_index/1, string/3, atom/2]).
-nifs([refused/0, until_halt/1, keeps_scheduler/1, size/1, cache_index/1, string/3, atom/2]).
-compile({no_auto_import, [size/1]}).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/options", 0).

refused() -> erlang:nif_error(not_loaded).
until_halt(_) -> erlang:nif_error(not_loaded).
keeps_scheduler(_) -> erlang:nif_error(not_loaded).
size(_) -> erlang:nif_error(not_loaded).
cache_index(_) -> erlang:nif_error(not_loaded).
string(_, _, _) -> erlang:nif_error(not_loaded).
atom(_, _) -> erlang:nif_error(not_loaded).
