%% Its on_load function calls circle_other, whose on_load function calls this one.
-module(circle_one).
-export([name/0]).
-on_load(setup/0).

setup() -> persistent_term:put(?MODULE, try circle_other:name() catch error:undef -> undef end), ok.

name() -> ?MODULE.
