%% Double-ended queues as a pair {Rear, Front} of lists, the rear reversed.
%% A queue of two or more elements has at least one in each list, so both ends
%% are reached in amortised constant time whichever end is used.
-module(queue).
-compile({no_auto_import, [get/1]}).

-export([new/0, is_queue/1, is_empty/1, len/1, to_list/1, from_list/1,
         member/2, in/2, in_r/2, out/1, out_r/1, get/1, get_r/1, peek/1,
         peek_r/1, drop/1, drop_r/1, reverse/1, join/2, split/2, filter/2,
         filtermap/2, fold/3, any/2, all/2, delete/2, delete_r/2,
         delete_with/2, delete_with_r/2]).
-export([cons/2, head/1, tail/1, snoc/2, last/1, daeh/1, init/1, liat/1, lait/1]).

new() -> {[], []}.

is_queue({R, F}) when is_list(R), is_list(F) -> true;
is_queue(_) -> false.

is_empty({[], []}) -> true;
is_empty({R, F}) when is_list(R), is_list(F) -> false;
is_empty(Q) -> error(badarg, [Q]).

len({R, F}) when is_list(R), is_list(F) -> length(R) + length(F);
len(Q) -> error(badarg, [Q]).

to_list({R, F}) when is_list(R), is_list(F) -> F ++ lists:reverse(R);
to_list(Q) -> error(badarg, [Q]).

from_list(L) when is_list(L) -> from_front(L);
from_list(L) -> error(badarg, [L]).

member(X, {R, F}) when is_list(R), is_list(F) -> lists:member(X, R) orelse lists:member(X, F);
member(X, Q) -> error(badarg, [X, Q]).

%% A queue of the given front (or reversed rear) list alone: a part of it
%% moves to the other side.
from_front([]) -> {[], []};
from_front([_] = F) -> {[], F};
from_front([X, Y]) -> {[Y], [X]};
from_front(F) ->
    {Keep, Move} = lists:split(length(F) div 2 + 1, F),
    {lists:reverse(Move), Keep}.

from_rear([]) -> {[], []};
from_rear([_] = R) -> {R, []};
from_rear([X, Y]) -> {[X], [Y]};
from_rear(R) ->
    {Keep, Move} = lists:split(length(R) div 2 + 1, R),
    {Keep, lists:reverse(Move)}.

in(X, {[_] = R, []}) -> {[X], R};
in(X, {R, F}) when is_list(R), is_list(F) -> {[X | R], F};
in(X, Q) -> error(badarg, [X, Q]).

in_r(X, {[], [_] = F}) -> {F, [X]};
in_r(X, {R, F}) when is_list(R), is_list(F) -> {R, [X | F]};
in_r(X, Q) -> error(badarg, [X, Q]).

out({[], []} = Q) -> {empty, Q};
out({[X], []}) -> {{value, X}, {[], []}};
out({[Last | R], []}) ->
    [X | F] = lists:reverse(R),
    {{value, X}, {[Last], F}};
out({R, [X]}) when is_list(R) -> {{value, X}, from_rear(R)};
out({R, [X | F]}) when is_list(R) -> {{value, X}, {R, F}};
out(Q) -> error(badarg, [Q]).

out_r({[], []} = Q) -> {empty, Q};
out_r({[], [X]}) -> {{value, X}, {[], []}};
out_r({[], [First | F]}) ->
    [X | R] = lists:reverse(F),
    {{value, X}, {R, [First]}};
out_r({[X], F}) when is_list(F) -> {{value, X}, from_front(F)};
out_r({[X | R], F}) when is_list(F) -> {{value, X}, {R, F}};
out_r(Q) -> error(badarg, [Q]).

get(Q) ->
    case peek(Q, [Q]) of
        {value, X} -> X;
        empty -> error(empty, [Q])
    end.

get_r(Q) ->
    case peek_r(Q, [Q]) of
        {value, X} -> X;
        empty -> error(empty, [Q])
    end.

peek(Q) -> peek(Q, [Q]).

peek({[], []}, _) -> empty;
peek({R, [X | _]}, _) when is_list(R) -> {value, X};
peek({[X], []}, _) -> {value, X};
peek({[_ | R], []}, _) -> {value, lists:last(R)};
peek(_, Args) -> error(badarg, Args).

peek_r(Q) -> peek_r(Q, [Q]).

peek_r({[], []}, _) -> empty;
peek_r({[X | _], F}, _) when is_list(F) -> {value, X};
peek_r({[], [X]}, _) -> {value, X};
peek_r({[], [_ | F]}, _) -> {value, lists:last(F)};
peek_r(_, Args) -> error(badarg, Args).

drop(Q) ->
    case out(Q) of
        {{value, _}, Rest} -> Rest;
        {empty, _} -> error(empty, [Q])
    end.

drop_r(Q) ->
    case out_r(Q) of
        {{value, _}, Rest} -> Rest;
        {empty, _} -> error(empty, [Q])
    end.

