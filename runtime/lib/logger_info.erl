%% SPDX-License-Identifier: Apache-2.0
%% The configuration of logging as text: logger:i/0,1.
-module(logger_info).

-export([print/1]).

print(Parts) -> lists:foreach(fun(Part) -> io:put_chars(text(Part)) end, Parts).

text({primary, #{level := Level, filters := Filters, filter_default := Default}}) ->
    ["Primary configuration: \n",
     line(4, "Level: ", Level), line(4, "Filter Default: ", Default), "    Filters: \n", filters(8, Filters)];
text({handlers, Handlers}) ->
    ["Handler configuration: \n", or_none([handler(Handler) || Handler <- Handlers])];
text({proxy, Proxy}) -> ["Proxy configuration: \n", settings(4, Proxy)];
text({modules, Levels}) ->
    ["Level set per module: \n",
     or_none([[line(4, "Module: ", Module), line(8, "Level: ", Level)] || {Module, Level} <- Levels])].

handler(#{id := Id, module := Module, level := Level, filters := Filters, filter_default := Default,
          formatter := {Formatter, Config}} = Handler) ->
    Own = maps:without([id, module, level, filters, filter_default, formatter, config], Handler),
    [line(4, "Id: ", Id), line(8, "Module: ", Module), line(8, "Level:  ", Level),
     "        Formatter:\n", line(12, "Module: ", Formatter), "            Config:\n", settings(16, Config),
     line(8, "Filter Default: ", Default), "        Filters:\n", filters(12, Filters),
     [["        Handler Config:\n", settings(12, maps:get(config, Handler))] || is_map_key(config, Handler)],
     [["        Custom Config:\n", settings(12, Own)] || map_size(Own) > 0]].

filters(Indent, []) -> line(Indent, "(none)");
filters(Indent, Filters) ->
    [[line(Indent, "Id: ", Id), line(Indent + 4, "Fun: ", Fun), line(Indent + 4, "Arg: ", Extra)]
     || {Id, {Fun, Extra}} <- Filters].

settings(Indent, Map) when is_map(Map) -> settings(Indent, lists:keysort(1, maps:to_list(Map)));
settings(Indent, [Setting | _] = Settings) when is_tuple(Setting) -> [settings(Indent, S) || S <- Settings];
settings(Indent, {Key, Value}) -> line(Indent, io_lib:format("~tp: ", [Key]), Value);
settings(Indent, Value) -> line(Indent, "", Value).

or_none([]) -> line(4, "(none)");
or_none(Texts) -> Texts.

line(Indent, Text) -> [lists:duplicate(Indent, $\s), Text, $\n].
line(Indent, Text, Term) -> io_lib:format("~s~ts~tp~n", [lists:duplicate(Indent, $\s), Text, Term]).
