%% Cases that crash a machine of their own are for another node: there are no cores to ignore.
-module(ignore_cores).
-export([init/1, fini/1, setup/3, setup/4, restore/1, dir/1]).

init(Config) -> Config.
fini(Config) -> Config.
setup(_, _, Config) -> Config.
setup(_, _, Config, _) -> Config.
restore(_) -> ok.
dir(Config) -> proplists:get_value(priv_dir, Config).
