%% SPDX-License-Identifier: Apache-2.0
%% The reserved words of the language, one list for the scanner and for
%% deciding which atoms are written in quotes.
-module(erl_scan_words).

-export([reserved/1]).

-spec reserved(atom()) -> boolean().
reserved('after') -> true;
reserved('begin') -> true;
reserved('case') -> true;
reserved('try') -> true;
reserved('cond') -> true;
reserved('catch') -> true;
reserved('andalso') -> true;
reserved('orelse') -> true;
reserved('end') -> true;
reserved('fun') -> true;
reserved('if') -> true;
reserved('let') -> true;
reserved('of') -> true;
reserved('receive') -> true;
reserved('when') -> true;
reserved('bnot') -> true;
reserved('not') -> true;
reserved('div') -> true;
reserved('rem') -> true;
reserved('band') -> true;
reserved('and') -> true;
reserved('bor') -> true;
reserved('bxor') -> true;
reserved('bsl') -> true;
reserved('bsr') -> true;
reserved('or') -> true;
reserved('xor') -> true;
reserved('maybe') -> true;
reserved('else') -> true;
reserved(_) -> false.
