# SPDX-License-Identifier: Apache-2.0
"""Random Erlang modules, each made of its seed alone. What one prints is certain: expressions are typed, so
that most of them have a value, and when one raises, class and reason are printed. Recursion ends, numbers and
lists stay small, nothing depends on time, processes or addresses."""
import random

INT, FLOAT, ATOM, BOOL, BINARY, BITS, STRING, ANY = (
    'int',
    'float',
    'atom',
    'bool',
    'binary',
    'bits',
    'string',
    'any',
)
SIMPLE = (INT, INT, INT, FLOAT, ATOM, BOOL, BINARY, BINARY, BITS, STRING, ANY, ANY)
ATOMS = ('a', 'b', 'ok', 'error', 'true', 'false', 'undefined', "'EXIT'", "'an atom'", 'infinity', "''", 'zz')
# Where representations change: small and large integers, bytes, exponents of floats.
EDGES = (
    0,
    1,
    2,
    3,
    7,
    8,
    10,
    100,
    127,
    128,
    255,
    256,
    1023,
    65535,
    1 << 27,
    (1 << 31) - 1,
    1 << 32,
    (1 << 53) + 1,
    (1 << 59) - 1,
    1 << 59,
    (1 << 60) - 1,
    1 << 60,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    (1 << 64) + 1,
    1 << 100,
    10**30,
)
FLOATS = (
    '0.0',
    '1.0',
    '-1.0',
    '0.5',
    '3.14',
    '1.0e10',
    '1.0e-7',
    '123456789.0',
    '1.0e22',
    '1.7e308',
    '5.0e-324',
    '9007199254740993.0',
    '-2.5',
)
TEXTS = (
    '',
    'a',
    'abc',
    'Hello, world',
    'x y z',
    'ABC',
    '12',
    'tab\\tand\\n',
    '~p',
    'été',
    '日本',
    ' ',
    'aaa,b,,c',
)
CASES_OF_TEXT = ('uppercase', 'lowercase', 'trim', 'reverse', 'titlecase', 'casefold')
LARGEST_CALL = 3000  # steps, roughly, of one call of a function


