%% SPDX-License-Identifier: Apache-2.0
%% Unicode operations on character data (lists of code points, UTF-8 binaries
%% and nested lists of these): the next code point or grapheme cluster, case
%% mapping of the next character, and normalisation. Each function takes data
%% and answers [Result | Rest], [] at the end, or {error, Rest}.
%%
%% Grapheme clusters follow UAX #29, normalisation UAX #15; the tables are in
%% unicode_data. Characters below 128 never look at a table.
-module(unicode_util).

-export([cp/1, gc/1, uppercase/1, lowercase/1, titlecase/1, casefold/1, nfd/1, nfc/1,
         nfkd/1, nfkc/1, whitespace/0, is_whitespace/1, spec_version/0, lookup/1, get_case/1]).
-export([category/1, is_other_id_start/1, is_other_id_continue/1, is_wide/1]).

-define(ZWJ, 16#200D).

spec_version() -> version_pair(unicode_data:version()).

version_pair({Major, Minor, _}) -> {Major, Minor}.

%% Code points

cp([C | _] = L) when is_integer(C), C >= 0, C < 16#110000 -> L;
cp([L]) -> cp(L);
cp([L | Tail]) when is_list(L) ->
    case cp(L) of
        [C | Rest] -> [C | behind(Rest, Tail)];
        [] -> cp(Tail);
        {error, Rest} -> {error, behind(Rest, Tail)}
    end;
cp([B | Tail]) when is_binary(B) ->
    case B of
        <<C/utf8, Rest/binary>> -> [C | behind(Rest, Tail)];
        <<>> -> cp(Tail);
        _ -> {error, behind(B, Tail)}
    end;
cp([]) -> [];
cp(<<C/utf8, Rest/binary>>) -> [C | Rest];
cp(<<>>) -> [];
cp(B) when is_binary(B) -> {error, B}.

%% Data in front of other data, without needless nesting.
behind([], Tail) -> Tail;
behind(<<>>, Tail) -> Tail;
behind(Rest, []) -> Rest;
behind(Rest, Tail) -> [Rest | Tail].

%% Grapheme clusters

-spec gc(unicode:chardata()) -> maybe_improper_list() | {error, unicode:chardata()}.
gc([C | [D | _]] = L) when is_integer(C), is_integer(D), C < 128, D < 128, C =/= $\r -> L;
gc(<<C, D, _/binary>> = B) when C < 128, D < 128, C =/= $\r ->
    <<_, Rest/binary>> = B,
    [C | Rest];
gc(Data) ->
    case cp(Data) of
        [$\r | Rest] ->
            case cp(Rest) of
                [$\n | Rest1] -> [[$\r, $\n] | Rest1];
                _ -> [$\r | Rest]
            end;
        [C | Rest] ->
            case class(C) of
                control -> [C | Rest];
                Class -> cluster(Class, Rest, [C])
            end;
        Other -> Other
    end.

%% Class is that of the last code point, where it matters; Acc is reversed.
cluster(Class, Rest, Acc) ->
    case cp(Rest) of
        [C | Rest1] ->
            Next = class(C),
            case joins(Class, Next) of
                false -> done(Acc, Rest);
                Class1 -> cluster(Class1, Rest1, [C | Acc])
            end;
        _ -> done(Acc, Rest)
    end.

done([C], Rest) -> [C | Rest];
done(Acc, Rest) -> [lists:reverse(Acc) | Rest].

%% Whether there is no break between code points of these classes: false, or
%% the state after the second. {pictograph, zwj} is a pictograph, any number of
%% extends and a joiner; regional2 a complete pair.
joins(_, control) -> false;
joins(pictograph, extend) -> pictograph;
joins({pictograph, zwj}, extend) -> pictograph;
joins(pictograph, zwj) -> {pictograph, zwj};
joins({pictograph, zwj}, zwj) -> {pictograph, zwj};
joins({pictograph, zwj}, pictograph) -> pictograph;
joins(_, extend) -> other;
joins(_, zwj) -> other;
joins(_, spacing) -> other;
joins(prepend, Next) -> Next;
joins(hangul_l, Next) when Next =:= hangul_l; Next =:= hangul_v; Next =:= hangul_lv; Next =:= hangul_lvt ->
    Next;
joins(Class, Next) when (Class =:= hangul_v orelse Class =:= hangul_lv),
                        (Next =:= hangul_v orelse Next =:= hangul_t) -> Next;
joins(Class, hangul_t) when Class =:= hangul_t; Class =:= hangul_lvt -> hangul_t;
joins(regional, regional) -> regional2;
joins(_, _) -> false.

class(C) when C < 32 -> control;
class(C) when C < 127 -> other;
class(C) when C >= 16#1100, C =< 16#11FF ->
    if
        C < 16#1160 -> hangul_l;
        C < 16#11A8 -> hangul_v;
        true -> hangul_t
    end;
class(C) when C >= 16#A960, C =< 16#A97C -> hangul_l;
class(C) when C >= 16#AC00, C =< 16#D7A3 ->
    case (C - 16#AC00) rem 28 of
        0 -> hangul_lv;
        _ -> hangul_lvt
    end;
class(C) when C >= 16#D7B0, C =< 16#D7C6 -> hangul_v;
class(C) when C >= 16#D7CB, C =< 16#D7FB -> hangul_t;
class(C) when C >= 16#4E00, C =< 16#9FFF -> other;
class(C) when C >= 16#1F1E6, C =< 16#1F1FF -> regional;
class(?ZWJ) -> zwj;
class(127) -> control;
class(C) ->
    case in_range(C, unicode_data:class_ranges(), 3) of
        none -> other;
        At -> element(At + 2, unicode_data:class_ranges())
    end.

%% The general category of a code point.
category(C) when C >= $a, C =< $z -> {letter, lowercase};
category(C) when C >= 0, C < 16#110000 ->
    case in_range(C, unicode_data:category_ranges(), 3) of
        none -> {other, not_assigned};
        At -> category_name(element(At + 2, unicode_data:category_ranges()))
    end.

category_name(lu) -> {letter, uppercase};
category_name(ll) -> {letter, lowercase};
category_name(lt) -> {letter, titlecase};
category_name(lm) -> {letter, modifier};
category_name(lo) -> {letter, other};
category_name(mn) -> {mark, non_spacing};
category_name(mc) -> {mark, spacing_combining};
category_name(me) -> {mark, enclosing};
category_name(nd) -> {number, decimal};
category_name(nl) -> {number, letter};
category_name(no) -> {number, other};
category_name(pc) -> {punctuation, connector};
category_name(pd) -> {punctuation, dash};
category_name(ps) -> {punctuation, open};
category_name(pe) -> {punctuation, close};
category_name(pi) -> {punctuation, initial};
category_name(pf) -> {punctuation, final};
category_name(po) -> {punctuation, other};
category_name(sm) -> {symbol, math};
category_name(sc) -> {symbol, currency};
category_name(sk) -> {symbol, modifier};
category_name(so) -> {symbol, other};
category_name(zs) -> {separator, space};
category_name(zl) -> {separator, line};
category_name(zp) -> {separator, paragraph};
category_name(cc) -> {other, control};
category_name(cf) -> {other, format};
category_name(cs) -> {other, surrogate};
category_name(co) -> {other, private}.

%% What identifiers may have for compatibility's sake: the properties Other_ID_Start and
%% Other_ID_Continue.
is_other_id_start(C) ->
    C =:= 16#1885 orelse C =:= 16#1886 orelse C =:= 16#2118 orelse C =:= 16#212E
        orelse C =:= 16#309B orelse C =:= 16#309C.

is_other_id_continue(C) ->
    C =:= 16#B7 orelse C =:= 16#387 orelse (C >= 16#1369 andalso C =< 16#1371) orelse C =:= 16#19DA
        orelse C =:= 16#200C orelse C =:= 16#200D orelse C =:= 16#30FB orelse C =:= 16#FF65.

%% Whether it takes two columns of a terminal.
is_wide(C) when is_integer(C) -> C >= 16#1100 andalso in_range(C, unicode_data:wide_ranges(), 2) =/= none;
is_wide([C | Cs]) -> is_wide(C) orelse is_wide(Cs);
is_wide([]) -> false.

%% Position of the row (of Width elements, beginning Low, High) that holds C.
in_range(C, Table, Width) -> in_range(C, Table, Width, 0, tuple_size(Table) div Width).

in_range(_, _, _, Low, High) when Low >= High -> none;
in_range(C, Table, Width, Low, High) ->
    Mid = (Low + High) div 2,
    At = Mid * Width + 1,
    if
        C < element(At, Table) -> in_range(C, Table, Width, Low, Mid);
        C > element(At + 1, Table) -> in_range(C, Table, Width, Mid + 1, High);
        true -> At
    end.

%% Position of the row (of Width elements) that begins with C.
row(C, Table, Width) -> row(C, Table, Width, 0, tuple_size(Table) div Width).

row(_, _, _, Low, High) when Low >= High -> none;
row(C, Table, Width, Low, High) ->
    Mid = (Low + High) div 2,
    At = Mid * Width + 1,
    case element(At, Table) of
        C -> At;
        X when C < X -> row(C, Table, Width, Low, Mid);
        _ -> row(C, Table, Width, Mid + 1, High)
    end.

%% White space of the Pattern_White_Space property

whitespace() -> [[$\r, $\n], $\t, $\n, $\v, $\f, $\r, $\s, 16#85, 16#200E, 16#200F, 16#2028, 16#2029].

is_whitespace(C) when is_integer(C) ->
    C =:= $\s orelse (C >= $\t andalso C =< $\r) orelse C =:= 16#85 orelse C =:= 16#200E
        orelse C =:= 16#200F orelse C =:= 16#2028 orelse C =:= 16#2029;
is_whitespace([$\r, $\n]) -> true;
is_whitespace(_) -> false.

%% Case

lowercase(Data) -> cased(Data, lower).
uppercase(Data) -> cased(Data, upper).
titlecase(Data) -> cased(Data, title).
casefold(Data) -> cased(Data, fold).

cased(Data, Case) ->
    case cp(Data) of
        [C | Rest] -> [mapped(C, Case) | Rest];
        Other -> Other
    end.

mapped(C, Case) when C < 128 ->
    if
        C >= $a, C =< $z, (Case =:= upper orelse Case =:= title) -> C - 32;
        C >= $A, C =< $Z, (Case =:= lower orelse Case =:= fold) -> C + 32;
        true -> C
    end;
mapped(C, Case) ->
    {Ranges, Special} = case_tables(Case),
    case in_range(C, Ranges, 4) of
        none -> special(C, Special);
        At when (C - element(At, Ranges)) rem element(At + 2, Ranges) =:= 0 ->
            C + element(At + 3, Ranges);
        _ -> special(C, Special)
    end.

special(C, Table) ->
    case row(C, Table, 2) of
        none -> C;
        At -> element(At + 1, Table)
    end.

case_tables(lower) -> {unicode_data:lower_ranges(), unicode_data:lower_special()};
case_tables(upper) -> {unicode_data:upper_ranges(), unicode_data:upper_special()};
case_tables(title) -> {unicode_data:title_ranges(), unicode_data:title_special()};
case_tables(fold) -> {unicode_data:fold_ranges(), unicode_data:fold_special()}.

get_case(C) ->
    #{lower => mapped(C, lower), upper => mapped(C, upper), title => mapped(C, title),
        fold => mapped(C, fold)}.

lookup(C) ->
    Canon = decomposition(C, canonical),
    Compat = decomposition(C, compat),
    #{ccc => ccc(C),
      canon => case Canon of [C] -> []; _ -> Canon end,
      compat => case Compat of Canon -> []; _ -> Compat end}.

%% Normalisation: one grapheme cluster at a time. A cluster holds every
%% combining mark after its base, so it is ordered and composed on its own.

nfd(Data) -> normal(Data, canonical, false).
nfkd(Data) -> normal(Data, compat, false).
nfc(Data) -> normal(Data, canonical, true).
nfkc(Data) -> normal(Data, compat, true).

normal([C | [D | _]] = L, _, _) when is_integer(C), is_integer(D), C < 128, D < 128, C =/= $\r -> L;
normal(Data, Kind, Compose) ->
    case gc(Data) of
        [C | _] = Result when is_integer(C), C < 128 -> Result;
        [Cluster | Rest] ->
            Cps = if is_list(Cluster) -> Cluster; true -> [Cluster] end,
            Decomposed = ordered(lists:flatmap(fun(C) -> decomposition(C, Kind) end, Cps)),
            case if Compose -> compose(Decomposed); true -> Decomposed end of
                [C] -> [C | Rest];
                Cs when Kind =:= compat -> separate(Cs, Rest);
                Cs -> [Cs | Rest]
            end;
        Other -> Other
    end.

%% A compatibility decomposition may consist of several clusters.
separate(Cs, Rest) ->
    [First | More] = gc(Cs),
    [First | case {More, Rest} of
                 {[], _} -> Rest;
                 _ -> More ++ Rest
             end].

decomposition(C, _) when C < 128 -> [C];
decomposition(C, _) when C >= 16#AC00, C =< 16#D7A3 ->
    S = C - 16#AC00,
    Lead = 16#1100 + S div 588,
    Vowel = 16#1161 + (S rem 588) div 28,
    case S rem 28 of
        0 -> [Lead, Vowel];
        T -> [Lead, Vowel, 16#11A7 + T]
    end;
decomposition(C, canonical) -> decomposed(C, unicode_data:decompositions());
decomposition(C, compat) ->
    case decomposed(C, unicode_data:compat_decompositions()) of
        [C] -> decomposed(C, unicode_data:decompositions());
        Cs -> Cs
    end.

decomposed(C, Table) ->
    case row(C, Table, 2) of
        none -> [C];
        At -> element(At + 1, Table)
    end.

ccc(C) when C < 16#300 -> 0;
ccc(C) ->
    Table = unicode_data:combining_ranges(),
    case in_range(C, Table, 3) of
        none -> 0;
        At -> element(At + 2, Table)
    end.

%% Runs of marks are put in the order of their combining classes.
ordered([C | T]) ->
    case ccc(C) of
        0 -> [C | ordered(T)];
        _ ->
            {Marks, Rest} = lists:splitwith(fun(X) -> ccc(X) =/= 0 end, [C | T]),
            [M || {_, M} <- lists:keysort(1, [{ccc(M), M} || M <- Marks])] ++ ordered(Rest)
    end;
ordered([]) -> [].

compose([C | T]) ->
    case ccc(C) of
        0 -> compose(T, C, 0, []);
        _ -> [C | compose(T)]
    end;
compose([]) -> [].

%% Starter takes in the marks that are not blocked by one of the same or a
%% higher class kept before (in Kept, reversed; Last is the class of its head).
compose([C | T], Starter, Last, Kept) ->
    Class = ccc(C),
    Blocked = Kept =/= [] andalso (Last =:= 0 orelse Last >= Class),
    case not Blocked andalso pair(Starter, C) of
        false when Class =:= 0 -> [Starter | lists:reverse(Kept, compose([C | T]))];
        false -> compose(T, Starter, Class, [C | Kept]);
        Composed -> compose(T, Composed, Last, Kept)
    end;
compose([], Starter, _, Kept) -> [Starter | lists:reverse(Kept)].

pair(L, V) when L >= 16#1100, L =< 16#1112, V >= 16#1161, V =< 16#1175 ->
    16#AC00 + ((L - 16#1100) * 21 + (V - 16#1161)) * 28;
pair(LV, T) when LV >= 16#AC00, LV =< 16#D7A3, (LV - 16#AC00) rem 28 =:= 0, T > 16#11A7, T =< 16#11C2 ->
    LV + (T - 16#11A7);
pair(A, B) ->
    Table = unicode_data:compositions(),
    pair(A, B, Table, 0, tuple_size(Table) div 3).

pair(_, _, _, Low, High) when Low >= High -> false;
pair(A, B, Table, Low, High) ->
    Mid = (Low + High) div 2,
    At = Mid * 3 + 1,
    X = element(At, Table),
    Y = element(At + 1, Table),
    if
        A =:= X, B =:= Y -> element(At + 2, Table);
        A < X; A =:= X, B < Y -> pair(A, B, Table, Low, Mid);
        true -> pair(A, B, Table, Mid + 1, High)
    end.
