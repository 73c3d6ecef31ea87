%% What is wrong with the arguments of a call, in the words of the library
-module(explained).
-export([call/3]).

call(Module, Function, Args) ->
    try apply(Module, Function, Args) of
        Result -> io:format("~w: ~p~n", [Function, Result])
    catch error:Reason:Stack ->
        [{_, _, _, Location} | _] = Stack,
        #{module := Explains} = proplists:get_value(error_info, Location),
        [io:format("~w ~w: ~ts~n", [Function, N, Why])
            || {N, Why} <- lists:sort(maps:to_list(Explains:format_error(Reason, Stack))), Why =/= [],
            Why =/= ""]
    end.
