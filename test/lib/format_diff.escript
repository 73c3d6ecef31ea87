#!/usr/bin/env escript
%% Compares io_lib of runtime/lib with a stock Erlang's on random formats and
%% random terms. Usage: format_diff.escript LIBDIR [ROUNDS]
%%        format_diff.escript emit ROUNDS | vmrun check_cases.act   (the same by vmrun)
-mode(compile).
-include("libload.hrl").

main(["emit", Rounds]) ->
    put(emit, true),
    N = list_to_integer(Rounds),
    pretty(N, 0), formats(N, 0), terms(N, 0);
main([Dir | Rest]) ->
    Rounds = case Rest of [] -> 3000; [R] -> list_to_integer(R) end,
    Mods = [unicode_data, unicode_util, string, maps, lists, proplists, binary, erl_scan_words, io_lib,
        io_lib_format, io_lib_pretty, io_lib_fread, erl_scan],
    {ok, M0, B} = compile:forms([{attribute,1,module,libload_shim},{attribute,1,export,[{maps_to_list,2}]},
      {function,1,maps_to_list,2,
          [{clause,1,[{var,1,'M'},{var,1,'_'}],[],
              [{call,1,{remote,1,{atom,1,maps},{atom,1,to_list}},[{var,1,'M'}]}]}]}], []),
    {module, M0} = code:load_binary(M0, "shim", B),
    libload(Dir, [M || M <- Mods, filelib:is_file(filename:join(Dir, atom_to_list(M) ++ ".erl"))]),
    Bad = pretty(Rounds, 0) + formats(Rounds * 3, 0) + terms(Rounds, 0),
    io:format("~b differences~n", [Bad]),
    halt(min(1, Bad)).

pretty(_, 3) -> 3;
pretty(0, Bad) -> Bad;
pretty(N, Bad) ->
    T = term(r(6)),
    Col = pick([1, 1, 1, r(40)]), LL = pick([80, 80, 60, 40, 20, 120]),
    Fs = pick([{"~p", [T]}, {"~tp", [T]}, {"abc ~p~n", [T]}, {"~*p", [LL, T]}, {"~.*p", [Col, T]},
        {"~P", [T, r(25)]}, {"~tP", [T, r(12)]}, {"~lp", [T]},
                {"~*.*p", [LL, Col, T]}, {"~*.*P", [LL, Col, T, r(30)]}]),
    case same(Fs) of true -> pretty(N - 1, Bad); false -> pretty(N - 1, Bad + 1) end.

terms(_, 3) -> 3;
terms(0, Bad) -> Bad;
terms(N, Bad) ->
    T = term(r(5)),
    case same(pick([{"~w", [T]}, {"~tw", [T]}, {"~W", [T, r(15)]}, {"~tW", [T, r(15)]},
        {"~*w", [r(60) - 30, T]}])) of
        true -> terms(N - 1, Bad); false -> terms(N - 1, Bad + 1) end.

formats(_, 6) -> 6;
formats(0, Bad) -> Bad;
formats(N, Bad) ->
    {Fs, As} = lists:unzip([piece() || _ <- lists:seq(1, r(4))]),
    case same({lists:flatten(Fs), lists:append(As)}) of true -> formats(N - 1, Bad); false ->
        formats(N - 1, Bad + 1) end.

piece() ->
    {F, Fa} = pick([{"", []}, {"", []}, {integer_to_list(r(20)), []}, {"-" ++ integer_to_list(r(20)), []},
        {"*", [r(30) - 10]}]),
    {P, Pa} = pick([{"", []}, {"", []}, {"." ++ integer_to_list(r(12)), []}, {".*", [r(10)]}, {".", []}]),
    {Pad, Pda} = case P of "" -> {"", []}; _ -> pick([{"", []}, {".0", []}, {".x", []}, {".*", [$+]}]) end,
    Mod = pick(["", "", "", "t", "l", "tl"]),
    {C, A} = pick([{"w", [term(2)]}, {"s", [text()]}, {"s", [text()]}, {"c", [pick([$a, r(400)])]},
        {"f", [flt()]}, {"e", [flt()]}, {"g", [flt()]}, {"B", [int()]},
                   {"b", [int()]}, {"#", [int()]}, {"+", [int()]}, {"x", [int(), "0x"]},
                   {"X", [int(), pick(["0X", atom])]},
                   {"~", []}, {"n", []}, {"i", [a]}, {"z", []}]),
    {[pick(["", "ab", "\n", "é"]), $~, F, P, Pad, Mod, C], Fa ++ Pa ++ Pda ++ A}.

