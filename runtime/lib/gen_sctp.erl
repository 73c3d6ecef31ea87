%% SCTP is not there: no socket can be opened, as on a system that does not have it.
-module(gen_sctp).

-export([open/0, open/1, open/2]).

open() -> open(0, []).

open(PortOrOptions) when is_integer(PortOrOptions); is_list(PortOrOptions) -> {error, eprotonosupport}.

open(Port, Options) when is_integer(Port), is_list(Options) -> {error, eprotonosupport};
open(Options, Port) when is_list(Options), is_integer(Port) -> {error, eprotonosupport}.
