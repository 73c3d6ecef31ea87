/* Names in quotes, as Erlang writes atoms: nothing in them is a pattern, a separator or an arity. */
/* target: odd_names.act */
#pragma D option quiet

erlang*:odd_names:'f g'/1:entry { printf("blank\n"); }
erlang*:'odd_names':'a:b':entry { printf("colon\n"); }
erlang*:odd_names:'*':entry { printf("star\n"); }
erlang*:odd_names:'\x3f'/1:entry { printf("question mark\n"); }
erlang*:odd_names:'a/1'/1:entry { printf("slash\n"); }
erlang*:odd_names:'it\'s':entry { printf("quote\n"); }
erlang*:odd_names:'gr\x{f6}ße':entry { printf("ö\n"); }
erlang*:odd_names:gr?ß[d-f]:entry { printf("a character of a pattern is one\n"); }
erlang*:odd_names:日本:entry { printf("without quotes\n"); }
erlang*:odd_names:'':entry { printf("empty\n"); }
erlang*:odd_names:'['*']':entry { printf("a pattern between quotes\n"); }
erlang*:odd_names:'++'/2:entry { printf("an operator\n"); }
erlang*:'my mod: 1':h\/2:entry { printf("a backslash\n"); }
erlang*:'my mod: ?':'h/2':entry, erlang*:odd_names:'f*':entry, erlang*:odd_names:'a/1'/2:entry { printf("none\n"); }

/* expect: blank */
/* expect: colon */
/* expect: star */
/* expect: question mark */
/* expect: slash */
/* expect: quote */
/* expect: ö */
/* expect: a character of a pattern is one */
/* expect: without quotes */
/* expect: empty */
/* expect: a pattern between quotes */
/* expect: an operator */
/* expect: a backslash */
