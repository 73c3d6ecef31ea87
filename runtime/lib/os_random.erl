%% Numbers nobody can foretell: challenges, cookies, creations.
-module(os_random).

-export([bytes/1, integer/1]).

-define(SOURCE, "/dev/urandom").

bytes(N) ->
    {ok, File} = file:open(?SOURCE, [read, raw, binary]),
    try
        {ok, <<Bytes:N/binary>>} = file:read(File, N),
        Bytes
    after file:close(File)
    end.

%% A whole number of so many bits.
integer(Bits) ->
    <<Number:Bits>> = bytes(Bits div 8),
    Number.
