-module(corners).
-export([thing/1, open_pipe/0, put/1, await/2, stop/1, through_binary/1, tried/0, command/2, compare_pids/2,
    now/0, in_two_steps/1, consume/2, after_x/1]).
-nifs([thing/1, open_pipe/0, put/1, await/2, stop/1, through_binary/1, tried/0, command/2, compare_pids/2,
    now/0, in_two_steps/1, consume/2, rest/1]).
-compile({no_auto_import, [put/1, now/0]}).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/corners", 0).

thing(_) -> erlang:nif_error(not_loaded).
open_pipe() -> erlang:nif_error(not_loaded).
put(_) -> erlang:nif_error(not_loaded).
await(_, _) -> erlang:nif_error(not_loaded).
stop(_) -> erlang:nif_error(not_loaded).
through_binary(_) -> erlang:nif_error(not_loaded).
tried() -> erlang:nif_error(not_loaded).
command(_, _) -> erlang:nif_error(not_loaded).
compare_pids(_, _) -> erlang:nif_error(not_loaded).
now() -> erlang:nif_error(not_loaded).
in_two_steps(_) -> erlang:nif_error(not_loaded).
consume(_, _) -> erlang:nif_error(not_loaded).

%% What matches can hand the rest on without making a binary of it, but not to what is native.
after_x(<<$x, Rest/binary>>) -> rest(Rest);
after_x(<<_, Rest/binary>>) -> after_x(Rest);
after_x(<<>>) -> none.

rest(<<_, Rest/binary>>) -> rest(Rest);
rest(<<>>) -> erlang.
