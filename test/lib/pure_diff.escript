#!/usr/bin/env escript
%% Compares the pure functions of runtime/lib with a stock Erlang's on random
%% arguments: same result or same class and reason of failure.
%% Usage: pure_diff.escript LIBDIR [ROUNDS [MODULE...]]
%%        pure_diff.escript emit ROUNDS | vmrun check_cases.act   (the same calls, made by vmrun)
%% Each row: {Function, ArgumentKinds}; see gen/1 for the kinds.
-mode(compile).
-include("libload.hrl").

main(["emit", Rounds]) ->
    [emit(M, F, Kinds) || _ <- lists:seq(1, list_to_integer(Rounds)), M <- modules(), M =/= unicode_data,
                          not lists:member(M, [queue, ordsets, gb_trees, gb_sets, unicode_util]),
                          {F, Kinds} <- rows(M), lists:member({F, length(Kinds)}, M:module_info(exports)),
                          not lists:any(fun is_fun_kind/1, Kinds),
                          not lists:member({M, F}, [{lists, sort}, {lists, usort}, {proplists, get_keys},
                              {proplists, from_map}, {maps, to_list}, {base64, decode}])];
main([Dir | Rest]) ->
    {Rounds, Only} = case Rest of
        [] -> {300, []};
        [R | Ms] -> {list_to_integer(R), [list_to_atom(M) || M <- Ms]}
    end,
    Present = [M || M <- modules(), filelib:is_file(filename:join(Dir, atom_to_list(M) ++ ".erl"))],
    shim(),
    libload(Dir, Present),
    Run = case Only of [] -> Present; _ -> Only end,
    Bad = lists:sum([check_module(M, Rounds) || M <- Run]),
    io:format("~b functions differ~n", [Bad]),
    halt(min(Bad, 1)).

is_fun_kind(K) -> lists:member(K, [p1, f1, fl, fm, f2, le, ge, mf, f3, mp, mfm, iter, any]).

emit(M, F, Kinds) ->
    Args = [gen(K) || K <- Kinds],
    Result = try {ok, apply(M, F, Args)} catch C:_ -> C end,
    io:format("~s~n", [base64:encode(term_to_binary({M, F, Args, Result}))]).

shim() ->
    {ok, M, B} = compile:forms([{attribute,1,module,libload_shim},{attribute,1,export,[{maps_to_list,2}]},
      {function,1,maps_to_list,2,
          [{clause,1,[{var,1,'M'},{var,1,'_'}],[],
              [{call,1,{remote,1,{atom,1,maps},{atom,1,to_list}},[{var,1,'M'}]}]}]}], []),
    {module, M} = code:load_binary(M, "shim", B).

modules() -> [unicode_data, lists, maps, proplists, queue, ordsets, orddict, gb_trees, gb_sets, string,
    unicode_util, unicode,
              binary, calendar, base64, filename, timer].

check_module(M, Rounds) ->
    Missing = [F || {F, As} <- rows(M), not lists:member({F, length(As)}, M:module_info(exports))],
    Ours = (vx(M)):module_info(exports),
    lists:sum([check(M, F, As, Rounds) || {F, As} <- rows(M), not lists:member(F, Missing),
        lists:member({F, length(As)}, Ours)]).

check(M, F, Kinds, Rounds) -> check(M, F, Kinds, Rounds, 0).
check(_, _, _, 0, _) -> 0;
check(M, F, Kinds, N, _) ->
    Args = [gen(K) || K <- Kinds],
    Theirs = run(M, F, Args),
    Ours = run(vx(M), F, Args),
    case same(M, F, Theirs, Ours) of
        true -> check(M, F, Kinds, N - 1, 0);
        false -> io:format("~p:~p~n  args ~0tp~n  otp  ~0tp~n  ours ~0tp~n", [M, F, Args, Theirs, Ours]), 1
    end.

same(_, _, X, X) -> true;
%% Order of equal numbers is left open by the documentation of these.
same(lists, F, {ok, A}, {ok, B}) when F =:= sort; F =:= usort -> A == B;
same(ordsets, _, {ok, A}, {ok, B}) -> A == B;
same(_, _, {error, {badmap,_}}, {error, {badmap,_}}) -> true;
same(proplists, get_keys, {ok, A}, {ok, B}) -> lists:sort(A) =:= lists:sort(B);
same(gb_trees, _, {ok, A}, {ok, B}) -> gbt(A) =:= gbt(B);
same(gb_sets, _, {ok, A}, {ok, B}) -> gbs(A) == gbs(B);
same(unicode_util, F, {ok, [A | At]}, {ok, [B | Bt]}) when F =/= nfkd, F =/= nfkc -> A =:= B andalso cps(At)
    =:= cps(Bt);
