#!/usr/bin/env escript
%% packages: erlang-esdl
%% A linked-in driver around SDL, without a screen or sound.
-module(esdl_used).
-mode(compile).
%% environment: SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
main(_) ->
    sdl:init(16#20),
    io:format("~p~n", [[D || D <- element(2, erl_ddll:loaded_drivers()), lists:prefix("sdl", D)]]),
    io:format("~p~n", [sdl:getError()]),
    sdl:quit(),
    io:format("ended~n").
