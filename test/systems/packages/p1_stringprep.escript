#!/usr/bin/env escript
%% packages: erlang-p1-stringprep
%% Profiles of texts, by a NIF.
-module(p1_stringprep_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(stringprep),
    Texts = [<<"UPPER">>, <<"Straße"/utf8>>, <<"ΑΒΓ"/utf8>>, <<"a b">>, <<16#e2, 16#80, 16#8b>>, <<255>>],
    [io:format("~p~n", [[stringprep:F(T) || F <- [tolower, nameprep, nodeprep, resourceprep]]])
        || T <- Texts].