same(unicode_util, _, {ok, A}, {ok, B}) -> cps(A) =:= cps(B);
%% Which failure it is, where OTP 25 names the clause that did not match.
same(base64, decode, {error, _}, {error, _}) -> true;
same(string, _, {ok, A}, {ok, B}) when is_list(A), is_list(B) -> cps(A) =:= cps(B);
same(string, _, {ok, {A, B}}, {ok, {C, D}}) -> cps([A]) =:= cps([C]) andalso cps([B]) =:= cps([D]);
same(queue, _, {ok, A}, {ok, B}) -> flat(A) =:= flat(B);
same(_, _, _, _) -> false.

gbt({K, V, {N, _} = T}) when is_integer(N) -> {K, V, gb_trees:to_list(T)};
gbt({V, {N, T}}) when is_integer(N) -> {V, gb_trees:to_list({N, T})};
gbt({N, T}) when is_integer(N), (T =:= nil orelse tuple_size(T) =:= 4) -> gb_trees:to_list({N, T});
gbt(Iter) when is_list(Iter), Iter =/= [], tuple_size(hd(Iter)) =:= 4 ->
    [{K, V} || {K, V, _, _} <- Iter] =/= x;
gbt(X) -> X.
cps(X) -> try unicode:characters_to_list(X) catch _:_ -> X end.
gbs({X, {N, T}}) when is_integer(N) -> {X, gb_sets:to_list({N, T})};
gbs({N, T}) when is_integer(N), (T =:= nil orelse tuple_size(T) =:= 3) -> gb_sets:to_list({N, T});
gbs(X) -> X.
flat({A, {_, _} = Q}) -> {flat(A), qlist(Q)};
flat({_, _} = Q) -> qlist(Q);
flat(X) -> X.
qlist({A, B}) when is_list(A), is_list(B) -> B ++ lists:reverse(A);
qlist(X) -> X.

run(M, F, Args) ->
    try {ok, apply(M, F, Args)} catch C:R -> {C, R} end.

pick(L) -> lists:nth(rand:uniform(length(L)), L).
r(N) -> rand:uniform(N).
many(Max, F) -> [F() || _ <- lists:seq(1, r(Max + 1) - 1)].
small() -> pick([r(6), r(6), r(6) * 1.0, r(40)]).

gen({is, X}) -> X;
gen({of_, L}) -> gen(pick(L));
gen({str}) -> gen(str);
gen(i) -> r(9) - 2;
gen(big) -> r(100000) - 10000;
gen(e) -> small();
gen(any) -> pick([a, b, c, 1, 2.0, -3, {a}, {b, 2}, {}, [], [x], "abc", <<"bin">>, #{}, #{a => 1},
    fun erlang:abs/1]);
gen(l) -> many(pick([4, 12, 40]), fun small/0);
gen(nl) -> many(6, fun() -> pick([small(), gen(l), [gen(l), []]]) end);
gen(sl) -> lists:sort(gen(l));
gen(us) -> lists:usort(gen(l));
gen(ll) -> many(6, fun() -> gen(l) end);
gen(lsl) -> many(6, fun() -> gen(sl) end);
gen(lus) -> many(6, fun() -> gen(us) end);
gen(tl) -> many(pick([5, 30]), fun() -> pick([{small(), r(99)}, {small(), r(99)}, {r(9), small(), r(99)}])
    end);
gen(stl) -> lists:keysort(1, gen(tl));
gen(ustl) -> lists:ukeysort(1, gen(tl));
gen(pairs) -> many(8, fun() -> {small(), r(9)} end);
gen(triples) -> many(8, fun() -> {small(), r(9), r(9)} end);
gen(od) -> orddict:from_list(gen(pairs));
gen(p1) -> X = r(12), pick([fun(Y) -> Y > X end, fun(Y) -> Y < X end, fun erlang:is_float/1,
    fun(Y) -> Y =/= X end]);
