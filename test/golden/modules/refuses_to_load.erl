-module(refuses_to_load).
-export([here/0]).
-on_load(setup/0).

setup() -> {error, {no, "reason"}}.

here() -> yes.
