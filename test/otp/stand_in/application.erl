%% Applications are not offered; what suites start is there from the beginning, or the cases that need it fail.
-module(application).
-export([start/1, stop/1, ensure_started/1, ensure_all_started/1, get_env/2, get_env/3, get_all_env/1]).

start(_) -> ok.
stop(_) -> ok.
ensure_all_started(_) -> {ok, []}.
ensure_started(_) -> ok.
get_env(_, _) -> undefined.
get_env(_, _, Default) -> Default.
get_all_env(_) -> [].