reverse({R, F}) when is_list(R), is_list(F) -> {F, R};
reverse(Q) -> error(badarg, [Q]).

join({R, F} = Q, {[], []}) when is_list(R), is_list(F) -> Q;
join({[], []}, {R, F} = Q) when is_list(R), is_list(F) -> Q;
join({R1, F1}, {R2, F2}) when is_list(R1), is_list(F1), is_list(R2), is_list(F2) ->
    {R2, F1 ++ lists:reverse(R1, F2)};
join(A, B) -> error(badarg, [A, B]).

split(0, {R, F} = Q) when is_list(R), is_list(F) -> {{[], []}, Q};
split(N, {R, F} = Q) when is_integer(N), N >= 1, is_list(R), is_list(F) ->
    FrontLen = length(F),
    Len = FrontLen + length(R),
    if
        N < FrontLen ->
            {A, B} = lists:split(N, F),
            {from_front(A), rebalance(R, B)};
        N =:= FrontLen -> {from_front(F), from_rear(R)};
        N < Len ->
            {B, A} = lists:split(Len - N, R),
            {rebalance(A, F), from_rear(B)};
        N =:= Len -> {Q, {[], []}};
        true -> error(badarg, [N, Q])
    end;
split(N, Q) -> error(badarg, [N, Q]).

%% Restores the invariant after elements were taken away.
rebalance([], F) -> from_front(F);
rebalance(R, []) -> from_rear(R);
rebalance(R, F) -> {R, F}.

filter(P, {R, F}) when is_function(P, 1), is_list(R), is_list(F) ->
    Keep = filter_front(P, F),
    rebalance(filter_rear(P, R), Keep);
filter(P, Q) -> error(badarg, [P, Q]).

filter_front(P, [X | T]) ->
    case P(X) of
        true -> [X | filter_front(P, T)];
        false -> filter_front(P, T);
        L when is_list(L) -> L ++ filter_front(P, T)
    end;
filter_front(_, []) -> [].

filter_rear(P, [X | T]) ->
    Rest = filter_rear(P, T),
    case P(X) of
        true -> [X | Rest];
        false -> Rest;
        L when is_list(L) -> lists:reverse(L, Rest)
    end;
filter_rear(_, []) -> [].

filtermap(F, {_, _} = Q) when is_function(F, 1) ->
    Expand = fun(X) -> case F(X) of {true, Y} -> [Y]; Bool -> Bool end end,
    filter(Expand, Q);
filtermap(F, Q) -> error(badarg, [F, Q]).

fold(F, Acc, {Rear, Front}) when is_function(F, 2), is_list(Rear), is_list(Front) ->
    lists:foldr(F, lists:foldl(F, Acc, Front), Rear);
fold(F, Acc, Q) -> error(badarg, [F, Acc, Q]).

any(P, {R, F}) when is_function(P, 1), is_list(R), is_list(F) ->
    lists:any(P, F) orelse lists:any(P, R);
any(P, Q) -> error(badarg, [P, Q]).

all(P, {R, F}) when is_function(P, 1), is_list(R), is_list(F) ->
    lists:all(P, F) andalso lists:all(P, R);
all(P, Q) -> error(badarg, [P, Q]).

delete(X, {R, F} = Q) when is_list(R), is_list(F) -> delete_with(fun(Y) -> Y =:= X end, Q);
delete(X, Q) -> error(badarg, [X, Q]).

delete_r(X, {R, F} = Q) when is_list(R), is_list(F) -> delete_with_r(fun(Y) -> Y =:= X end, Q);
delete_r(X, Q) -> error(badarg, [X, Q]).

delete_with(P, {R, F} = Q) when is_function(P, 1), is_list(R), is_list(F) ->
    case drop_first(P, F) of
        false ->
            case drop_first(P, lists:reverse(R)) of
                false -> Q;
                R1 -> rebalance(lists:reverse(R1), F)
            end;
        F1 -> rebalance(R, F1)
    end;
delete_with(P, Q) -> error(badarg, [P, Q]).

delete_with_r(P, {R, F} = Q) when is_function(P, 1), is_list(R), is_list(F) ->
    reverse(delete_with(P, reverse(Q)));
delete_with_r(P, Q) -> error(badarg, [P, Q]).

drop_first(P, [X | T]) ->
    case P(X) of
        true -> T;
        false ->
            case drop_first(P, T) of
                false -> false;
                T1 -> [X | T1]
            end
    end;
drop_first(_, []) -> false.

%% The names of Okasaki's book, and their mirror images

cons(X, Q) -> in_r(X, Q).
head(Q) -> get(Q).
tail(Q) -> drop(Q).
snoc(Q, X) -> in(X, Q).
last(Q) -> get_r(Q).
daeh(Q) -> get_r(Q).
init(Q) -> drop_r(Q).
liat(Q) -> drop_r(Q).
lait(Q) -> drop_r(Q).
