%% The file driver at first hand: commands as bytes, answers as they come.
-module(efile_port).
-export([open/0, close/1, command/2, command/3, data_command/3, data_command/4, send/2, reply/1, flags/1]).

open() -> open_port({spawn_driver, "efile"}, [binary]).

close(Port) -> port_close(Port).

%% Without a tag, or with one.
command(Port, Bytes) -> command(Port, Bytes, "").
command(Port, Bytes, Tag) -> send(Port, [Bytes, Tag, 0]), reply(Port).

data_command(Port, Code, Bytes) -> data_command(Port, Code, Bytes, "").
data_command(Port, Code, Bytes, Tag) -> send(Port, [Code, Tag, 0, Bytes]), reply(Port).

send(Port, Bytes) -> true = port_command(Port, Bytes).

reply(Port) ->
    receive {Port, {data, [Code | Bytes]}} -> decode(Code, Bytes) end.

decode(0, _) -> ok;
decode(1, Name) -> {error, binary_to_atom(Name, latin1)};
decode(3, <<N:64/signed>>) -> N;
decode(8, _) -> eof;
decode(_, []) -> <<>>;
decode(_, Bytes) -> Bytes.

flags(Modes) -> lists:sum([case M of read -> 1; write -> 2; append -> 6; compressed -> 8; exclusive -> 16;
    sync -> 64 end || M <- Modes]).