gen(f1) -> pick([fun(Y) -> {Y} end, fun(Y) -> Y end, fun(Y) -> [Y, a] end]);
gen(fl) -> pick([fun(Y) -> [Y, Y] end, fun(_) -> [] end]);
gen(fm) -> pick([fun(Y) -> case Y > 4 of true -> {true, -Y}; false -> false end end, fun erlang:is_float/1]);
gen(f2) -> pick([fun(A, B) -> {A, B} end, fun(A, B) -> [A | B] end]);
gen(le) -> pick([fun(A, B) -> A =< B end, fun(A, B) -> A >= B end,
    fun(A, B) -> trunc(A) div 2 =< trunc(B) div 2 end]);
gen(ge) -> fun(A, B) -> A =< B end;
gen(mf) -> fun(A, B) -> {{A, x}, [A | B]} end;
gen(f3) -> fun(A, B, C) -> [A, B, C] end;
gen(mp) -> X = r(12), fun(K, V) -> K > X orelse V > 6 end;
gen(mfm) -> fun(K, V) -> case K > 4 of true -> {true, {K, V}}; false -> V > 5 end end;
gen(map) -> maps:from_list(many(pick([5, 60]), fun() -> {pick([small(), r(100)]), r(9)} end));
gen(iter) -> maps:iterator(gen(map));
gen(pl) -> many(6, fun() -> pick([a, b, c, {a, r(3)}, {b, true}, {c, false}, {d, x, y}, {e}, 17, {no_a, true},
    {a, [1, 2]}]) end);
gen(key) -> pick([a, b, c, d, e, f]);
gen(keys) -> many(4, fun() -> gen(key) end);
gen(alias) -> many(3, fun() -> {gen(key), gen(key)} end);
gen(exps) -> many(3, fun() -> {pick([a, b, {a, 1}, {c, false}]), gen(pl)} end);
gen(norm) -> many(3, fun() -> pick([{aliases, gen(alias)}, {negations, gen(alias)}, {expand, gen(exps)}])
    end);
gen(q) -> pick([queue:from_list(gen(l)), lists:foldl(fun(X, Q) -> queue:in(X, Q) end, queue:new(), gen(l)),
                lists:foldl(fun(X, Q) -> queue:in_r(X, Q) end, queue:new(), gen(l))]);
