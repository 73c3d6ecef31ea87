%% SPDX-License-Identifier: Apache-2.0
%% What patterns mean, and why they are refused: PCRE 8 before OTP 28, PCRE2 since. Where in a pattern an
%% error is seen differs between versions of PCRE2.
-module(regular_expressions).
-export([main/0]).

main() ->
    [io:format("~ts ~p~n", [Pattern, compiled(Pattern, Options)])
     || Pattern <- patterns(), Options <- [[], [unicode]]],
    [io:format("~p ~p ~p~n", [Subject, Pattern, re:run(Subject, Pattern, Options)])
     || {Subject, Pattern, Options} <- runs()].

patterns() ->
    ["[\\d-z]", "[a-\\d]", "[\\w-a]", "\\8", "\\F", "[\\F]", "[\\R]", "\\c", "\\ca", "\\L", "\\M",
     "\\Z", "(", "a)", "*", "(?#", "(?<a", "(?<a>.)(?<a>.)", "(?<1>.)", "(?R", "(?z)", "(?C999)",
     "(?(1)a|b|c)", "(*FOO)",
     "\\x{110000}", "\\x{}", "\\o{8}", "\\p{Foo}", "[[:foo:]]", "[b-a]",
     "[a", "a{2,1}", "a{99999}", "(?<=a{1,2})",
     "\\k<a>", "(?P=x)", "(?<=a\\Kb)", "(?=a\\Kb)c", "(?<=a+)",
     lists:duplicate(900, $() ++ "a" ++ lists:duplicate(900, $))].

compiled(Pattern, Options) ->
    case re:compile(Pattern, Options) of
        {ok, _} -> ok;
        {error, {Text, _Place}} -> Text
    end.

runs() ->
    [{"\xe9", "\\w", []},
     {"\xc9", "\xe9", [caseless]},
     {<<"\xc3\xa9">>, "\\w", [unicode]},
     {<<"\xc3\xa9">>, "\\w", [unicode, ucp]},
     {"aXbX", "(?<n>a)|b", [global, {capture, all, list}]},
     {"abc", "a\\Kb", [{capture, all, list}]},
     {"x-", "[x\\-y]+", []}].
