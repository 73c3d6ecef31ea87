%% SPDX-License-Identifier: Apache-2.0
%% List processing. The five functions reverse/2, member/2, keyfind/3,
%% keymember/3 and keysearch/3 are built into the machine; everything else is
%% here. Functions taking a fun check it once and then run a tight loop. Helpers
%% that can show in a stack trace have the names that they have in OTP.
%%
%% Sorting is a stable bottom-up merge sort. The input is cut into ascending
%% and strictly descending runs; every merging pass reverses the direction of
%% the runs, so that each merge is a tail-recursive loop that pushes on an
%% accumulator. Whether the runs are currently ascending is known statically:
%% the passes alternate between two functions.
-module(lists).
-compile({no_auto_import, [max/2, min/2]}).
-define(ERRORS, [{error_info, #{module => erl_stdlib_errors}}]).  % who explains

-export([all/2, any/2, append/1, append/2, concat/1, delete/2, droplast/1,
         dropwhile/2, duplicate/2, enumerate/1, enumerate/2, enumerate/3,
         filter/2, filtermap/2, flatlength/1, flatmap/2, flatten/1, flatten/2,
         foldl/3, foldr/3, foreach/2, join/2, last/1, map/2, mapfoldl/3,
         mapfoldr/3, max/1, min/1, nth/2, nthtail/2, partition/2, prefix/2,
         reverse/1, search/2, seq/2, seq/3, split/2, splitwith/2, sublist/2,
         sublist/3, subtract/2, suffix/2, sum/1, takewhile/2, uniq/1, uniq/2,
         unzip/1, unzip3/1, zf/2, zip/2, zip/3, zip3/3, zip3/4, zipwith/3,
         zipwith/4, zipwith3/4, zipwith3/5]).
-export([keydelete/3, keymap/3, keymerge/3, keyreplace/4, keysort/2,
         keystore/4, keytake/3, ukeymerge/3, ukeysort/2]).
-export([sort/1, sort/2, usort/1, usort/2, merge/1, merge/2, merge/3,
         merge3/3, umerge/1, umerge/2, umerge/3, umerge3/3]).
-export([rmerge/2, rmerge/3, rmerge3/3, rumerge/2, rumerge/3, rumerge3/3,
         rkeymerge/3, rukeymerge/3]).

%% Plain lists

-spec append([[T]]) -> [T].
append([L]) -> L;
append([H | T]) -> H ++ append(T);
append([]) -> [].

append(A, B) -> A ++ B.

subtract(A, B) -> A -- B.

-spec reverse([T]) -> [T].
reverse([] = L) -> L;
reverse([_] = L) -> L;
reverse([A, B]) -> [B, A];
reverse([A, B | T]) -> lists:reverse(T, [B, A]).

-spec nth(pos_integer(), [T, ...]) -> T.
nth(1, [H | _]) -> H;
nth(N, [_ | T]) when N > 1 -> nth(N - 1, T).

-spec nthtail(non_neg_integer(), [T, ...]) -> [T].
nthtail(1, [_ | T]) -> T;
nthtail(N, [_ | T]) when N > 1 -> nthtail(N - 1, T);
nthtail(0, L) when is_list(L) -> L.

prefix([X | A], [X | B]) -> prefix(A, B);
prefix([], L) when is_list(L) -> true;
prefix([_ | _], L) when is_list(L) -> false.

suffix(Suffix, List) ->
    Skip = length(List) - length(Suffix),
    Skip >= 0 andalso nthtail(Skip, List) =:= Suffix.

last([X]) -> X;
last([_ | T]) -> last(T).

droplast([_]) -> [];
droplast([H | T]) -> [H | droplast(T)].

%% Longer lists than this are looked at first: whether there is memory for them at all.
-define(LONG, 10000000).

-spec seq(integer(), integer()) -> [integer()].
seq(From, To) when is_integer(From), is_integer(To), From - 1 =< To, To - From < ?LONG ->
    seq_down(To, From, []);
seq(From, To) when is_integer(From), is_integer(To), From - 1 =< To ->
    erts_internal:list_fits(To - From + 1) orelse error(system_limit, [From, To]),
    seq_down(To, From, []).

seq_down(N, From, Acc) when N >= From + 3 ->
    seq_down(N - 4, From, [N - 3, N - 2, N - 1, N | Acc]);
seq_down(N, From, Acc) when N >= From -> seq_down(N - 1, From, [N | Acc]);
seq_down(_, _, Acc) -> Acc.

-spec seq(integer(), integer(), integer()) -> [integer()].
seq(From, To, Step) when is_integer(From), is_integer(To), is_integer(Step) ->
    if
        Step > 0, From - Step =< To; Step < 0, From - Step >= To ->
            Count = (To - From + Step) div Step,
            Count < ?LONG orelse erts_internal:list_fits(Count) orelse error(system_limit, [From, To, Step]),
            seq_step(From + (Count - 1) * Step, Count, Step, []);
        Step =:= 0, From =:= To ->
            [From];
        true ->
            error(badarg, [From, To, Step], ?ERRORS)
    end.

seq_step(_, 0, _, Acc) -> Acc;
seq_step(Last, Count, Step, Acc) ->
    seq_step(Last - Step, Count - 1, Step, [Last | Acc]).

-spec sum([number()]) -> number().
sum(L) -> sum(L, 0).

sum([H | T], Sum) -> sum(T, Sum + H);
sum([], Sum) -> Sum.

duplicate(N, X) when is_integer(N), N >= 0, N < ?LONG -> duplicate(N, X, []);
duplicate(N, X) when is_integer(N), N >= 0 ->
    erts_internal:list_fits(N) orelse error(system_limit, [N, X]),
    duplicate(N, X, []).

duplicate(0, _, Acc) -> Acc;
duplicate(N, X, Acc) -> duplicate(N - 1, X, [X | Acc]).

-spec min([T, ...]) -> T.
min([H | T]) -> min(T, H).

min([H | T], Min) when H < Min -> min(T, H);
min([_ | T], Min) -> min(T, Min);
min([], Min) -> Min.

-spec max([T, ...]) -> T.
max([H | T]) -> max(T, H).

max([H | T], Max) when H > Max -> max(T, H);
max([_ | T], Max) -> max(T, Max);
max([], Max) -> Max.

sublist(L, From, Len) when is_list(L), is_integer(From), From >= 1, is_integer(Len) ->
    sublist_skip(L, From, Len).

sublist_skip(L, 1, Len) when Len >= 0 -> sublist_take(L, Len);
sublist_skip([_ | T], N, Len) when N > 1 -> sublist_skip(T, N - 1, Len);
sublist_skip([], N, _) when N > 1 -> [].

sublist(L, Len) when is_list(L), is_integer(Len), Len >= 0 -> sublist_take(L, Len).

sublist_take(_, 0) -> [];
sublist_take([H | T], N) -> [H | sublist_take(T, N - 1)];
sublist_take([], _) -> [].

delete(X, [X | T]) -> T;
delete(X, [H | T]) -> [H | delete(X, T)];
delete(_, []) -> [].

split(N, L) when is_integer(N), N >= 0, is_list(L) ->
    case split_loop(N, L, []) of
        badarg -> error(badarg, [N, L]);
        Parts -> Parts
    end;
split(N, L) -> error(badarg, [N, L]).

split_loop(0, L, Acc) -> {reverse(Acc), L};
split_loop(N, [H | T], Acc) -> split_loop(N - 1, T, [H | Acc]);
split_loop(_, _, _) -> badarg.

join(_, []) -> [];
join(Sep, [H | T]) -> [H | join_rest(Sep, T)].

join_rest(_, []) -> [];
join_rest(Sep, [H | T]) -> [Sep, H | join_rest(Sep, T)].

concat([H | T]) -> thing_to_list(H) ++ concat(T);
concat([]) -> [].

thing_to_list(X) when is_integer(X) -> integer_to_list(X);
thing_to_list(X) when is_float(X) -> float_to_list(X);
thing_to_list(X) when is_atom(X) -> atom_to_list(X);
thing_to_list(X) when is_list(X) -> X.

flatten(L) when is_list(L) -> do_flatten(L, []).

flatten(L, Tail) when is_list(L), is_list(Tail) -> do_flatten(L, Tail).

do_flatten([H | T], Tail) when is_list(H) -> do_flatten(H, do_flatten(T, Tail));
do_flatten([H | T], Tail) -> [H | do_flatten(T, Tail)];
do_flatten([], Tail) -> Tail.

flatlength(L) -> flatlength(L, 0).

flatlength([H | T], N) when is_list(H) -> flatlength(H, flatlength(T, N));
flatlength([_ | T], N) -> flatlength(T, N + 1);
flatlength([], N) -> N.

enumerate(L) -> enumerate(1, 1, L).

enumerate(From, L) -> enumerate(From, 1, L).

enumerate(From, Step, L) when is_integer(From), is_integer(Step) -> enum(From, Step, L).

enum(N, Step, [H | T]) -> [{N, H} | enum(N + Step, Step, T)];
enum(_, _, []) -> [].

uniq(L) -> uniq_1(L, #{}).

uniq_1([H | T], Seen) ->
    case Seen of
        #{H := _} -> uniq_1(T, Seen);
        _ -> [H | uniq_1(T, Seen#{H => []})]
    end;
uniq_1([], _) -> [].

uniq(F, L) when is_function(F, 1) -> uniq_1(F, L, #{}).

uniq_1(F, [H | T], Seen) ->
    Key = F(H),
    case Seen of
        #{Key := _} -> uniq_1(F, T, Seen);
        _ -> [H | uniq_1(F, T, Seen#{Key => []})]
    end;
uniq_1(_, [], _) -> [].

%% Zipping. How tells what to do with lists of different length.

zip([A | As], [B | Bs]) -> [{A, B} | zip(As, Bs)];
zip([], []) -> [].

zip(As, Bs, fail) -> zip(As, Bs);
zip([A | As], [B | Bs], How) -> [{A, B} | zip(As, Bs, How)];
zip([], [], _) -> [];
zip([_ | _], [], trim) -> [];
zip([], [_ | _], trim) -> [];
zip([], [_ | _] = Bs, {pad, {X, _}}) -> [{X, B} || B <- Bs];
zip([_ | _] = As, [], {pad, {_, Y}}) -> [{A, Y} || A <- As].

zip3([A | As], [B | Bs], [C | Cs]) -> [{A, B, C} | zip3(As, Bs, Cs)];
zip3([], [], []) -> [].

zip3(As, Bs, Cs, How) -> zipwith3(fun(A, B, C) -> {A, B, C} end, As, Bs, Cs, How).

zipwith(F, [A | As], [B | Bs]) -> [F(A, B) | zipwith(F, As, Bs)];
zipwith(F, [], []) when is_function(F, 2) -> [].

zipwith(F, As, Bs, fail) -> zipwith(F, As, Bs);
zipwith(F, [A | As], [B | Bs], How) -> [F(A, B) | zipwith(F, As, Bs, How)];
zipwith(F, [], [], _) when is_function(F, 2) -> [];
zipwith(F, [_ | _], [], trim) when is_function(F, 2) -> [];
zipwith(F, [], [_ | _], trim) when is_function(F, 2) -> [];
zipwith(F, [], [_ | _] = Bs, {pad, {X, _}}) -> [F(X, B) || B <- Bs];
zipwith(F, [_ | _] = As, [], {pad, {_, Y}}) -> [F(A, Y) || A <- As].

zipwith3(F, [A | As], [B | Bs], [C | Cs]) -> [F(A, B, C) | zipwith3(F, As, Bs, Cs)];
zipwith3(F, [], [], []) when is_function(F, 3) -> [].

zipwith3(F, As, Bs, Cs, fail) -> zipwith3(F, As, Bs, Cs);
zipwith3(F, [A | As], [B | Bs], [C | Cs], How) ->
    [F(A, B, C) | zipwith3(F, As, Bs, Cs, How)];
zipwith3(F, [], [], [], _) when is_function(F, 3) -> [];
zipwith3(F, As, Bs, Cs, trim) when is_function(F, 3), is_list(As), is_list(Bs), is_list(Cs) -> [];
zipwith3(F, As, Bs, Cs, {pad, {X, Y, Z}} = How)
  when is_function(F, 3), is_list(As), is_list(Bs), is_list(Cs) ->
    {A, As1} = padded(As, X),
    {B, Bs1} = padded(Bs, Y),
    {C, Cs1} = padded(Cs, Z),
    [F(A, B, C) | zipwith3(F, As1, Bs1, Cs1, How)].

padded([H | T], _) -> {H, T};
padded([], Pad) -> {Pad, []}.

unzip(L) -> unzip(L, [], []).

unzip([{A, B} | T], As, Bs) -> unzip(T, [A | As], [B | Bs]);
unzip([], As, Bs) -> {reverse(As), reverse(Bs)}.

unzip3(L) -> unzip3(L, [], [], []).

unzip3([{A, B, C} | T], As, Bs, Cs) -> unzip3(T, [A | As], [B | Bs], [C | Cs]);
unzip3([], As, Bs, Cs) -> {reverse(As), reverse(Bs), reverse(Cs)}.

%% Functions over lists

all(P, L) when is_function(P, 1) ->
    case L of
        [H | T] ->
            case P(H) of
                true -> all_1(P, T);
                false -> false
            end;
        [] -> true
    end.

all_1(P, [H | T]) ->
    case P(H) of
        true -> all_1(P, T);
        false -> false
    end;
all_1(_, []) -> true.

any(P, L) when is_function(P, 1) ->
    case L of
        [H | T] ->
            case P(H) of
                true -> true;
                false -> any_1(P, T)
            end;
        [] -> false
    end.

any_1(P, [H | T]) ->
    case P(H) of
        true -> true;
        false -> any_1(P, T)
    end;
any_1(_, []) -> false.

-spec map(fun((A) -> B), [A]) -> [B].
map(F, L) when is_function(F, 1) ->
    case L of
        [H | T] -> [F(H) | map_1(F, T)];
        [] -> []
    end.

map_1(F, [H | T]) -> [F(H) | map_1(F, T)];
map_1(_, []) -> [].

flatmap(F, L) when is_function(F, 1) -> flatmap_1(F, L).

flatmap_1(F, [H | T]) -> F(H) ++ flatmap_1(F, T);
flatmap_1(_, []) -> [].

-spec foldl(fun((T, Acc) -> Acc), Acc, [T]) -> Acc.
foldl(F, Acc, L) when is_function(F, 2) ->
    case L of
        [H | T] -> foldl_1(F, F(H, Acc), T);
        [] -> Acc
    end.

foldl_1(F, Acc, [H | T]) -> foldl_1(F, F(H, Acc), T);
foldl_1(_, Acc, []) -> Acc.

-spec foldr(fun((T, Acc) -> Acc), Acc, [T]) -> Acc.
foldr(F, Acc, L) when is_function(F, 2) -> foldr_1(F, Acc, L).

foldr_1(F, Acc, [H | T]) -> F(H, foldr_1(F, Acc, T));
foldr_1(_, Acc, []) -> Acc.

-spec filter(fun((T) -> boolean()), [T]) -> [T].
filter(P, L) when is_function(P, 1) -> [X || X <- L, P(X)].

partition(P, L) when is_function(P, 1) -> partition_1(P, L, [], []).

partition_1(P, [H | T], Yes, No) ->
    case P(H) of
        true -> partition_1(P, T, [H | Yes], No);
        false -> partition_1(P, T, Yes, [H | No])
    end;
partition_1(_, [], Yes, No) -> {reverse(Yes), reverse(No)}.

filtermap(F, L) when is_function(F, 1) -> filtermap_1(F, L).

filtermap_1(F, [H | T]) ->
    case F(H) of
        true -> [H | filtermap_1(F, T)];
        {true, X} -> [X | filtermap_1(F, T)];
        false -> filtermap_1(F, T)
    end;
filtermap_1(_, []) -> [].

zf(F, L) -> filtermap(F, L).

foreach(F, L) when is_function(F, 1) -> foreach_1(F, L).

foreach_1(F, [H | T]) -> F(H), foreach_1(F, T);
foreach_1(_, []) -> ok.

mapfoldl(F, Acc, L) when is_function(F, 2) -> mapfoldl_1(F, Acc, L).

mapfoldl_1(F, Acc0, [H | T]) ->
    {X, Acc1} = F(H, Acc0),
    {Xs, Acc} = mapfoldl_1(F, Acc1, T),
    {[X | Xs], Acc};
mapfoldl_1(_, Acc, []) -> {[], Acc}.

mapfoldr(F, Acc, L) when is_function(F, 2) -> mapfoldr_1(F, Acc, L).

mapfoldr_1(F, Acc0, [H | T]) ->
    {Xs, Acc1} = mapfoldr_1(F, Acc0, T),
    {X, Acc} = F(H, Acc1),
    {[X | Xs], Acc};
mapfoldr_1(_, Acc, []) -> {[], Acc}.

takewhile(P, L) when is_function(P, 1) -> takewhile_1(P, L).

takewhile_1(P, [H | T]) ->
    case P(H) of
        true -> [H | takewhile_1(P, T)];
        false -> []
    end;
takewhile_1(_, []) -> [].

dropwhile(P, L) when is_function(P, 1) -> dropwhile_1(P, L).

dropwhile_1(P, [H | T] = L) ->
    case P(H) of
        true -> dropwhile_1(P, T);
        false -> L
    end;
dropwhile_1(_, []) -> [].

search(P, L) when is_function(P, 1) -> search_1(P, L).

search_1(P, [H | T]) ->
    case P(H) of
        true -> {value, H};
        false -> search_1(P, T)
    end;
search_1(_, []) -> false.

splitwith(P, L) when is_function(P, 1) -> splitwith_1(P, L, []).

splitwith_1(P, [H | T] = L, Acc) ->
    case P(H) of
        true -> splitwith_1(P, T, [H | Acc]);
        false -> {reverse(Acc), L}
    end;
splitwith_1(_, [], Acc) -> {reverse(Acc), []}.

%% Lists of tuples

keydelete(K, N, L) when is_integer(N), N > 0 -> keydelete3(K, N, L).

keydelete3(K, N, [H | T]) when element(N, H) == K -> T;
keydelete3(K, N, [H | T]) -> [H | keydelete3(K, N, T)];
keydelete3(_, _, []) -> [].

keyreplace(K, N, L, New) when is_integer(N), N > 0, is_tuple(New) ->
    keyreplace3(K, N, L, New).

keyreplace3(K, N, [H | T], New) when element(N, H) == K -> [New | T];
keyreplace3(K, N, [H | T], New) -> [H | keyreplace3(K, N, T, New)];
keyreplace3(_, _, [], _) -> [].

keystore(K, N, L, New) when is_integer(N), N > 0, is_tuple(New) ->
    keystore2(K, N, L, New).

keystore2(K, N, [H | T], New) when element(N, H) == K -> [New | T];
keystore2(K, N, [H | T], New) -> [H | keystore2(K, N, T, New)];
keystore2(_, _, [], New) -> [New].

keytake(K, N, L) when is_integer(N), N > 0 -> keytake(K, N, L, []).

keytake(K, N, [H | T], Acc) when element(N, H) == K -> {value, H, lists:reverse(Acc, T)};
keytake(K, N, [H | T], Acc) -> keytake(K, N, T, [H | Acc]);
keytake(_, _, [], _) -> false.

keymap(F, N, [H | T]) -> [setelement(N, H, F(element(N, H))) | keymap(F, N, T)];
keymap(F, N, []) when is_integer(N), N >= 1, is_function(F, 1) -> [].

%% sort/1

-spec sort([T]) -> [T].
sort([X, Y | T]) when X =< Y -> sort_up(T, Y, [X], []);
sort([X, Y | T]) -> sort_down(T, Y, [X], []);
sort([_] = L) -> L;
sort([] = L) -> L.

%% An ascending run grows in Acc, largest element first; X is the last element.
sort_up([Y | T], X, Acc, Runs) when X =< Y -> sort_up(T, Y, [X | Acc], Runs);
sort_up([Y, Z | T], X, Acc, Runs) when Y =< Z -> sort_up(T, Z, [Y], [[X | Acc] | Runs]);
sort_up([Y, Z | T], X, Acc, Runs) -> sort_down(T, Z, [Y], [[X | Acc] | Runs]);
sort_up([Y], X, Acc, Runs) -> sort_falling([[Y], [X | Acc] | Runs], []);
sort_up([], X, Acc, []) -> reverse([X | Acc]);
sort_up([], X, Acc, Runs) -> sort_falling([[X | Acc] | Runs], []).

sort_down([Y | T], X, Acc, Runs) when X > Y -> sort_down(T, Y, [X | Acc], Runs);
sort_down([Y, Z | T], X, Acc, Runs) when Y =< Z ->
    sort_up(T, Z, [Y], [reverse([X | Acc]) | Runs]);
sort_down([Y, Z | T], X, Acc, Runs) ->
    sort_down(T, Z, [Y], [reverse([X | Acc]) | Runs]);
sort_down([Y], X, Acc, Runs) -> sort_falling([[Y], reverse([X | Acc]) | Runs], []);
sort_down([], X, Acc, []) -> [X | Acc];
sort_down([], X, Acc, Runs) -> sort_falling([reverse([X | Acc]) | Runs], []).

%% Runs with the largest element first, the last run of the input first.
sort_falling([[A | As], [B | Bs] | Runs], Done) ->
    sort_falling(Runs, [merge_falling(As, A, Bs, B, []) | Done]);
sort_falling([Run], []) -> reverse(Run);
sort_falling([Run], Done) -> sort_rising([reverse(Run) | Done], []);
sort_falling([], [Run]) -> Run;
sort_falling([], Done) -> sort_rising(Done, []).

%% Runs with the smallest element first, the first run of the input first.
sort_rising([[A | As], [B | Bs] | Runs], Done) ->
    sort_rising(Runs, [merge_rising(As, A, Bs, B, []) | Done]);
sort_rising([Run], []) -> Run;
sort_rising([Run], Done) -> sort_falling([reverse(Run) | Done], []);
sort_rising([], [Run]) -> reverse(Run);
sort_rising([], Done) -> sort_falling(Done, []).

%% A is later in the input than B, so of equals A is pushed first.
merge_falling(As, A, Bs, B, Acc) when A >= B ->
    Acc1 = [A | Acc],
    case As of
        [A1 | As1] -> merge_falling(As1, A1, Bs, B, Acc1);
        [] -> lists:reverse(Bs, [B | Acc1])
    end;
merge_falling(As, A, Bs, B, Acc) ->
    Acc1 = [B | Acc],
    case Bs of
        [B1 | Bs1] -> merge_falling(As, A, Bs1, B1, Acc1);
        [] -> lists:reverse(As, [A | Acc1])
    end.

%% A is earlier in the input than B.
merge_rising(As, A, Bs, B, Acc) when A =< B ->
    Acc1 = [A | Acc],
    case As of
        [A1 | As1] -> merge_rising(As1, A1, Bs, B, Acc1);
        [] -> lists:reverse(Bs, [B | Acc1])
    end;
merge_rising(As, A, Bs, B, Acc) ->
    Acc1 = [B | Acc],
    case Bs of
        [B1 | Bs1] -> merge_rising(As, A, Bs1, B1, Acc1);
        [] -> lists:reverse(As, [A | Acc1])
    end.

%% usort/1: sort, then keep the first of equals (the sort is stable).

-spec usort([T]) -> [T].
usort([_, _ | _] = L) -> unique(sort(L));
usort([_] = L) -> L;
usort([] = L) -> L.

unique([X | T]) -> unique(T, X, []).

unique([Y | T], X, Acc) when X == Y -> unique(T, X, Acc);
unique([Y | T], X, Acc) -> unique(T, Y, [X | Acc]);
unique([], X, Acc) -> reverse([X | Acc]).

%% sort/2, usort/2: the fun says whether its arguments are in order.

sort(Le, L) when is_function(Le, 2) ->
    case L of
        [X | T] -> fsort_runs(Le, T, X, [], []);
        [] -> []
    end.

fsort_runs(Le, [Y | T], X, Acc, Runs) ->
    case Le(X, Y) of
        true -> fsort_runs(Le, T, Y, [X | Acc], Runs);
        false when Acc =:= [] -> fsort_down(Le, T, Y, [X], Runs);
        false -> fsort_runs(Le, T, Y, [], [[X | Acc] | Runs])
    end;
fsort_runs(Le, [], X, Acc, Runs) -> fsort_falling(Le, [[X | Acc] | Runs], []).

fsort_down(Le, [Y | T], X, Acc, Runs) ->
    case Le(X, Y) of
        false -> fsort_down(Le, T, Y, [X | Acc], Runs);
        true -> fsort_runs(Le, T, Y, [], [reverse([X | Acc]) | Runs])
    end;
fsort_down(Le, [], X, Acc, Runs) -> fsort_falling(Le, [reverse([X | Acc]) | Runs], []).

fsort_falling(Le, [[A | As], [B | Bs] | Runs], Done) ->
    fsort_falling(Le, Runs, [fmerge_falling(Le, As, A, Bs, B, []) | Done]);
fsort_falling(_, [Run], []) -> reverse(Run);
fsort_falling(Le, [Run], Done) -> fsort_rising(Le, [reverse(Run) | Done], []);
fsort_falling(_, [], [Run]) -> Run;
fsort_falling(Le, [], Done) -> fsort_rising(Le, Done, []).

fsort_rising(Le, [[A | As], [B | Bs] | Runs], Done) ->
    fsort_rising(Le, Runs, [fmerge_rising(Le, As, A, Bs, B, []) | Done]);
fsort_rising(_, [Run], []) -> Run;
fsort_rising(Le, [Run], Done) -> fsort_falling(Le, [reverse(Run) | Done], []);
fsort_rising(_, [], [Run]) -> reverse(Run);
fsort_rising(Le, [], Done) -> fsort_falling(Le, Done, []).

fmerge_falling(Le, As, A, Bs, B, Acc) ->
    case Le(B, A) of
        true ->
            case As of
                [A1 | As1] -> fmerge_falling(Le, As1, A1, Bs, B, [A | Acc]);
                [] -> lists:reverse(Bs, [B, A | Acc])
            end;
        false ->
            case Bs of
                [B1 | Bs1] -> fmerge_falling(Le, As, A, Bs1, B1, [B | Acc]);
                [] -> lists:reverse(As, [A, B | Acc])
            end
    end.

fmerge_rising(Le, As, A, Bs, B, Acc) ->
    case Le(A, B) of
        true ->
            case As of
                [A1 | As1] -> fmerge_rising(Le, As1, A1, Bs, B, [A | Acc]);
                [] -> lists:reverse(Bs, [B, A | Acc])
            end;
        false ->
            case Bs of
                [B1 | Bs1] -> fmerge_rising(Le, As, A, Bs1, B1, [B | Acc]);
                [] -> lists:reverse(As, [A, B | Acc])
            end
    end.

usort(Le, L) when is_function(Le, 2) ->
    case sort(Le, L) of
        [X | T] -> funique(Le, T, X, []);
        [] -> []
    end.

%% In a sorted list X is in front of Y; they are equal when Y may also be in front of X.
funique(Le, [Y | T], X, Acc) ->
    case Le(Y, X) of
        true -> funique(Le, T, X, Acc);
        false -> funique(Le, T, Y, [X | Acc])
    end;
funique(_, [], X, Acc) -> reverse([X | Acc]).

%% keysort/2, ukeysort/2

keysort(I, L) when is_integer(I), I > 0 ->
    case L of
        [X | [_ | _] = T] -> ksort_runs(I, T, X, element(I, X), [], []);
        [_] -> L;
        [] -> []
    end.

ksort_runs(I, [Y | T], X, Kx, Acc, Runs) ->
    case element(I, Y) of
        Ky when Kx =< Ky -> ksort_runs(I, T, Y, Ky, [X | Acc], Runs);
        Ky when Acc =:= [] -> ksort_down(I, T, Y, Ky, [X], Runs);
        Ky -> ksort_runs(I, T, Y, Ky, [], [[X | Acc] | Runs])
    end;
ksort_runs(I, [], X, _, Acc, Runs) -> ksort_falling(I, [[X | Acc] | Runs], []).

ksort_down(I, [Y | T], X, Kx, Acc, Runs) ->
    case element(I, Y) of
        Ky when Kx > Ky -> ksort_down(I, T, Y, Ky, [X | Acc], Runs);
        Ky -> ksort_runs(I, T, Y, Ky, [], [reverse([X | Acc]) | Runs])
    end;
ksort_down(I, [], X, _, Acc, Runs) -> ksort_falling(I, [reverse([X | Acc]) | Runs], []).

ksort_falling(I, [[A | As], [B | Bs] | Runs], Done) ->
    Merged = kmerge_falling(I, As, A, element(I, A), Bs, B, element(I, B), []),
    ksort_falling(I, Runs, [Merged | Done]);
ksort_falling(_, [Run], []) -> reverse(Run);
ksort_falling(I, [Run], Done) -> ksort_rising(I, [reverse(Run) | Done], []);
ksort_falling(_, [], [Run]) -> Run;
ksort_falling(I, [], Done) -> ksort_rising(I, Done, []).

ksort_rising(I, [[A | As], [B | Bs] | Runs], Done) ->
    Merged = kmerge_rising(I, As, A, element(I, A), Bs, B, element(I, B), []),
    ksort_rising(I, Runs, [Merged | Done]);
ksort_rising(_, [Run], []) -> Run;
ksort_rising(I, [Run], Done) -> ksort_falling(I, [reverse(Run) | Done], []);
ksort_rising(_, [], [Run]) -> reverse(Run);
ksort_rising(I, [], Done) -> ksort_falling(I, Done, []).

kmerge_falling(I, As, A, Ka, Bs, B, Kb, Acc) when Ka >= Kb ->
    Acc1 = [A | Acc],
    case As of
        [A1 | As1] -> kmerge_falling(I, As1, A1, element(I, A1), Bs, B, Kb, Acc1);
        [] -> lists:reverse(Bs, [B | Acc1])
    end;
kmerge_falling(I, As, A, Ka, Bs, B, _, Acc) ->
    Acc1 = [B | Acc],
    case Bs of
        [B1 | Bs1] -> kmerge_falling(I, As, A, Ka, Bs1, B1, element(I, B1), Acc1);
        [] -> lists:reverse(As, [A | Acc1])
    end.

kmerge_rising(I, As, A, Ka, Bs, B, Kb, Acc) when Ka =< Kb ->
    Acc1 = [A | Acc],
    case As of
        [A1 | As1] -> kmerge_rising(I, As1, A1, element(I, A1), Bs, B, Kb, Acc1);
        [] -> lists:reverse(Bs, [B | Acc1])
    end;
kmerge_rising(I, As, A, Ka, Bs, B, _, Acc) ->
    Acc1 = [B | Acc],
    case Bs of
        [B1 | Bs1] -> kmerge_rising(I, As, A, Ka, Bs1, B1, element(I, B1), Acc1);
        [] -> lists:reverse(As, [A | Acc1])
    end.

ukeysort(I, L) when is_integer(I), I > 0 ->
    case keysort(I, L) of
        [_] -> L;
        [X | T] -> kunique(I, T, X, element(I, X), []);
        [] -> []
    end.

kunique(I, [Y | T], X, K, Acc) ->
    case element(I, Y) of
        K1 when K1 == K -> kunique(I, T, X, K, Acc);
        K1 -> kunique(I, T, Y, K1, [X | Acc])
    end;
kunique(_, [], X, _, Acc) -> reverse([X | Acc]).

%% Merging sorted lists

merge(Ls) when is_list(Ls) -> merge_all(Ls, fun merge/2).

umerge(Ls) when is_list(Ls) ->
    merge_all([unique_or_empty(L) || L <- Ls], fun umerge/2).

unique_or_empty([]) -> [];
unique_or_empty(L) -> unique(L).

merge_all([], _) -> [];
merge_all([L], _) -> L;
merge_all(Ls, Merge) -> merge_all(merge_pairs(Ls, Merge), Merge).

merge_pairs([A, B | Ls], Merge) -> [Merge(A, B) | merge_pairs(Ls, Merge)];
merge_pairs(Ls, _) -> Ls.

merge([A | As], [B | Bs]) -> reverse(merge_rising(As, A, Bs, B, []));
merge(As, []) when is_list(As) -> As;
merge([], Bs) when is_list(Bs) -> Bs.

merge3(As, Bs, Cs) -> merge(merge(As, Bs), Cs).

merge(Le, As, Bs) when is_function(Le, 2), is_list(As), is_list(Bs) ->
    case {As, Bs} of
        {[A | At], [B | Bt]} -> reverse(fmerge_rising(Le, At, A, Bt, B, []));
        {_, []} -> As;
        {[], _} -> Bs
    end.

%% Of elements in both lists the one of the first list is kept. The inputs
%% hold no duplicates; more copies in one list still leave one.
umerge(As, Bs) when is_list(As), is_list(Bs) -> umerge_loop(fun(A, B) -> A =< B end, As, Bs, []).

umerge3(As, Bs, Cs) -> umerge(umerge(As, Bs), Cs).

umerge(Le, As, Bs) when is_function(Le, 2), is_list(As), is_list(Bs) -> umerge_loop(Le, As, Bs, []).

%% An element of Bs that is equal to the one of As before it is left out.
umerge_loop(Le, [A | At] = As, [B | Bt] = Bs, Acc) ->
    case Le(A, B) of
        true -> umerge_after(Le, A, At, Bs, [A | Acc]);
        false -> umerge_loop(Le, As, Bt, [B | Acc])
    end;
umerge_loop(_, [], Bs, Acc) -> lists:reverse(Acc, Bs);
umerge_loop(_, As, [], Acc) -> lists:reverse(Acc, As).

umerge_after(Le, Last, As, [B | Bt] = Bs, Acc) ->
    case As of
        [A | At] ->
            case Le(A, B) of
                true -> umerge_after(Le, A, At, Bs, [A | Acc]);
                false -> umerge_loop(Le, As, dropped(Le, B, Last, Bs, Bt), Acc)
            end;
        [] -> lists:reverse(Acc, dropped(Le, B, Last, Bs, Bt))
    end.

dropped(Le, B, Last, Bs, Bt) ->
    case Le(B, Last) of
        true -> Bt;
        false -> Bs
    end.

keymerge(I, As, Bs) when is_integer(I), I > 0, is_list(As), is_list(Bs) ->
    case {As, Bs} of
        {[A | At], [B | Bt]} ->
            reverse(kmerge_rising(I, At, A, element(I, A), Bt, B, element(I, B), []));
        {_, []} -> As;
        {[], _} -> Bs
    end.

ukeymerge(I, As, Bs) when is_integer(I), I > 0, is_list(As), is_list(Bs) ->
    umerge_loop(fun(A, B) -> element(I, A) =< element(I, B) end, As, Bs, []).

%% Merging lists sorted the other way round

rmerge(As, Bs) -> reverse(merge(reverse(As), reverse(Bs))).

rmerge(Le, As, Bs) -> reverse(merge(Le, reverse(As), reverse(Bs))).

rmerge3(As, Bs, Cs) -> rmerge(rmerge(As, Bs), Cs).

rumerge(As, Bs) -> reverse(umerge(reverse(As), reverse(Bs))).

rumerge(Le, As, Bs) -> reverse(umerge(Le, reverse(As), reverse(Bs))).

rumerge3(As, Bs, Cs) -> rumerge(rumerge(As, Bs), Cs).

rkeymerge(I, As, Bs) -> reverse(keymerge(I, reverse(As), reverse(Bs))).

rukeymerge(I, As, Bs) -> reverse(ukeymerge(I, reverse(As), reverse(Bs))).