gen(gt) -> gb_trees:from_orddict(gen(od));
gen(gti) -> lists:foldl(fun(X, T) -> gb_trees:enter(X, X, T) end, gb_trees:empty(), gen(l));
gen(gs) -> gb_sets:from_list(gen(l));
gen(lgs) -> many(4, fun() -> gen(gs) end);
gen(str) -> pick([gen(ascii), gen(uni), gen(ubin), gen(deep)]);
gen(ascii) -> many(pick([5, 20]), fun() -> pick("abcABC  ,.xyz") end);
gen(uni) -> many(pick([5, 20]), fun() -> gen(cp) end);
%% Left out: carriage returns in binaries, joiners and modifiers of emoji, where OTP 25 departs from UAX #29.
gen(cp) -> pick([$a, $b, $A, $ , $,, $a, $b, 10, 16#301, 16#e9, 16#df, 16#130, 16#3a3, 16#3c3, 16#1F468,
    16#1F469, 16#1F1E6, 16#1F1E7,
                 16#1100, 16#1161, 16#11a8, 16#ac00, 16#ac01, 16#2764, 16#e4, 16#308, 16#fb01, 16#1c5, 16#ad,
                 9, 16#a0, 16#2028, r(16#5ff)]);
gen(ubin) -> unicode:characters_to_binary(gen(uni));
gen(deep) -> [gen(uni), [gen(ascii)], gen(uni)];
gen(dir) -> pick([leading, trailing]);
gen(dir3) -> pick([leading, trailing, both]);
gen(dira) -> pick([leading, trailing, all]);
gen(seps) -> pick([" ", ",", ", ", "ab", [$a, [13, 10]], [[16#e9]], "."]);
gen(pat) -> pick(["a", "ab", ", ", [16#e9], [$a, 16#301], <<"b">>, [], " "]);
gen(chars) -> pick(["a", "abc", " ", ",."]);
gen(char) -> pick([$a, $b, $ , $., $x]);
gen(pad) -> pick([$*, $ , "<>", [[$a, 16#301]]]);
gen(bin) -> list_to_binary(gen(ascii));
gen(rbin) -> list_to_binary(many(20, fun() -> r(256) - 1 end));
gen(bpat) -> pick([<<"a">>, <<"ab">>, <<"b">>, [<<"a">>, <<"b">>], [<<"ab">>, <<"a">>], <<" ">>,
    [<<",">>, <<"x">>], [<<"abc">>, <<"b">>]]);
gen(bopts) -> pick([[], [global], [trim], [global, trim], [global, trim_all], [trim_all], [{scope, {1, 3}}],
    [global, {scope, {2, -2}}]]);
gen(ropts) -> pick([[], [global], [{insert_replaced, 1}], [global, {insert_replaced, [0, 2]}],
    [global, {scope, {1, 3}}]]);
gen(enc) -> pick([unicode, utf8, latin1, utf16, {utf16, little}, utf32, {utf32, little}]);
gen(repl) -> pick([<<"X">>, <<>>, <<"[--]">>, <<"ab">>]);
gen(part) -> {r(6) - 1, r(12) - 6};
gen(year) -> r(3000);
gen(date) -> {pick([r(3000), 2000 + r(30)]), r(13), r(32)};
gen(vdate) -> {r(3000), r(12), r(28)};
gen(time) -> {r(24) - 1, r(60) - 1, r(60) - 1};
gen(dt) -> {gen(vdate), gen(time)};
gen(secs) -> r(100000000000);
gen(rfc) -> pick(["2018-02-01T16:17:58Z", "2018-02-01T16:17:58.123Z", "2018-02-01 15:18:02.088+01:00",
    "1969-12-31T23:59:59.9-02:30", "2020-01-01t00:00:00.123456z"]);
gen(ts) -> r(4000000000);   % before 1970 OTP 25 gets fractions of seconds wrong
gen(b64) -> base64:encode(gen(rbin));
gen(b64l) -> base64:encode_to_string(gen(rbin));
gen(mime) -> lists:flatten([pick([C, C, [C, $\n], [C, $!]]) || C <- gen(b64l)]);
gen(path) -> P = pick(["/usr/lib", "a/b.c", "a//b/", "/", "", "..", "x.erl", "/a/b.tar.gz", ".bashrc", "a/.b",
    "a.", "./a", "a/b/../c", "b"]), pick([P, P, list_to_binary(P)]);
gen(ext) -> pick([".c", ".erl", ".gz", "c"]);
gen(paths) -> [gen(path) | many(3, fun() -> gen(path) end)];
gen(now) -> {r(2000), r(999999), r(999999)};
gen(atomize) -> pick([a, 1, 2.5, "str"]).

rows(unicode_data) -> [];
rows(lists) ->
    [{all, [p1, l]}, {any, [p1, l]}, {append, [ll]}, {append, [l, l]}, {concat, [{is, [a, 1, 2.5, "x"]}]},
        {delete, [e, l]},
     {droplast, [l]}, {dropwhile, [p1, l]}, {duplicate, [i, e]}, {enumerate, [l]}, {enumerate, [i, l]},
     {filter, [p1, l]},
     {filtermap, [fm, l]}, {flatlength, [nl]}, {flatmap, [fl, l]}, {flatten, [nl]}, {flatten, [nl, l]},
     {foldl, [f2, e, l]},
     {foldr, [f2, e, l]}, {foreach, [f1, l]}, {join, [e, l]}, {keydelete, [e, i, tl]}, {keymap, [f1, i, tl]},
     {keymerge, [{is, 1}, stl, stl]}, {keyreplace, [e, i, tl, {is, {new}}]}, {keysort, [{is, 1}, tl]},
     {keysort, [{is, 2}, tl]}, {keysort, [i, tl]},
     {keystore, [e, i, tl, {is, {new}}]}, {keytake, [e, i, tl]}, {last, [l]}, {map, [f1, l]},
     {mapfoldl, [mf, e, l]},
     {mapfoldr, [mf, e, l]}, {max, [l]}, {min, [l]}, {merge, [lsl]}, {merge, [sl, sl]}, {merge, [ge, sl, sl]},
     {merge3, [sl, sl, sl]}, {nth, [i, l]}, {nthtail, [i, l]}, {partition, [p1, l]}, {prefix, [l, l]},
     {reverse, [l]},
     {search, [p1, l]}, {seq, [i, i]}, {seq, [i, i, i]}, {sort, [l]}, {sort, [le, l]}, {split, [i, l]},
     {splitwith, [p1, l]},
     {sublist, [l, i]}, {sublist, [l, i, i]}, {subtract, [l, l]}, {suffix, [l, l]}, {sum, [l]},
     {takewhile, [p1, l]},
     {ukeymerge, [{is, 1}, ustl, ustl]}, {ukeysort, [{is, 1}, tl]}, {ukeysort, [{is, 2}, tl]},
     {umerge, [lus]}, {umerge, [us, us]}, {umerge, [ge, us, us]},
     {umerge3, [us, us, us]}, {uniq, [l]}, {uniq, [f1, l]}, {unzip, [pairs]}, {unzip3, [triples]},
     {usort, [l]}, {usort, [le, l]},
     {zip, [l, l]}, {zip3, [l, l, l]}, {zipwith, [f2, l, l]}, {zipwith3, [f3, l, l, l]}, {zf, [fm, l]}];
rows(maps) ->
    [{filter, [mp, map]}, {filter, [mp, iter]}, {filtermap, [mfm, map]}, {fold, [f3, e, map]},
        {fold, [f3, e, iter]}, {foreach, [f2, map]},
     {get, [e, map, e]}, {groups_from_list, [f1, l]}, {groups_from_list, [f1, f1, l]},
     {intersect, [map, map]},
     {intersect_with, [f3, map, map]}, {map, [f2, map]}, {merge_with, [f3, map, map]}, {new, []},
     {size, [map]},
     {to_list, [map]}, {update_with, [e, f1, map]}, {update_with, [e, f1, e, map]}, {with, [l, map]},
     {without, [l, map]}];
rows(proplists) ->
    [{append_values, [key, pl]}, {compact, [pl]}, {delete, [key, pl]}, {expand, [exps, pl]},
        {get_all_values, [key, pl]},
     {get_bool, [key, pl]}, {get_keys, [pl]}, {get_value, [key, pl]}, {get_value, [key, pl, e]},
     {is_defined, [key, pl]},
     {lookup, [key, pl]}, {lookup_all, [key, pl]}, {normalize, [pl, norm]}, {property, [any]},
     {property, [key, any]},
     {split, [pl, keys]}, {substitute_aliases, [alias, pl]}, {substitute_negations, [alias, pl]},
     {to_map, [pl]},
     {to_map, [pl, norm]}, {unfold, [pl]}, {from_map, [map]}];
rows(queue) ->
    [{all, [p1, q]}, {any, [p1, q]}, {delete, [e, q]}, {delete_r, [e, q]}, {delete_with, [p1, q]},
        {delete_with_r, [p1, q]},
     {drop, [q]}, {drop_r, [q]}, {filter, [p1, q]}, {filter, [fl, q]}, {filtermap, [fm, q]},
     {fold, [f2, e, q]}, {from_list, [l]}, {get, [q]}, {get_r, [q]},
     {in, [e, q]}, {in_r, [e, q]}, {is_empty, [q]}, {is_queue, [q]}, {join, [q, q]}, {len, [q]},
     {member, [e, q]}, {out, [q]},
     {out_r, [q]}, {peek, [q]}, {peek_r, [q]}, {reverse, [q]}, {split, [i, q]}, {to_list, [q]},
     {cons, [e, q]}, {snoc, [q, e]}];
rows(ordsets) ->
    [{add_element, [e, us]}, {del_element, [e, us]}, {filter, [p1, us]}, {fold, [f2, e, us]},
        {from_list, [l]},
     {intersection, [us, us]}, {intersection, [lus]}, {is_disjoint, [us, us]}, {is_element, [e, us]},
     {is_empty, [us]}, {is_set, [l]}, {is_set, [us]},
     {is_subset, [us, us]}, {size, [us]}, {subtract, [us, us]}, {union, [us, us]}, {union, [lus]}];
rows(orddict) ->
    [{append, [e, e, od]}, {erase, [e, od]}, {fetch, [e, od]}, {fetch_keys, [od]}, {filter, [mp, od]},
        {find, [e, od]},
     {fold, [f3, e, od]}, {from_list, [pairs]}, {is_key, [e, od]}, {map, [f2, od]}, {merge, [f3, od, od]},
     {store, [e, e, od]},
     {take, [e, od]}, {update, [e, f1, od]}, {update, [e, f1, e, od]}, {update_counter, [e, i, od]}];
rows(gb_trees) ->
    [{balance, [gti]}, {delete, [e, gti]}, {delete_any, [e, gti]}, {enter, [e, e, gti]}, {from_orddict, [od]},
        {get, [e, gti]},
     {insert, [e, e, gti]}, {is_defined, [e, gti]}, {is_empty, [gti]}, {keys, [gti]}, {largest, [gti]},
     {lookup, [e, gti]},
     {map, [f2, gti]}, {size, [gti]}, {smallest, [gti]}, {take, [e, gti]}, {take_any, [e, gti]},
     {take_largest, [gti]},
     {take_smallest, [gti]}, {to_list, [gti]}, {update, [e, e, gti]}, {values, [gti]}, {iterator, [gti]},
     {iterator_from, [e, gti]}];
rows(gb_sets) ->
    [{add, [e, gs]}, {add_element, [e, gs]}, {delete, [e, gs]}, {delete_any, [e, gs]}, {filter, [p1, gs]},
        {fold, [f2, e, gs]},
     {from_list, [l]}, {insert, [e, gs]}, {intersection, [gs, gs]}, {intersection, [lgs]},
     {is_disjoint, [gs, gs]}, {is_member, [e, gs]},
     {is_subset, [gs, gs]}, {largest, [gs]}, {smallest, [gs]}, {subtract, [gs, gs]}, {difference, [gs, gs]},
     {take_largest, [gs]},
     {take_smallest, [gs]}, {to_list, [gs]}, {union, [gs, gs]}, {union, [lgs]}, {size, [gs]},
     {balance, [gs]}];
rows(string) ->
    [{casefold, [str]}, {centre, [ascii, i]}, {centre, [ascii, i, char]}, {chars, [char, i]},
        {chars, [char, i, ascii]}, {chomp, [str]},
     {chr, [ascii, char]}, {concat, [ascii, ascii]}, {copies, [ascii, i]}, {cspan, [ascii, chars]},
     {equal, [str, str]},
     {equal, [str, str, {of_, [{is, true}, {is, false}]}]},
     {equal, [str, str, {is, true}, {of_, [{is, none}, {is, nfc}, {is, nfd}]}]},
     {find, [str, pat]}, {find, [str, pat, dir]}, {is_empty, [str]},
     {join, [{is, ["a", "b", "c"]}, ascii]}, {left, [ascii, i]}, {left, [ascii, i, char]}, {len, [ascii]},
     {length, [str]},
     {lexemes, [str, seps]}, {lowercase, [str]}, {next_codepoint, [str]}, {next_grapheme, [str]},
     {nth_lexeme, [str, i, seps]},
     {pad, [str, i]}, {pad, [str, i, dir3]}, {pad, [str, i, dir3, pad]}, {prefix, [str, pat]},
     {rchr, [ascii, char]},
     {replace, [str, pat, ascii]}, {replace, [str, pat, ascii, dira]}, {reverse, [str]}, {right, [ascii, i]},
     {right, [ascii, i, char]},
     {rstr, [ascii, chars]}, {slice, [str, i]}, {slice, [str, {of_, [{is, 0}, {is, 2}]}, i]},
     {span, [ascii, chars]}, {split, [str, pat]},
     {split, [str, pat, dira]}, {str, [ascii, chars]}, {strip, [ascii]},
     {strip, [ascii, {of_, [{is, left}, {is, right}, {is, both}]}]},
     {strip, [ascii, {of_, [{is, left}, {is, right}, {is, both}]}, char]}, {sub_string, [ascii, i]},
     {sub_string, [ascii, i, i]},
     {sub_word, [ascii, year]}, {substr, [ascii, i]}, {substr, [ascii, i, i]}, {take, [str, seps]},
     {take, [str, seps, {of_, [{is, true}, {is, false}]}]},
     {take, [str, seps, {of_, [{is, true}, {is, false}]}, dir]},
     {titlecase, [str]}, {to_float,
         [{of_, [{is, "1.5abc"}, {is, "-2.0e3"}, {is, "x"}, {is, <<"3.25z">>}, {is, "12"}]}]},
     {to_graphemes, [str]},
     {to_integer, [{of_, [{is, "12ab"}, {is, "-7"}, {is, ""}, {is, <<"99,">>}, {is, "+3"}]}]},
     {to_lower, [ascii]}, {to_upper, [ascii]}, {tokens, [ascii, chars]}, {trim, [str]}, {trim, [str, dir3]},
     {trim, [str, dir3, seps]},
     {uppercase, [str]}, {words, [ascii]}, {words, [ascii, char]}];
rows(unicode_util) ->
    [{cp, [str]}, {gc, [str]}, {lowercase, [str]}, {uppercase, [str]}, {titlecase, [str]}, {casefold, [str]},
        {nfd, [str]}, {nfc, [str]}, {nfkd, [str]}, {nfkc, [str]}];
rows(unicode) ->
    [{characters_to_binary, [str]}, {characters_to_list, [str]}, {characters_to_list, [rbin]},
        {characters_to_binary, [rbin]},
     {characters_to_list, [rbin, enc]}, {characters_to_binary, [rbin, enc, enc]},
     {characters_to_binary, [str, {is, unicode}, enc]}, {characters_to_nfc_list, [str]},
     {characters_to_nfd_list, [str]},
     {characters_to_nfkc_list, [str]}, {characters_to_nfkd_list, [str]}, {characters_to_nfc_binary, [str]},
     {characters_to_nfd_binary, [str]},
     {bom_to_encoding, [rbin]}];
rows(binary) ->
    [{at, [bin, i]}, {bin_to_list, [bin]}, {bin_to_list, [bin, part]}, {bin_to_list, [bin, i, i]},
        {copy, [bin]}, {copy, [bin, i]},
     {decode_hex, [{is, <<"00fFa1">>}]}, {decode_hex, [bin]}, {decode_unsigned, [rbin]},
     {decode_unsigned, [rbin, {of_, [{is, big}, {is, little}]}]},
     {encode_hex, [rbin]}, {encode_unsigned, [big]},
     {encode_unsigned, [big, {of_, [{is, big}, {is, little}]}]}, {first, [bin]}, {last, [bin]},
     {list_to_bin, [ascii]}, {longest_common_prefix, [{is, [<<"abc">>, <<"abd">>]}]},
     {longest_common_suffix, [{is, [<<"xabc">>, <<"bc">>]}]},
     {match, [bin, bpat]}, {match, [bin, bpat, bopts]}, {matches, [bin, bpat]}, {matches, [bin, bpat, bopts]},
     {part, [bin, part]},
     {part, [bin, i, i]}, {replace, [bin, bpat, repl]}, {replace, [bin, bpat, repl, ropts]},
     {split, [bin, bpat]}, {split, [bin, bpat, bopts]}];
rows(calendar) ->
    [{date_to_gregorian_days, [vdate]}, {datetime_to_gregorian_seconds, [dt]}, {day_of_the_week, [vdate]},
     {gregorian_days_to_date, [big]}, {gregorian_seconds_to_datetime, [secs]}, {is_leap_year, [year]},
     {iso_week_number, [vdate]},
     {last_day_of_the_month, [year, i]}, {now_to_datetime, [now]}, {now_to_universal_time, [now]},
     {rfc3339_to_system_time, [rfc]}, {rfc3339_to_system_time, [rfc, {is, [{unit, millisecond}]}]},
     {seconds_to_daystime, [big]},
     {seconds_to_time, [big]}, {system_time_to_rfc3339, [ts]},
     {system_time_to_rfc3339, [ts, {is, [{unit, millisecond}, {offset, "Z"}]}]},
     {system_time_to_rfc3339, [ts, {is, [{offset, "-02:30"}, {time_designator, $\s}]}]},
     {system_time_to_rfc3339, [ts, {is, [{offset, 3600}, {unit, microsecond}]}]},
     {system_time_to_universal_time, [ts, {is, second}]}, {system_time_to_universal_time,
         [ts, {is, millisecond}]}, {system_time_to_local_time, [ts, {is, second}]},
     {time_difference, [dt, dt]}, {time_to_seconds, [time]}, {valid_date, [date]}];
rows(base64) ->
    [{encode, [rbin]}, {encode_to_string, [rbin]}, {decode, [b64]}, {decode, [b64l]},
        {decode_to_string, [b64]}, {mime_decode, [mime]}, {mime_decode_to_string, [mime]}, {decode, [bin]}];
rows(filename) ->
    [{absname, [path, path]}, {append, [path, path]}, {basename, [path]}, {basename, [path, ext]},
        {dirname, [path]}, {extension, [path]},
     {flatten, [path]}, {join, [paths]}, {join, [path, path]}, {nativename, [path]}, {pathtype, [path]},
     {rootname, [path]},
     {rootname, [path, ext]}, {split, [path]}];
rows(timer) ->
    [{hms, [i, i, i]}, {hours, [i]}, {minutes, [i]}, {seconds, [i]}, {now_diff, [now, now]}].