class Module:
    """The text of one module grows here."""

    def __init__(self, seed):
        self.random, self.seed, self.name = random.Random(seed), seed, f'p{seed}'
        self.functions = []  # (name, types of parameters, type of the result, steps of a call)
        self.names, self.nodes, self.steps, self.factor = 0, 0, 0, 1

    # Choices.

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *choices):
        return self.random.choice(choices)

    def one_of(self, *makers):
        return self.random.choice(makers)()

    def type(self, depth=2):
        if depth == 0 or self.chance(55):
            return self.pick(*SIMPLE)
        kind = self.pick('list', 'list', 'tuple', 'map', 'fun', 'record')
        if kind == 'list':
            return ('list', self.type(depth - 1))
        if kind == 'tuple':
            return ('tuple', *(self.type(depth - 1) for _ in range(self.random.randint(0, 4))))
        if kind == 'fun':
            return (
                'fun',
                tuple(self.type(0) for _ in range(self.random.randint(0, 3))),
                self.type(depth - 1),
            )
        return (kind,)

    def variable(self):
        self.names += 1
        return f'V{self.names}'

    def in_loop(self, times, make):
        """What `make` makes is evaluated up to `times` times."""
        self.factor *= times
        text = make()
        self.factor //= times
        return text

    # Literals and leaves.

    def integer(self):
        value = self.pick(
            self.random.randint(-10, 10),
            self.random.randint(-1000, 1000),
            self.pick(*EDGES),
            -self.pick(*EDGES),
            self.pick(*EDGES) + self.random.randint(-2, 2),
        )
        return self.pick(str(value), str(value), f'(16#{value:x})' if value >= 0 else str(value))

    def text(self):
        return self.pick(*TEXTS)

    def literal(self, t, depth=2):
        kind = t if isinstance(t, str) else t[0]
        if kind == INT:
            return self.integer()
        if kind == FLOAT:
            return self.pick(*FLOATS)
        if kind == ATOM:
            return self.pick(*ATOMS)
        if kind == BOOL:
            return self.pick('true', 'false')
        if kind == BINARY:
            return self.pick(
                '<<>>',
                f'<<"{self.text()}"/utf8>>',
                f'<<{self.random.randint(0, 255)},{self.random.randint(0, 70000)}:16>>',
                f'<<0:{8 * self.random.randint(1, 40)}>>',
            )
        if kind == BITS:
            size = self.random.randint(1, 70)
            return f'<<{self.random.getrandbits(size)}:{size}>>'
        if kind == STRING:
            return f'"{self.text()}"'
        if kind == ANY:
            return self.literal(
                self.pick(
                    INT, FLOAT, ATOM, BINARY, STRING, BITS, ('list', INT), ('tuple', ATOM, INT), ('map',)
                ),
                depth,
            )
        if kind == 'list':
            return (
                '['
                + ', '.join(
                    self.literal(t[1], depth - 1)
                    for _ in range(self.random.randint(0, 4) if depth > 0 else 0)
                )
                + ']'
            )
        if kind == 'tuple':
            return '{' + ', '.join(self.literal(e, depth - 1) for e in t[1:]) + '}'
        if kind == 'map':
            keys = self.random.sample(('a', 'b', '1', '2.0', '"k"', '{x}'), self.random.randint(0, 4))
            return '#{' + ', '.join(f'{k} => {self.literal(INT)}' for k in keys) + '}'
        if kind == 'record':
            return f'#r{{n = {self.integer()}, l = [{self.integer()}]}}'
        return self.function_of(t, [], 0)

    def leaf(self, t, scope):
        fitting = [name for name, of in scope if of == t or t == ANY]
        return self.random.choice(fitting) if fitting and self.chance(85) else self.literal(t)

    # Expressions.

    def expression(self, t, scope, depth):
        """Text of an expression of type t: atomic, so that it may stand anywhere."""
        self.nodes += 1
        self.steps += self.factor
        if depth <= 0 or self.nodes > 400:
            return self.leaf(t, scope)
        if self.chance(1.5):
            t = ANY  # by mistake
        if self.chance(25):
            return self.leaf(t, scope)
        if self.chance(22):
            return self.control(t, scope, depth)
        if self.chance(12) and (call := self.call(t, scope, depth)):
            return call
        kind = t if isinstance(t, str) else t[0]
        return '(' + getattr(self, f'{kind}_expression')(t, scope, depth - 1) + ')'

    def int_expression(self, _, scope, depth):
        def e(t=INT):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: f'{e()} {self.pick("+", "-", "*")} {e()}',
            lambda: f'{e()} {self.pick("+", "-", "*")} {e()}',
            lambda: f'{e()} {self.pick("div", "rem", "band", "bor", "bxor")} {e()}',
            lambda: f'{e()} {self.pick("div", "rem")} {self.integer()}',
            lambda: f'{e()} {self.pick("bsl", "bsr")} ({e()} band 63)',
            lambda: f'{self.pick("bnot", "-", "+")} {e()}',
            lambda: f'abs({e()})',
            lambda: f'length({e(("list", self.type(0)))})',
            lambda: f'{self.pick("byte_size", "bit_size")}({e(BINARY)})',
            lambda: f'bit_size({e(BITS)})',
            lambda: f'tuple_size({e(("tuple", INT, self.type(0)))})',
            lambda: f'element({self.pick(1, 2)}, {e(("tuple", INT, INT))})',
            lambda: f'map_size({e(("map",))})',
            lambda: f'maps:get({self.literal(ATOM)}, {e(("map",))}, {e()})',
            lambda: f'hd({e(("list", INT))})',
            lambda: f'lists:sum(tool:few({e(("list", INT))}))',
            lambda: f'{self.pick("min", "max")}({e()}, {e()})',
            lambda: f'{self.pick("trunc", "round", "floor", "ceil")}({e(FLOAT)})',
            lambda: f'({e(("record",))})#r.n',
            lambda: f'binary:decode_unsigned({e(BINARY)})',
            lambda: f'list_to_integer(integer_to_list({e()}))',
            lambda: f'erlang:crc32({e(BINARY)})',
            lambda: f'binary_to_integer(integer_to_binary({e()}, 36), 36)',
            lambda: self.fold(INT, scope, depth),
            lambda: f'erlang:phash2(tool:clean({e(ANY)}), 1000)',
            lambda: f'string:length({e(STRING)})',
            lambda: f'binary:at({e(BINARY)}, {e()} band 3)',
        )

    def float_expression(self, _, scope, depth):
        def e(t=FLOAT):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: f'{e()} {self.pick("+", "-", "*", "/")} {e()}',
            lambda: f'{e()} {self.pick("+", "-", "*", "/")} {e(INT)}',
            lambda: f'{e(INT)} / {e(INT)}',
            lambda: f'float({e(INT)})',
            lambda: f'abs({e()})',
            lambda: f'math:sqrt(abs({e()}))',
            lambda: f'math:{self.pick("floor", "ceil")}({e()})',
            lambda: f'-{e()}',
            lambda: f'list_to_float(float_to_list({e()}))',
            lambda: f'math:fmod({e()}, {e()})',
        )

    def atom_expression(self, _, scope, depth):
        return self.one_of(
            lambda: f'list_to_atom({self.expression(STRING, scope, depth)})',
            lambda: self.expression(BOOL, scope, depth),
            lambda: f'element(1, {self.expression(("tuple", ATOM, INT), scope, depth)})',
            lambda: f'binary_to_atom({self.literal(BINARY)}, utf8)',
        )

    def bool_expression(self, _, scope, depth):
        def e(t=BOOL):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: f'{e(ANY)} {self.comparison()} {e(ANY)}',
            lambda: f'{e(INT)} {self.comparison()} {e(self.pick(INT, FLOAT))}',
            lambda: f'not {e()}',
            lambda: f'{e()} {self.pick("andalso", "orelse", "and", "or", "xor")} {e()}',
            lambda: f'{self.type_test()}({e(ANY)})',
            lambda: f'lists:member({e(ANY)}, {e(("list", ANY))})',
            lambda: f'is_map_key({e(ATOM)}, {e(("map",))})',
            lambda: f'lists:{self.pick("any", "all")}('
            f'{self.function_of(("fun", (INT,), BOOL), scope, depth)}, tool:few({e(("list", INT))}))',
        )

    def binary_expression(self, _, scope, depth):
        def e(t=BINARY):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: '<<'
            + ', '.join(
                self.segment(scope, depth, self.pick(True, False)) for _ in range(self.random.randint(1, 4))
            )
            + '>>',
            lambda: f'<<{e()}/binary, {e()}/binary>>',
            lambda: f'<<{e()}/binary, {e(INT)}, "abc", {e(INT)}:32/little>>',
            lambda: f'binary:part({e()}, 0, {e(INT)} band 3)',
            lambda: f'integer_to_binary({e(INT)})',
            lambda: f'list_to_binary([{e()}, {e(INT)} band 255, {e()}])',
            lambda: f'term_to_binary({e(("list", INT))})',
            lambda: f'unicode:characters_to_binary({e(STRING)})',
            lambda: f'erlang:md5({e()})',
            lambda: f'<< <<({self.pick("X", "X + 1", "bnot X")})>> || <<X>> <= {e()} >>',
            lambda: f'iolist_to_binary(lists:join({e()}, binary:split({e()}, <<"a">>, [global])))',
            lambda: f'binary:copy({e()}, {e(INT)} band 3)',
            lambda: f'float_to_binary({e(FLOAT)}, [short])',
            lambda: f'binary:replace({e()}, <<"b">>, {e()})',
            lambda: f'tool:bytes({e(BITS)})',
        )

    def bits_expression(self, _, scope, depth):
        return self.one_of(
            lambda: '<<'
            + ', '.join(self.segment(scope, depth, False) for _ in range(self.random.randint(1, 4)))
            + '>>',
            lambda: f'<<{self.expression(BITS, scope, depth)}/bits, '
            f'{self.expression(INT, scope, depth)}:{self.random.randint(1, 20)}>>',
            lambda: f'<< <<({self.expression(INT, [*scope, ("X", INT)], depth)})'
            f':{self.random.randint(1, 9)}>>'
            f' || X <- tool:few({self.expression(("list", INT), scope, depth)}) >>',
            lambda: self.expression(BINARY, scope, depth),
        )

    def segment(self, scope, depth, whole):
        """One of a construction; whole: of whole bytes."""

        def e(t):
            return self.expression(t, scope, depth)

        size = 8 * self.random.randint(0, 12) if whole else self.random.randint(0, 80)
        flags = self.pick('', '', '/little', '/signed', '/little-signed')
        return self.one_of(
            lambda: f'{e(INT)}:{size}{flags}',
            lambda: f'{e(INT)}',
            lambda: f'{e(BINARY)}/binary',
            lambda: f'{e(BINARY)}:{self.random.randint(0, 3)}/binary',
            lambda: f'{e(FLOAT)}:{self.pick(16, 32, 64, 64)}/float{self.pick("", "-little")}',
            lambda: f'({e(INT)} band 16#fff)/{self.pick("utf8", "utf16", "utf32-little")}',
            lambda: f'"{self.text()}"/utf8',
            lambda: f'{e(INT)}:({e(INT)} band 7)/unit:{8 if whole else self.random.randint(1, 5)}',
            lambda: f'{e(BITS)}/bitstring' if not whole else f'{e(BINARY)}/binary',
        )

    def string_expression(self, _, scope, depth):
        def e(t=STRING):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: f'{e()} ++ {e()}',
            lambda: f'string:{self.pick(*CASES_OF_TEXT)}({e()})',
            lambda: f'integer_to_list({e(INT)})',
            lambda: f'lists:flatten(io_lib:format("{self.pick("~p", "~w", "~10p", "~0p")}", '
            f'[tool:clean({e(ANY)})]))',
            lambda: f'lists:flatten(io_lib:format("~W ~P", [tool:clean({e(ANY)}), 6, tool:clean({e(ANY)}), '
            '5]))',
            lambda: f'lists:flatten(io_lib:format("{self.pick("~b", "~.16b", "~8..0b", "~-6w|", "~c")}", '
            f'[{e(INT)} band 16#ff]))',
            lambda: f'atom_to_list({e(ATOM)})',
            lambda: f'lists:flatten(io_lib:format("{self.pick("~e", "~g", "~.3f", "~10.2f", "~.4e", "~w")}",'
            f' [{e(FLOAT)}]))',
            lambda: f'lists:flatten(string:replace({e()}, "a", {e()}, all))',
            lambda: f'lists:concat([{e(ATOM)}, {e(INT)}, {e()}])',
            lambda: f'[C || C <- {e()}, C {self.comparison()} {self.random.randint(32, 120)}]',
            lambda: f'lists:sublist({e()}, 3)',
            lambda: f'string:pad({e()}, {self.random.randint(0, 9)}, '
            f'{self.pick("leading", "trailing", "both")}, $*)',
            lambda: f'lists:flatten(string:split({e()}, "b"))',
        )

    def any_expression(self, _, scope, depth):
        return self.one_of(
            lambda: self.expression(self.type(1), scope, depth),
            lambda: self.expression(self.type(1), scope, depth),
            lambda: f'tool:id({self.expression(self.type(1), scope, depth)})',
            lambda: f'get({self.pick("k", "l", 1)})',
            lambda: f'binary_to_term(term_to_binary({self.expression(ANY, scope, depth)}))',
            lambda: f'element({self.random.randint(0, 4)}, '
            f'{self.expression(("tuple", ANY, INT, ANY), scope, depth)})',
            lambda: f'maps:find({self.expression(ATOM, scope, depth)}, '
            f'{self.expression(("map",), scope, depth)})',
            lambda: f'lists:{self.pick("last", "max", "min")}({self.expression(("list", ANY), scope, depth)}'
            ')',
            lambda: f'lists:keyfind({self.expression(ATOM, scope, depth)}, 1, '
            f'{self.expression(("list", ("tuple", ATOM, INT)), scope, depth)})',
            lambda: f'string:to_integer({self.expression(STRING, scope, depth)})',
            lambda: self.raising(scope, depth),
        )

    def list_expression(self, t, scope, depth):
        of = t[1]

        def e(t=t):
            return self.expression(t, scope, depth)

        makers = [
            lambda: f'{e()} ++ {e()}',
            lambda: f'{e()} -- {e()}',
            lambda: f'[{e(of)} | {e()}]',
            lambda: f'[{e(of)}, {e(of)} | {e()}]',
            lambda: f'tl({e()})',
            lambda: self.comprehension(of, scope, depth),
            lambda: self.comprehension(of, scope, depth),
            lambda: f'lists:{self.pick("reverse", "sort", "usort")}({e()})',
            lambda: f'lists:map({self.function_of(("fun", (INT,), of), scope, depth)}, '
            f'tool:few({e(("list", INT))}))',
            lambda: f'lists:filter({self.function_of(("fun", (of,), BOOL), scope, depth)}, tool:few({e()}))',
            lambda: f'lists:duplicate({e(INT)} band 3, {e(of)})',
            lambda: f'lists:sublist({e()}, {self.random.randint(1, 3)}, {self.random.randint(0, 3)})',
            lambda: f'lists:nthtail({self.random.randint(0, 2)}, {e()})',
            lambda: f'element({self.pick(1, 2)}, '
            f'lists:partition({self.function_of(("fun", (of,), BOOL), scope, depth)}, tool:few({e()})))',
            lambda: f'lists:foldr({self.function_of(("fun", (of, t), t), scope, depth)}, {e()}, '
            f'tool:few({e()}))',
            lambda: f'lists:append([{e()}, {e()}])',
            lambda: f'lists:delete({e(of)}, {e()})',
        ]
        if of == INT:
            makers += [
                lambda: f'lists:seq(1, {e(INT)} band 7)',
                lambda: f'binary_to_list({e(BINARY)})',
                lambda: f'[X || <<X:{self.random.randint(1, 12)}>> <= {e(BITS)}]',
                lambda: f'maps:values({e(("map",))})',
                lambda: f'({e(("record",))})#r.l',
                lambda: f'integer_to_list({e(INT)})',
                lambda: f'[X * Y || X <- tool:few({e(t)}), Y <- tool:few({e(t)}), X {self.comparison()} Y]',
            ]
        if of == ANY:
            makers += [
                lambda: 'tuple_to_list('
                f'{e(self.type(1) if self.chance(10) else ("tuple", ANY, self.type(0), INT))})',
                lambda: f'maps:to_list({e(("map",))})',
                lambda: f'lists:zip({e(("list", INT))}, {e(("list", INT))})',
                lambda: f'lists:flatten({e()})',
            ]
        return self.random.choice(makers)()

    def tuple_expression(self, t, scope, depth):
        made = lambda: '{' + ', '.join(self.expression(e, scope, depth) for e in t[1:]) + '}'  # noqa: E731
        if len(t) == 1 or self.chance(70):
            return made()
        at = self.random.randint(1, len(t) - 1)
        return f'setelement({at}, {self.expression(t, scope, depth)}, {self.expression(t[at], scope, depth)})'

    def map_expression(self, _, scope, depth):
        def e(t):
            return self.expression(t, scope, depth)

        key = lambda: self.pick('a', 'b', '1', e(ATOM), e(INT))  # noqa: E731
        return self.one_of(
            lambda: f'#{{{key()} => {e(INT)}, {key()} => {e(INT)}}}',
            lambda: self.updated(f'({e(("map",))})#{{{key()} => {e(INT)}}}'),
            lambda: self.updated(f'({e(("map",))})#{{{self.pick("a", "b", "1")} := {e(INT)}}}'),
            lambda: f'maps:put({key()}, {e(INT)}, {e(("map",))})',
            lambda: f'maps:remove({key()}, {e(("map",))})',
            lambda: f'maps:merge({e(("map",))}, {e(("map",))})',
            lambda: f'maps:from_list([{{{key()}, {e(INT)}}}, {{{key()}, {e(INT)}}}])',
            lambda: f'maps:with([a, 1, {key()}], {e(("map",))})',
            lambda: f'maps:map(fun(_, X) -> {self.expression(INT, [*scope, ("X", INT)], depth)} end, '
            f'{e(("map",))})',
        )

    def updated(self, text):
        """A map, for others to see: erlc of OTP 25 leaves an update out, with the error that it raises, when
        nobody looks at the result."""
        return f'tool:id({text})'

    def record_expression(self, t, scope, depth):
        def e(t):
            return self.expression(t, scope, depth)

        return self.one_of(
            lambda: f'#r{{n = {e(INT)}, l = {e(("list", INT))}, x = {e(ANY)}}}',
            lambda: f'#r{{n = {e(INT)}}}',
            lambda: f'({e(t)})#r{{n = {e(INT)}}}',
            lambda: f'({e(t)})#r{{l = {e(("list", INT))}, x = {e(ATOM)}}}',
            lambda: f'#r{{_ = {e(INT)}, l = []}}',
        )

    def fun_expression(self, t, scope, depth):
        return self.function_of(t, scope, depth)

    # What any expression may be.

    def comparison(self):
        return self.pick('==', '=:=', '/=', '=/=', '<', '=<', '>', '>=')

    def type_test(self):
        return self.pick(
            'is_integer',
            'is_atom',
            'is_list',
            'is_binary',
            'is_bitstring',
            'is_float',
            'is_number',
            'is_tuple',
            'is_map',
            'is_function',
            'is_boolean',
            'is_pid',
        )

    def call(self, t, scope, depth):
        """A call of a local function, or of a fun in a variable; nothing where there is none whose result
        fits."""
        fitting = [
            f
            for f in self.functions
            if (f[2] == t or t == ANY) and self.steps + self.factor * f[3] < LARGEST_CALL
        ]
        funs = [(name, of) for name, of in scope if of[0] == 'fun' and (of[2] == t or t == ANY)]
        if funs and self.chance(50):
            name, of = self.random.choice(funs)
            return f'{name}(' + ', '.join(self.expression(p, scope, depth - 1) for p in of[1]) + ')'
        if not fitting:
            return None
        name, parameters, _, steps = self.random.choice(fitting)
        self.steps += self.factor * steps
        arguments = ', '.join(self.expression(p, scope, depth - 1) for p in parameters)
        return self.pick(
            f'{name}({arguments})',
            f'{name}({arguments})',
            f'?MODULE:{name}({arguments})',
            f'apply(?MODULE, {name}, [{arguments}])',
            f'(fun {name}/{len(parameters)})({arguments})',
        )

    def function_of(self, t, scope, depth):
        """A fun of that type; those that are evaluated in loops are small."""
        _, parameters, result = t
        if result == INT and parameters == (INT,) and self.chance(25):
            name, n, x = self.variable(), self.variable(), self.variable()
            body = self.in_loop(4, lambda: self.expression(INT, [*scope, (n, INT), (x, INT)], min(depth, 2)))
            return (
                f'fun(N) -> (fun {name}(0, {x}) -> {x}; {name}({n}, {x}) -> {name}({n} - 1, '
                f'tool:small({body})) end)(abs(N) band 3, 1) end'
            )
        clauses = []
        for _ in range(self.pick(1, 1, 2, 3)):
            patterns, inner = self.patterns(parameters, scope, 1)
            clauses.append(
                f'({", ".join(patterns)}){self.guard(inner, 40)} -> '
                f'{self.in_loop(6, lambda: self.expression(result, inner, min(depth, 2)))}'
            )
        if self.chance(80):
            names = [self.variable() for _ in parameters]
            inner = scope + list(zip(names, parameters))
            clauses.append(
                f'({", ".join(names)}) -> '
                f'{self.in_loop(6, lambda: self.expression(result, inner, min(depth, 2)))}'
            )
        return 'fun' + '; '.join(clauses) + ' end'

    def comprehension(self, of, scope, depth):
        inner, parts = list(scope), []
        for _ in range(self.pick(1, 1, 2)):
            source = self.type(1)
            if self.chance(25):
                name = self.variable()
                parts.append(
                    f'<<{name}:{self.random.randint(3, 16)}{self.pick("", "/little", "/signed")}>> <= '
                    f'{self.expression(BINARY, inner, depth - 1)}'
                )
                inner = [*inner, (name, INT)]
            else:
                values = self.expression(('list', source), inner, depth - 1)
                (pattern,), inner = self.patterns((source,), inner, 1)
                parts.append(f'{pattern} <- tool:few({values})')
            if self.chance(40):
                parts.append(self.pick(self.guard_test(inner), self.expression(BOOL, inner, 1)))
        return (
            f'[{self.in_loop(6 ** len(parts), lambda: self.expression(of, inner, depth - 1))} || '
            f'{", ".join(parts)}]'
        )

    def fold(self, t, scope, depth):
        source = self.type(1)
        x, a = self.variable(), self.variable()
        body = self.in_loop(6, lambda: self.expression(t, [*scope, (x, source), (a, t)], depth - 1))
        return (
            f'lists:fold{self.pick("l", "r")}(fun({x}, {a}) -> tool:small({body}) end, '
            f'{self.expression(t, scope, depth)}, '
            f'tool:few({self.expression(("list", source), scope, depth)}))'
        )

    def raising(self, scope, depth):
        value = self.expression(ANY, scope, depth)
        return self.pick(
            f'throw({value})',
            f'error({value})',
            f'exit({value})',
            f'error({value}, [{value}])',
            f'erlang:raise({self.pick("error", "exit", "throw")}, {value}, [])',
            f'hd(tool:id({value}))',
            f'1 / {value}',
            f'{value} + 1',
            f'atom_to_list({value})',
            f'({value})#r.n',
            self.updated(f'({value})#{{a := 1}}'),
            f'{value}(1)',
            f'element(1, {value})',
            f'length({value})',
            f'tool:nonesuch({value})',
            f'map_get(a, {value})',
            f'list_to_atom({value})',
            f'<<({value})/binary>>',
            f'<<({value}):8>>',
            f'[1 | 2] ++ {value}',
        )

    def control(self, t, scope, depth):
        return self.one_of(
            *[lambda: self.case(t, scope, depth)] * 4,
            lambda: self.if_(t, scope, depth),
            lambda: self.begin(t, scope, depth),
            lambda: self.try_(t, scope, depth),
            lambda: self.try_(t, scope, depth),
            lambda: self.receive(t, scope, depth),
            lambda: self.caught(t, scope, depth),
            lambda: self.maybe_tail(t, scope, depth),
            lambda: self.switch(t, scope, depth),
        )

    def body(self, t, scope, depth):
        """Expressions of which the last is of type t; the others bind variables, or have an effect."""
        statements, inner = [], list(scope)
        for _ in range(self.pick(0, 0, 1, 1, 2, 3)):
            of = self.type()
            value = self.expression(of, inner, depth - 1)
            if self.chance(15):
                statements.append(f'put({self.pick("k", "l", 1)}, {value})')
            elif self.chance(65):
                name = self.variable()
                statements.append(f'{name} = {value}')
                inner = [*inner, (name, of)]
            else:
                (pattern,), inner = self.patterns((of,), inner, 2)
                statements.append(f'{pattern} = {value}')
        return ',\n    '.join([*statements, self.expression(t, inner, depth - 1)])

    def begin(self, t, scope, depth):
        return f'begin {self.body(t, scope, depth)} end'

    def case(self, t, scope, depth):
        of = self.type()
        value = self.expression(of, scope, depth - 1)
        clauses = self.clauses(of, t, scope, depth, self.pick(1, 2, 2, 3, 4))
        if self.chance(75):
            clauses.append(f'{self.pick("_", self.variable())} -> {self.body(t, scope, depth - 1)}')
        return f'case {value} of ' + ';\n    '.join(clauses) + ' end'

    def switch(self, t, scope, depth):
        """Many literals: what compilers make jump tables of."""
        of = self.pick(INT, ATOM, ANY, FLOAT, BINARY)
        literals = list(
            dict.fromkeys(
                self.literal(of, 1)
                if of != INT
                else str(self.pick(self.random.randint(0, 12), self.random.randint(0, 12), self.pick(*EDGES)))
                for _ in range(self.random.randint(4, 9))
            )
        )
        clauses = [
            f'{literal} -> {self.leaf(t, scope)}'
            for literal in literals
            if not (literal.startswith('#') or '#r' in literal)
        ]
        value = self.expression(of, scope, depth - 1)
        if of == INT and self.chance(60):
            value = f'({value}) band 15'
        return (
            f'case {value} of '
            + '; '.join([*clauses, f'_ -> {self.expression(t, scope, depth - 1)}'])
            + ' end'
        )

    def clauses(self, of, t, scope, depth, count):
        made = []
        for _ in range(count):
            (pattern,), inner = self.patterns((of,), scope, 2)
            made.append(f'{pattern}{self.guard(inner, 35)} -> {self.body(t, inner, depth - 1)}')
        return made

    def if_(self, t, scope, depth):
        clauses = [
            f'{self.guard_test(scope)}'
            f'{self.pick(",", ";") + " " + self.guard_test(scope) if self.chance(30) else ""} -> '
            f'{self.expression(t, scope, depth - 1)}'
            for _ in range(self.pick(1, 2, 3))
        ]
        if self.chance(85):
            clauses.append(f'true -> {self.expression(t, scope, depth - 1)}')
        return 'if ' + '; '.join(clauses) + ' end'

    def try_(self, t, scope, depth):
        of = self.pick(t, self.type(1))
        text = f'try {self.body(of, scope, depth - 1)}'
        if of != t or self.chance(30):
            clauses = self.clauses(of, t, scope, depth - 1, self.pick(1, 2))
            text += ' of ' + '; '.join(
                [*clauses, *([f'_ -> {self.expression(t, scope, depth - 1)}'] if self.chance(70) else [])]
            )
        caught = []
        for _ in range(self.pick(1, 1, 2)):
            name = self.variable()
            kind = self.pick('error:', 'throw:', 'exit:', '_:', '', f'{self.variable()}:')
            pattern, inner = self.pick(
                (name, [*scope, (name, ANY)]),
                ('badarith', scope),
                ('{badmatch, ' + name + '}', [*scope, (name, ANY)]),
                ('badarg', scope),
            )
            caught.append(f'{kind}{pattern}{self.guard(inner, 20)} -> {self.expression(t, inner, depth - 1)}')
        if self.chance(70):
            caught.append(
                f'_:_{self.pick("", ":" + self.variable())} -> {self.expression(t, scope, depth - 1)}'
            )
        text += ' catch ' + '; '.join(caught)
        if self.chance(25):
            text += f' after put({self.pick("k", "l")}, {self.expression(ANY, scope, depth - 1)})'
        return text + ' end'

    def caught(self, t, scope, depth):
        name = self.variable()
        return (
            f'case tool:caught(catch {self.expression(ANY, scope, depth)}) of {{\'EXIT\', {name}}} -> '
            f'put(k, {name}), {self.expression(t, scope, depth - 1)}; _ -> '
            f'{self.expression(t, scope, depth - 1)} end'
        )

    def receive(self, t, scope, depth):
        sent = [self.type(1) for _ in range(self.pick(1, 2, 3))]
        texts = [f'self() ! {self.expression(s, scope, depth - 1)}' for s in sent]
        clauses = self.clauses(self.random.choice(sent), t, scope, depth - 1, self.pick(1, 2))
        return (
            f'begin {", ".join(texts)}, receive {"; ".join(clauses)} after 0 -> '
            f'{self.expression(t, scope, depth - 1)} end end'
        )

    def maybe_tail(self, t, scope, depth):
        """Another process makes the value."""
        return f'tool:elsewhere(fun() -> {self.expression(t, scope, depth - 1)} end)'

    # Patterns and guards.

    def patterns(self, types, scope, depth):
        """One for each type, all different variables but now and then, and the scope behind them."""
        made, inner = [], list(scope)
        for t in types:
            made.append(self.pattern(t, inner, depth, len(scope)))
        return made, inner

    def pattern(self, t, scope, depth, outer=0):
        if depth < 0 or self.chance(40):
            if self.chance(15):
                return '_'
            same = [name for name, of in scope if of == t and of[0] != 'fun']
            if same and self.chance(8):
                return self.random.choice(same)
            name = self.variable()
            scope.append((name, t))
            return name
        kind = t if isinstance(t, str) else t[0]
        maker = getattr(self, f'{kind}_pattern', None)
        text = maker(t, scope, depth - 1) if maker else self.literal(t, 1) if kind != 'fun' else '_'
        if self.chance(10):
            name = self.variable()
            text = f'{text} = {name}'
            scope.append((name, t))
        return text

    def any_pattern(self, _, scope, depth):
        return self.pattern(
            self.pick(
                INT,
                ATOM,
                ATOM,
                BINARY,
                STRING,
                ('list', ANY),
                ('tuple', ANY, ANY),
                ('tuple', ATOM, ANY),
                ('map',),
                ('record',),
            ),
            scope,
            depth,
        )

    def float_pattern(self, *_):
        return self.pick(*(f for f in FLOATS if f != '0.0'))

    def string_pattern(self, _, scope, depth):
        name = self.variable()
        scope.append((name, STRING))
        return self.pick(f'"{self.text()}" ++ {name}', f'[_ | {name}]')

    def list_pattern(self, t, scope, depth):
        if self.chance(20):
            return '[]'
        heads = [self.pattern(t[1], scope, depth) for _ in range(self.pick(1, 1, 2))]
        return (
            f'[{", ".join(heads)} | {self.pattern(t, scope, depth)}]'
            if self.chance(70)
            else f'[{", ".join(heads)}]'
        )

    def tuple_pattern(self, t, scope, depth):
        return '{' + ', '.join(self.pattern(e, scope, depth) for e in t[1:]) + '}'

    def map_pattern(self, _, scope, depth):
        keys = self.random.sample(('a', 'b', '1', '2.0', '"k"', '{x}'), self.pick(0, 1, 1, 2))
        return '#{' + ', '.join(f'{k} := {self.pattern(INT, scope, depth)}' for k in keys) + '}'

    def record_pattern(self, _, scope, depth):
        fields = self.random.sample((('n', INT), ('l', ('list', INT)), ('x', ANY)), self.pick(0, 1, 2))
        return '#r{' + ', '.join(f'{f} = {self.pattern(t, scope, depth)}' for f, t in fields) + '}'

    def binary_pattern(self, _, scope, depth):
        parts, sizes = [], []
        for _ in range(self.pick(1, 2, 3)):
            name = self.variable()
            size = self.pick(8, 8, 16, 4, 12, 3, 24, 32, 64, 65, *(sizes * 3))
            flags = self.pick('', '', '/little', '/signed', '/little-signed')
            kind = self.pick(
                'int', 'int', 'int', 'literal', 'binary', 'utf8', 'float', 'skip', 'text', 'length'
            )
            if kind == 'int':
                parts.append(f'{name}:{size}{flags}')
                scope.append((name, INT))
            elif kind == 'length':
                parts.append(f'{name}:{self.pick(2, 3, 8)}')
                scope.append((name, INT))
                sizes = [*sizes, name, f'({name} * 2)']
            elif kind == 'literal':
                parts.append(f'{self.random.randint(0, 3)}:{self.pick(8, 16, 5)}')
            elif kind == 'binary':
                parts.append(
                    f'{name}:{self.pick(0, 1, 2, 5, *(sizes * 2))}/{self.pick("binary", "binary", "bits")}'
                )
                scope.append((name, BITS))
            elif kind == 'utf8':
                parts.append(f'{name}/{self.pick("utf8", "utf8", "utf16", "utf32")}')
                scope.append((name, INT))
            elif kind == 'float':
                parts.append(f'{name}:{self.pick(64, 64, 32, 16)}/float{self.pick("", "-little")}')
                scope.append((name, FLOAT))
            elif kind == 'text':
                parts.append(f'"{self.pick("a", "abc", "He", "", "1")}"')
            else:
                parts.append(f'_:{size}')
        if self.chance(75):
            name = self.pick('_', self.variable())
            rest = self.pick('binary', 'bits')
            parts.append(f'{name}/{rest}')
            if name != '_':
                scope.append((name, BINARY if rest == 'binary' else BITS))
        return '<<' + ', '.join(parts) + '>>'

    bits_pattern = binary_pattern

    def guard(self, scope, percent):
        if not self.chance(percent):
            return ''
        tests = [self.guard_test(scope) for _ in range(self.pick(1, 1, 1, 2))]
        return ' when ' + self.pick(', ', '; ').join(tests)

    def guard_test(self, scope, depth=1):
        def v(t=ANY):
            return self.leaf(t, scope)

        if depth > 0 and self.chance(25):
            return (
                f'({self.guard_test(scope, 0)} {self.pick("andalso", "orelse", "and", "or")} '
                f'{self.guard_test(scope, 0)})'
            )
        return self.one_of(
            lambda: f'{v(INT)} {self.comparison()} {v(INT)}',
            lambda: f'{v()} {self.comparison()} {v()}',
            lambda: f'{self.type_test()}({v()})',
            lambda: f'{self.type_test()}({v()})',
            lambda: f'length({v(self.pick(STRING, ANY))}) > {self.random.randint(0, 3)}',
            lambda: f'{v(INT)} {self.pick("+", "-", "*", "div", "rem", "band")} {v(INT)} '
            f'{self.comparison()} {v(INT)}',
            lambda: f'byte_size({v(BINARY)}) {self.comparison()} {self.random.randint(0, 5)}',
            lambda: f'hd({self.head_of(scope)}) > $b',
            lambda: f'element(1, {v()}) =:= {self.literal(ATOM)}',
            lambda: f'is_map_key(a, {v()})',
            lambda: f'map_get(a, {v()}) > 1',
            lambda: f'is_record({v()}, r)',
            lambda: f'not is_atom({v()})',
            lambda: v(BOOL),
            lambda: f'tuple_size({v()}) > 1',
            lambda: f'is_function({v()}, {self.random.randint(0, 2)})',
            lambda: f'abs({v(FLOAT)}) < 1',
            lambda: f'binary_part({v(BINARY)}, 0, 1) =:= <<"a">>',
        )

    def head_of(self, scope):
        """What hd is asked of: OTP's loader refuses that of a literal which has none, and vmrunc, unlike
        erlc, leaves it in."""
        text = self.leaf(STRING, scope)
        return '"ab"' if text == '""' else text

    # Functions.

    def function(self):
        self.nodes, self.steps, self.factor, self.names = 0, 0, 1, 0
        name = f'f{len(self.functions)}'
        make = self.pick(
            self.plain_function,
            self.plain_function,
            self.plain_function,
            self.list_function,
            self.bytes_function,
        )
        parameters, result, text = make(name)
        self.functions.append((name, parameters, result, self.steps))
        return text

    def plain_function(self, name):
        parameters, result = tuple(self.type() for _ in range(self.random.randint(0, 4))), self.type()
        clauses = []
        for _ in range(self.pick(0, 1, 2, 3)):
            patterns, scope = self.patterns(parameters, [], 2)
            clauses.append(
                f'{name}({", ".join(patterns)}){self.guard(scope, 50)} ->\n    {self.body(result, scope, 4)}'
            )
        if not clauses or self.chance(80):
            names = [self.variable() for _ in parameters]
            clauses.append(
                f'{name}({", ".join(names)}) ->\n    {self.body(result, list(zip(names, parameters)), 5)}'
            )
        return parameters, result, ';\n'.join(clauses) + '.\n'

    def list_function(self, name):
        """Over the elements of a list, with an accumulator or without."""
        of, result = self.type(1), self.type(1)
        (pattern,), scope = self.patterns((of,), [], 1)
        steps = [
            f'{name}([{pattern} | T], A){self.guard([*scope, ("A", result)], 60)} -> '
            f'{name}(T, '
            f'tool:small({self.in_loop(6, lambda: self.expression(result, [*scope, ("A", result)], 4))}))'
        ]
        scope = [('H', of), ('A', result), ('B', result)]
        first = self.in_loop(6, lambda: self.expression(result, scope, 3))
        steps.append(
            f'{name}([H | T], A) -> ' + self.pick(f'{name}(T, A)', f'B = {name}(T, A), tool:small({first})')
        )
        return (('list', of), result), result, f'{name}([], A) -> A;\n' + ';\n'.join(steps) + '.\n'

    def bytes_function(self, name):
        """Through a binary."""
        result = self.type(1)
        steps = []
        for _ in range(self.pick(1, 2, 2)):
            inner = [('A', result)]
            pattern = self.pick(
                'X:8', '$a:8, X:16', 'X/utf8', 'X:12, _:4', '0:2, X:6', '"a", X:8/signed', 'X:4/little-unit:2'
            )
            steps.append(
                f'{name}(<<{pattern}, R/{self.pick("binary", "bits")}>>, '
                f'A){self.guard([*inner, ("X", INT)], 30)} -> '
                f'{name}(R, '
                'tool:small('
                f'{self.in_loop(20, lambda: self.expression(result, [*inner, ("X", INT), ("R", BITS)], 3))}))'
            )
        last = f'{name}(R, A) -> {self.expression(result, [("R", BITS), ("A", result)], 3)}'
        return (BINARY, result), result, ';\n'.join([*steps, last]) + '.\n'

    def render(self):
        functions = [self.function() for _ in range(self.random.randint(4, 9))]
        exported = [f'{name}/{len(parameters)}' for name, parameters, _, _ in self.functions]
        calls = []
        for name, parameters, _, _ in self.functions:
            for _ in range(3):
                self.nodes, self.steps, self.factor = 0, 0, 1
                arguments = ', '.join(
                    self.expression(p if self.chance(96) else ANY, [], 2) for p in parameters
                )
                calls.append(
                    f'    tool:run({name}, fun() -> {self.pick("", "?MODULE:")}{name}({arguments}) end)'
                )
        return (
            f'-module({self.name}).\n-export([main/0, {", ".join(exported)}]).\n'
            f'-record(r, {{n = 0, l = [] :: list(), x}}).\n\n'
            + '\n'.join(functions)
            + '\nmain() ->\n'
            + ',\n'.join(calls)
            + '.\n'
        )


def program(seed):
    """Name of the module and its text."""
    module = Module(seed)
    return module.name, module.render()


if __name__ == '__main__':
    import sys

    print(program(int(sys.argv[1]))[1], end='')