flt() -> pick([0.0, -0.0, 1.0, 1.5, -2.25, 123456.789, 1.0e10, 1.0e-5, 0.1, 9999.5, 9.9999999, 0.05, 1.0e300,
    5.0e-324, rand:uniform() * 1000, rand:uniform(), 1/3, 99999.999999, 0.5, 2.5, 1]).
int() -> pick([0, 1, -1, 255, r(100000), -r(1 bsl 70), a]).
text() -> pick(["abc", "", <<"bin">>, ["deep", <<"er">>, [$x]], hello, 'Hé', "h\x{e9}llo", [1024, 1025],
    <<"é"/utf8>>, <<255>>, [300 | <<"x">>], "e\x{301}x", 17]).

same({F, As}) ->
    case get(emit) of
        true -> emit(F, As);
        undefined -> compare(F, As)
    end.

%% Pids print differently in another system, big maps come in another order.
emit(F, As) ->
    Result = case run(io_lib, F, As) of {error, _} -> error; Text -> {ok, Text} end,
    case has(fun(X) -> is_pid(X) orelse (is_map(X) andalso map_size(X) > 32) end, As) of
        true -> ok;
        false -> io:format("~s~n", [base64:encode(term_to_binary({io_lib, format, [F, As], Result}))])
    end,
    true.

has(P, X) ->
    P(X) orelse (is_list(X) andalso X =/= [] andalso (has(P, hd(X)) orelse has(P, tl(X))))
        orelse (is_tuple(X) andalso has(P, tuple_to_list(X)))
            orelse (is_map(X) andalso has(P, maps:to_list(X))).

compare(F, As) ->
    A = run(io_lib, F, As), B = run(vx_io_lib, F, As),
    A =:= B orelse begin
        io:format("format ~tp args ~0tP~n otp:~n~ts~n ours:~n~ts~n", [F, As, 30, first(lines(A), lines(B)),
            first(lines(B), lines(A))]),
        false
    end.

lines({error, R}) -> [io_lib:format("error ~p", [R])];
lines(L) -> string:split(L, "\n", all).

%% From just before the first line that differs.
first([X, Y | A], [X, Y | B]) -> first([Y | A], [Y | B]);
first(A, _) -> lists:join("\n", lists:sublist(A, 4)).

run(M, F, As) ->
    try unicode:characters_to_list(M:format(F, As)) catch C:R -> {C, R} end.

r(N) -> rand:uniform(N).
pick(L) -> lists:nth(r(length(L)), L).

term(D) when D =< 1 -> leaf();
term(D) ->
    case r(9) of
        1 -> leaf();
        2 -> [term(D - 1) || _ <- lists:seq(1, r(8))];
        3 -> [term(D - 1) || _ <- lists:seq(1, r(3))];
        4 -> list_to_tuple([term(D - 1) || _ <- lists:seq(1, r(6))]);
        5 -> list_to_tuple([atom() | [term(D - 1) || _ <- lists:seq(1, r(5))]]);
        6 -> maps:from_list([{term(max(1, D - 3)), term(D - 1)} || _ <- lists:seq(1, r(6))]);
        7 -> [{atom(), term(D - 1)} || _ <- lists:seq(1, r(5))];
        8 -> [leaf() || _ <- lists:seq(1, r(60))];
        9 -> [term(D - 1) | leaf()]
    end.

atom() -> pick([a, foo, 'Hello World', a_long_atom_name_for_a_tag, gen_server, ok, 'ünï', 'it\'s', '', 'été',
    '\x{400}bc', 'after', an_atom_that_is_really_quite_a_lot_longer_than_the_others]).
leaf() ->
    pick([atom(), atom(), r(1000000), -r(10), 1.5, 1.0e22, "a string",
        "another \"quoted\" string with\nnewline", <<"binary">>, <<1, 2, 3, 255>>, <<5:3>>, <<"ab", 1:2>>,
          {}, [], #{}, <<>>, "", list_to_binary([r(256) - 1 || _ <- lists:seq(1, r(60))]),
          lists:duplicate(r(100), $x), [0, 1], [128, 200], [16#400, 16#401],
          list_to_binary(lists:duplicate(r(40), $y)), <<"åäö"/utf8>>, <<"åäö">>, "åäö", fun lists:map/2,
          self(), 1 bsl 80, [$a, 16#301], <<"\e[1m\t">>, "\d\177"]).
