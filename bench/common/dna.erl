%% The three sequences of the benchmarks game's fasta, which others of its programs read: one that
%% repeats a text, and two whose letters are drawn, each as often as its share says.
-module(dna).
-export([sequences/1, fasta/1, lines/1, alu/0, shares/1, next/1]).

-define(STATES, 139968).
-define(LINE_LETTERS, 60).

%% {Title, Letters} of each, of 2 N, 3 N and 5 N letters.
sequences(N) ->
    {Two, State} = drawn(3 * N, 42, up_to(shares(iub)), <<>>),
    {Three, _} = drawn(5 * N, State, up_to(shares(homo_sapiens)), <<>>),
    [{"ONE Homo sapiens alu", repeated(2 * N, alu())},
     {"TWO IUB ambiguity codes", Two},
     {"THREE Homo sapiens frequency", Three}].

%% All of them as the text of a file.
fasta(N) -> iolist_to_binary([[$>, Title, $\n, lines(Letters)] || {Title, Letters} <- sequences(N)]).

lines(<<Line:?LINE_LETTERS/binary, Letters/binary>>) -> [Line, $\n | lines(Letters)];
lines(<<>>) -> [];
lines(Line) -> [Line, $\n].

repeated(N, Text) -> binary:part(binary:copy(Text, N div byte_size(Text) + 1), 0, N).

drawn(0, State, _, Letters) -> {Letters, State};
drawn(N, State, UpTo, Letters) ->
    Next = next(State),
    drawn(N - 1, Next, UpTo, <<Letters/binary, (letter(Next / ?STATES, UpTo))>>).

%% The game's own generator.
next(State) -> (State * 3877 + 29573) rem ?STATES.

letter(_, [{Letter, _}]) -> Letter;
letter(Number, [{Letter, UpTo} | _]) when Number < UpTo -> Letter;
letter(Number, [_ | More]) -> letter(Number, More).

up_to(Shares) ->
    Sums = fun({Letter, Share}, Sum) -> {{Letter, Sum + Share}, Sum + Share} end,
    element(1, lists:mapfoldl(Sums, 0.0, Shares)).

shares(iub) -> [{$a, 0.27}, {$c, 0.12}, {$g, 0.12}, {$t, 0.27} | [{Letter, 0.02} || Letter <- "BDHKMNRSVWY"]];
shares(homo_sapiens) ->
    [{$a, 0.3029549426680}, {$c, 0.1979883004921}, {$g, 0.1975473066391}, {$t, 0.3015094502008}].

alu() ->
    <<"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGGTCAGGAGTTCGAGA"
      "CCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGGCGTGGTGGCGCGCGCCTGTAATCCCA"
      "GCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCC"
      "AGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA">>.
