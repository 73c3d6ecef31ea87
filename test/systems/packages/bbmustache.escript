#!/usr/bin/env escript
%% packages: erlang-bbmustache
%% Templates.
-module(bbmustache_used).
-mode(compile).
main(_) ->
    Template = <<"Hello {{name}}{{#items}}, {{key}}={{&value}}{{/items}}"
                 "{{^none}} none{{/none}} {{{raw}}}\n">>,
    Data = #{"name" => "W<orld>", "items" => [#{"key" => N, "value" => N * N} || N <- lists:seq(1, 5)],
        "raw" => <<"<b>">>},
    io:put_chars(bbmustache:render(Template, Data)),
    io:format("~p~n", [catch bbmustache:parse_binary(<<"{{#a}}">>)]).
