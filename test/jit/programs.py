# SPDX-License-Identifier: Apache-2.0
"""Random Erlang modules for the compiler of loaded functions (vm/jit), each made of its seed alone. Functions
are short and use what is compiled: numbers at the limits of their representations, guards, patterns, loops,
calls with many arguments, values that are needed over calls, exceptions, receives. Most values have the type
that an expression asks for; the rest raises, and what is raised, and where, is part of the result.

A module's `cases/0` returns functions with lists of arguments; cases.erl calls them."""
import random

INT, NUM, FLOAT, ATOM, BOOL, BIN, BITS, LIST, TUPLE, MAP, RECORD, FUN, ANY = TYPES = (
    'int',
    'num',
    'float',
    'atom',
    'bool',
    'bin',
    'bits',
    'list',
    'tuple',
    'map',
    'record',
    'fun',
    'any',
)
COUNT = 'count'  # how often a function calls itself
USUAL = (INT, INT, INT, INT, NUM, FLOAT, ATOM, BOOL, BIN, BITS, LIST, LIST, TUPLE, TUPLE, MAP, RECORD, ANY)
ATOMS = ('a', 'b', 'c', 'ok', 'true', 'false', 'undefined', "'an atom'", '[]')
# Where representations change: bytes, words of 32 bits, exact floats, small integers, words.
EDGES = [
    edge + more
    for edge in (
        0,
        16,
        256,
        1 << 16,
        1 << 27,
        1 << 31,
        1 << 32,
        1 << 53,
        1 << 58,
        1 << 59,
        1 << 60,
        1 << 63,
        1 << 64,
    )
    for more in (-1, 0, 1)
] + [1 << 100, 10**30]
SHIFTS = (0, 1, 2, 3, 4, 7, 8, 31, 32, 55, 58, 59, 60, 63, 64, 65, 100, 1000, 1 << 40, 1 << 59, 1 << 64)
FLOATS = (
    '0.0',
    '-0.0',
    '1.0',
    '-1.0',
    '0.5',
    '-2.5',
    '3.0',
    '1.0e10',
    '576460752303423487.0',
    '576460752303423488.0',
    '9007199254740992.0',
    '9007199254740993.0',
    '18446744073709551616.0',
    '1.7e308',
    '-1.7e308',
    '5.0e-324',
    '2.2250738585072014e-308',
)
KEYS = ('a', 'b', 'c', '1', '2', '1.0', '{k, 1}', '"s"', '<<"x">>', str(1 << 60))
LARGE_MAP = (
    '-define(LARGE_MAP, #{'
    + ', '.join(f'{n} => {n * n}' for n in range(1, 31))
    + ', a => 1, b => 2, c => x}).\n'
)
COMPARISONS = ('==', '=:=', '/=', '=/=', '<', '=<', '>', '>=')
TYPE_TESTS = (
    'is_integer',
    'is_float',
    'is_number',
    'is_atom',
    'is_boolean',
    'is_list',
    'is_tuple',
    'is_map',
    'is_binary',
    'is_bitstring',
    'is_function',
    'is_pid',
    'is_reference',
    'is_port',
)
LARGEST_CALL = 1500  # expressions, roughly, that one call of a function evaluates
# What erlc leaves out or does in another way.
OPTIONS = (
    None,
    None,
    None,
    None,
    None,
    None,
    'no_type_opt',
    'no_bool_opt',
    'no_ssa_opt',
    '{inline, [small/1]}',
)


class Module:
    """The text of one module grows here."""

    def __init__(self, seed):
        self.random, self.name = random.Random(f'jit {seed}'), f'k{seed}'
        self.functions = []  # (name, types of parameters, type of the result, what a call costs)
        self.names, self.nodes, self.cost, self.factor = 0, 0, 0, 1

    # Choices.

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *choices):
        return self.random.choice(choices)

    def one_of(self, *makers):
        return self.random.choice(makers)()

    def type(self):
        return self.pick(*USUAL)

    def variable(self):
        self.names += 1
        return f'V{self.names}'

    def times(self, count, make):
        """What `make` makes is evaluated so many times."""
        self.factor *= count
        made = make()
        self.factor //= count
        return made

    # Literals.

    def integer(self):
        value = self.pick(
            self.random.randint(-10, 10),
            self.random.randint(-10, 10),
            self.random.randint(-1000, 1000),
            self.pick(*EDGES),
            -self.pick(*EDGES),
        )
        return str(value) if value >= 0 else f'({value})'

    def literal(self, t, depth=2):
        if t == NUM:
            t = self.pick(INT, INT, FLOAT)
        if t == ANY:
            t = self.pick(INT, INT, FLOAT, ATOM, BIN, BITS, LIST, TUPLE, MAP, RECORD)
        if t == INT:
            return self.integer()
        if t == FLOAT:
            value = self.pick(*FLOATS)
            return f'({value})' if value[0] == '-' else value
        if t == ATOM:
            return self.pick(*ATOMS)
        if t == BOOL:
            return self.pick('true', 'false')
        if t == BIN:
            return self.pick(
                '<<>>', '<<"abc">>', '<<1, 2, 255>>', '<<0:128>>', '<<"été"/utf8>>', '<<255:640>>'
            )
        if t == BITS:
            size = self.random.randint(1, 70)
            return f'<<{self.random.getrandbits(size)}:{size}>>'
        if t == FUN:
            return self.pick('fun erlang:abs/1', 'fun lists:reverse/1', 'fun erlang:max/2')
        many = self.random.randint(0, 3) if depth > 0 else 0
        if t == LIST:
            of = self.pick(INT, INT, NUM, ANY, ATOM)
            tail = f' | {self.pick("a", "1")}' if many and self.chance(4) else ''
            return '[' + ', '.join(self.literal(of, depth - 1) for _ in range(many)) + tail + ']'
        if t == TUPLE:
            tag = self.pick('', 'a, ', 'b, ')
            parts = [self.literal(self.pick(INT, ANY), depth - 1) for _ in range(many)]
            return '{' + (tag + ', '.join(parts)).rstrip(', ') + '}'
        if t == MAP:
            if self.chance(15 if depth == 2 else 1):
                return '?LARGE_MAP'
            keys = self.random.sample(KEYS, self.random.randint(0, 4))
            return (
                '#{' + ', '.join(f'{k} => {self.literal(self.pick(INT, ANY), depth - 1)}' for k in keys) + '}'
            )
        return f'{{r, {self.integer()}, {self.literal(NUM)}, {self.literal(ANY, depth - 1)}}}'

    # Expressions.

    def leaf(self, t, scope):
        fits = {
            NUM: (INT, FLOAT, NUM),
            BITS: (BITS, BIN),
            ATOM: (ATOM, BOOL),
            TUPLE: (TUPLE, RECORD),
            ANY: TYPES,
        }.get(t, (t,))
        fitting = [name for name, of in scope if of in fits]
        if fitting and self.chance(88):
            return self.random.choice(fitting)
        if scope and self.chance(3):
            return self.random.choice(scope)[0]  # by mistake
        return self.literal(t)

    def expression(self, t, scope, depth):
        """Text of an expression of type t: atomic, so that it may stand anywhere."""
        self.nodes += 1
        self.cost += self.factor
        if depth <= 0 or self.nodes > 150 or self.chance(20):
            return self.leaf(t, scope)
        if self.chance(1):
            t = ANY
        if self.chance(20):
            return self.control(t, scope, depth)
        if self.chance(15) and (call := self.call(t, scope, depth)):
            return f'({call})'
        return (
            '('
            + getattr(self, f'{t}_expression')(scope, lambda of: self.expression(of, scope, depth - 1))
            + ')'
        )

    def int_expression(self, scope, e):
        x = e(INT)
        return self.one_of(
            lambda: f'{x} {self.pick("+", "-", "*")} {e(INT)}',
            lambda: f'{x} {self.pick("+", "-", "*")} {e(INT)}',
            lambda: f'{x} {self.pick("+", "-", "*")} {x}',
            lambda: f'{x} {self.pick("+", "-")} {self.integer()}',
            lambda: f'{self.integer()} {self.pick("+", "-", "*")} {x}',
            lambda: f'{x} {self.pick("div", "rem")} {e(INT)}',
            lambda: f'{x} {self.pick("div", "rem")} '
            f'{self.pick("0", "1", "(-1)", "2", "7", "(-3)", self.integer())}',
            lambda: f'{x} {self.pick("band", "bor", "bxor")} {e(INT)}',
            lambda: f'{x} band {self.pick("15", "255", "16#FFFFFFFF", "(-16)", self.integer())}',
            lambda: f'{x} {self.pick("bsl", "bsr")} ({self.pick("", "-")}{self.pick(*SHIFTS)})',
            lambda: f'{x} {self.pick("bsl", "bsr")} ({e(INT)} band 63)',
            lambda: f'{x} bsr {e(INT)}',
            lambda: f'{self.pick("bnot", "-", "+", "abs")}({x})',
            lambda: f'{self.pick("min", "max")}({x}, {e(INT)})',
            lambda: f'length({e(LIST)})',
            lambda: f'{self.pick("byte_size", "bit_size")}({e(BITS)})',
            lambda: f'tuple_size({e(TUPLE)})',
            lambda: f'map_size({e(MAP)})',
            lambda: f'({e(RECORD)})#r.n',
            lambda: f'element(2, {e(RECORD)})',
            lambda: f'{self.pick("trunc", "round", "floor", "ceil")}({e(NUM)})',
            lambda: f'small({x})',
            lambda: f'hd([{x} | {e(LIST)}])',
        )

    def num_expression(self, scope, e):
        return self.one_of(
            lambda: f'{e(NUM)} {self.pick("+", "-", "*")} {e(NUM)}',
            lambda: f'{e(NUM)} {self.pick("+", "-", "*")} {e(NUM)}',
            lambda: f'{e(INT)} {self.pick("+", "-", "*")} {e(FLOAT)}',
            lambda: f'{e(NUM)} / {e(NUM)}',
            lambda: f'{self.pick("min", "max")}({e(NUM)}, {e(NUM)})',
            lambda: f'{self.pick("-", "+", "abs")}({e(NUM)})',
            lambda: f'({e(RECORD)})#r.x',
            lambda: e(INT),
            lambda: e(FLOAT),
        )

    def float_expression(self, scope, e):
        x = e(FLOAT)
        return self.one_of(
            lambda: f'{x} {self.pick("+", "-", "*", "/")} {e(FLOAT)}',
            lambda: f'{x} {self.pick("+", "-", "*", "/")} {e(FLOAT)}',
            lambda: f'({x} * {e(FLOAT)}) {self.pick("+", "-", "/")} ({e(FLOAT)} * {x})',
            lambda: f'{x} {self.pick("+", "-", "*", "/")} {e(INT)}',
            lambda: f'{e(INT)} {self.pick("+", "-", "*", "/")} {x}',
            lambda: f'{e(INT)} / {e(INT)}',
            lambda: f'float({e(NUM)})',
            lambda: f'{self.pick("-", "abs")}({x})',
            lambda: f'math:{self.pick("sqrt", "floor", "ceil", "sin")}({x})',
        )

    def atom_expression(self, scope, e):
        return self.one_of(
            lambda: f'element(1, {e(TUPLE)})', lambda: e(BOOL), lambda: f'hd([{e(ATOM)}, {e(ANY)}])'
        )

    def bool_expression(self, scope, e):
        return self.one_of(
            lambda: f'{e(INT)} {self.pick(*COMPARISONS)} {e(INT)}',
            lambda: f'{e(NUM)} {self.pick(*COMPARISONS)} {e(NUM)}',
            lambda: f'{e(ANY)} {self.pick(*COMPARISONS)} {e(ANY)}',
            lambda: f'{e(ANY)} {self.pick(*COMPARISONS)} {self.literal(ANY)}',
            lambda: f'{self.pick(*TYPE_TESTS)}({e(ANY)})',
            lambda: f'not {e(BOOL)}',
            lambda: f'{e(BOOL)} {self.pick("and", "or", "xor", "andalso", "orelse")} {e(BOOL)}',
            lambda: f'is_map_key({self.pick(*KEYS)}, {e(MAP)})',
            lambda: f'is_function({e(ANY)}, {self.random.randint(0, 2)})',
            lambda: f'is_record({e(ANY)}, r)',
            lambda: f'lists:member({e(ANY)}, {e(LIST)})',
        )

    def segment(self, e, whole):
        size = self.pick(8, 16, 24, 32, 64, 72, 0) if whole else self.random.randint(0, 70)
        flags = self.pick('', '', '/little', '/signed', '/little-signed')
        return self.one_of(
            lambda: e(INT) if whole else f'{e(INT)}:{size}',
            lambda: f'{e(INT)}:{size}{flags}',
            lambda: f'{e(INT)}:{size}{flags}',
            lambda: f'{e(BIN)}/binary' if whole else f'{e(BITS)}/bitstring',
            lambda: f'{e(BIN)}:{self.random.randint(0, 3)}/binary',
            lambda: f'{e(NUM)}:{self.pick(16, 32, 64, 64)}/float{self.pick("", "-little")}',
            lambda: f'({e(INT)} band 16#7FF)/{self.pick("utf8", "utf16", "utf32-little")}',
            lambda: f'"{self.pick("abc", "été", "")}"/utf8',
            lambda: f'{e(INT)}:({e(INT)} band 15)/unit:{8 if whole else self.random.randint(1, 9)}',
        )

    def bin_expression(self, scope, e):
        return self.one_of(
            *[lambda: '<<' + ', '.join(self.segment(e, True) for _ in range(self.pick(1, 2, 3))) + '>>'] * 4,
            lambda: f'<<{e(BIN)}/binary, {e(INT)}>>',
            lambda: f'integer_to_binary({e(INT)})',
            lambda: f'<< <<(X {self.pick("+", "bxor", "*")} {e(INT)})>> || <<X>> <= small({e(BIN)}) >>',
            lambda: f'binary:part({e(BIN)}, 0, {e(INT)} band 3)',
        )

    def bits_expression(self, scope, e):
        return self.one_of(
            lambda: '<<' + ', '.join(self.segment(e, False) for _ in range(self.pick(1, 2, 3))) + '>>',
            lambda: f'<<{e(BITS)}/bitstring, {e(INT)}:{self.random.randint(1, 20)}>>',
            lambda: e(BIN),
        )

    def list_expression(self, scope, e):
        return self.one_of(
            lambda: f'[{e(ANY)} | {e(LIST)}]',
            lambda: f'[{e(INT)}, {e(INT)}, {e(NUM)}]',
            lambda: f'[{e(INT)}, {e(ANY)} | {e(LIST)}]',
            lambda: f'tl({e(LIST)})',
            lambda: f'{e(LIST)} {self.pick("++", "--")} {e(LIST)}',
            lambda: f'lists:reverse({e(LIST)})',
            lambda: f'tuple_to_list({e(TUPLE)})',
            lambda: f'binary_to_list(small({e(BIN)}))',
            lambda: f'lists:sort(maps:values({e(MAP)}))',
            lambda: self.comprehension(scope, e),
            lambda: f'lists:map({self.fun(1, scope)}, small({e(LIST)}))',
            lambda: f'lists:seq(1, {e(INT)} band 7)',
        )

    def comprehension(self, scope, e):
        x = self.variable()
        source = self.pick(
            f'{x} <- small({e(LIST)})',
            f'{{_, {x}}} <- small({e(LIST)})',
            f'<<{x}:{self.random.randint(5, 20)}>> <= small({e(BIN)})',
        )
        inner = [*scope, (x, self.pick(ANY, INT))]
        test = f', {self.guard_test(inner)}' if self.chance(50) else ''
        return f'[{self.times(6, lambda: self.expression(self.pick(INT, ANY), inner, 2))} || {source}{test}]'

    def tuple_expression(self, scope, e):
        return self.one_of(
            lambda: '{' + ', '.join(e(self.pick(INT, ANY)) for _ in range(self.random.randint(1, 6))) + '}',
            lambda: f'{{{self.pick("a", "b")}, {e(INT)}, {e(ANY)}}}',
            lambda: f'setelement({self.random.randint(1, 3)}, {e(TUPLE)}, {e(ANY)})',
            lambda: f'list_to_tuple({e(LIST)})',
            lambda: f'erlang:append_element({e(TUPLE)}, {e(ANY)})',
        )

    def map_expression(self, scope, e):
        def key():
            return self.pick(*KEYS, e(ATOM), e(ANY))

        return self.one_of(
            lambda: f'#{{{key()} => {e(ANY)}, {key()} => {e(INT)}}}',
            lambda: f'id(({e(MAP)})#{{{key()} => {e(ANY)}}})',
            lambda: f'id(({e(MAP)})#{{{self.pick(*KEYS)} := {e(ANY)}}})',
            lambda: f'id(({e(MAP)})#{{a => {e(ANY)}, b => {e(INT)}, {self.pick("c", "1")} => {e(ANY)}}})',
            lambda: f'maps:put({key()}, {e(ANY)}, {e(MAP)})',
            lambda: f'maps:remove({key()}, {e(MAP)})',
        )

    def record_expression(self, scope, e):
        return self.one_of(
            lambda: f'#r{{n = {e(INT)}, x = {e(NUM)}, y = {e(ANY)}}}',
            lambda: f'({e(RECORD)})#r{{n = {e(INT)}}}',
            lambda: f'({e(RECORD)})#r{{n = {e(INT)}, y = {e(ANY)}}}',
            lambda: f'({e(RECORD)})#r{{n = {e(INT)}, x = {e(NUM)}, y = {e(ANY)}}}',
        )

    def fun_expression(self, scope, e):
        return self.fun(self.random.randint(0, 3), scope)

    def any_expression(self, scope, e):
        x = e(ANY)
        return self.one_of(
            lambda: e(self.type()),
            lambda: e(self.type()),
            lambda: e(self.type()),
            lambda: f'id({x})',
            lambda: f'element({self.random.randint(0, 4)}, {e(TUPLE)})',
            lambda: f'element({e(INT)} band 3, {e(TUPLE)})',
            lambda: f'{self.pick("hd", "tl")}({e(LIST)})',
            lambda: f'map_get({self.pick(*KEYS)}, {e(MAP)})',
            lambda: f'maps:get({self.pick(*KEYS)}, {e(MAP)}, {x})',
            lambda: f'put({self.pick("k", "l")}, {x})',
            lambda: f'{self.pick("get", "erase")}({self.pick("k", "l")})',
            lambda: f'{x} {self.pick("+", "-", "*", "/", "div", "band")} {e(ANY)}',
            lambda: f'{self.pick("throw", "error", "exit")}({x})',
            lambda: f'erlang:raise({self.pick("throw", "error", "exit")}, {x}, [])',
            lambda: f'error({x}, [{x}])',
            lambda: f'(id({x}))({e(ANY)})',
            lambda: f'lists:foldl({self.fun(2, scope)}, {x}, small({e(LIST)}))',
            lambda: f'apply({self.fun(1, scope)}, [{x}])',
            lambda: 'self() =:= self()',
            lambda: f'?MODULE:nonesuch({x})',
        )

    def fun(self, arity, scope):
        """A fun, often with values of the scope."""
        if arity == 1 and self.chance(12):
            return 'fun id/1'
        if arity == 1 and self.chance(15):
            name, n = self.variable(), self.variable()
            body = self.times(4, lambda: self.expression(INT, [*scope, (n, INT)], 2))
            return (
                f'fun({n}) -> (fun {name}(0, A) -> A; {name}(I, A) -> {name}(I - 1, small(A + {body})) end)'
                f'({self.random.randint(0, 4)}, {n}) end'
            )
        clauses = []
        for last in (False, True):
            if not last and self.chance(60):
                continue
            parts, inner = [], list(scope)
            for _ in range(arity):
                parts.append(self.pattern(self.type(), inner, 0 if last else 1))
            body = self.times(6, lambda: self.expression(self.pick(INT, ANY), inner, 2))
            clauses.append(f'({", ".join(parts)}){self.guard(inner, 15 if last else 50)} -> {body}')
        return 'fun' + '; '.join(clauses) + ' end'

    def call(self, t, scope, depth):
        """A call of a local function, or of a fun in a variable; nothing where there is none."""
        funs = [name for name, of in scope if of == FUN]
        if funs and self.chance(40):
            many = self.pick(1, 1, 1, 0, 2)
            arguments = ', '.join(self.expression(self.type(), scope, depth - 1) for _ in range(many))
            return f'{self.random.choice(funs)}({arguments})'
        fitting = [
            f
            for f in self.functions
            if (f[2] == t or t == ANY or self.chance(10)) and self.cost + self.factor * f[3] < LARGEST_CALL
        ]
        if not fitting:
            return None
        name, parameters, _, cost = self.random.choice(fitting)
        self.cost += self.factor * cost
        arguments = ', '.join(
            self.argument(p) if p == COUNT else self.expression(p, scope, min(depth - 1, 2))
            for p in parameters
        )
        return self.pick(
            f'{name}({arguments})',
            f'{name}({arguments})',
            f'?MODULE:{name}({arguments})',
            f'apply(?MODULE, {name}, [{arguments}])',
            f'(id(?MODULE)):{name}({arguments})',
            f'apply(id(?MODULE), id({name}), [{arguments}])',
            f'apply((fun {name}/{len(parameters)}), [{arguments}])',
            f'(fun ?MODULE:{name}/{len(parameters)})({arguments})',
        )

    # Control.

    def control(self, t, scope, depth):
        return self.one_of(
            *[lambda: self.case(t, scope, depth)] * 4,
            *[lambda: self.if_(t, scope, depth)] * 2,
            lambda: self.switch(t, scope, depth),
            lambda: self.try_(t, scope, depth),
            lambda: self.try_(t, scope, depth),
            lambda: f'begin {self.body(t, scope, depth)} end',
            lambda: self.caught(t, scope, depth),
            lambda: self.receive(t, scope, depth),
        )

    def body(self, t, scope, depth, statements=(0, 0, 1, 2)):
        """Expressions of which the last is of type t; the others bind variables."""
        made, inner = [], list(scope)
        for _ in range(self.pick(*statements)):
            of = self.type()
            value = self.expression(of, inner, depth - 1)
            if self.chance(75):
                name = self.variable()
                made.append(f'{name} = {value}')
                inner.append((name, of))
            else:
                made.append(f'{self.pattern(of, inner, 1)} = {value}')
        return ',\n    '.join([*made, self.expression(t, inner, depth - 1)])

    def clause(self, of, t, scope, depth):
        inner = list(scope)
        pattern = self.pattern(of, inner, 2)
        return f'{pattern}{self.guard(inner, 40)} -> {self.body(t, inner, depth - 1)}'

    def case(self, t, scope, depth):
        of = self.type()
        value = self.expression(of, scope, depth - 1)
        clauses = [self.clause(of, t, scope, depth) for _ in range(self.pick(1, 2, 2, 3))]
        if self.chance(85):
            clauses.append(f'{self.variable()} -> {self.expression(t, scope, depth - 1)}')
        return f'case {value} of ' + ';\n    '.join(clauses) + ' end'

    def switch(self, t, scope, depth):
        """Many literals: what compilers make jump tables of."""
        of = self.pick(INT, ATOM, TUPLE, ANY)
        literals = list(
            dict.fromkeys(
                str(self.random.randint(0, 12)) if of == INT and self.chance(60) else self.literal(of, 1)
                for _ in range(self.random.randint(4, 9))
            )
        )
        clauses = [f'{x} -> {self.leaf(t, scope)}' for x in literals if '#' not in x and '?' not in x]
        value = self.expression(of, scope, depth - 1)
        if of == INT and self.chance(50):
            value = f'({value} band 15)'
        clauses.append(f'_ -> {self.expression(t, scope, depth - 1)}')
        return f'case {value} of ' + '; '.join(clauses) + ' end'

    def if_(self, t, scope, depth):
        clauses = [
            f'{self.guard_test(scope)} -> {self.expression(t, scope, depth - 1)}'
            for _ in range(self.pick(1, 2, 3))
        ]
        if self.chance(90):
            clauses.append(f'true -> {self.expression(t, scope, depth - 1)}')
        return 'if ' + ';\n    '.join(clauses) + ' end'

    def try_(self, t, scope, depth):
        of = self.pick(t, ANY)
        text = f'try {self.body(of, scope, depth - 1)}'
        if self.chance(30):
            text += ' of ' + '; '.join(
                [self.clause(of, t, scope, depth - 1), f'_ -> {self.expression(t, scope, depth - 1)}']
            )
        elif of != t:
            text += f', {self.expression(t, scope, depth - 1)}'
        caught, reason, stack = [], self.variable(), self.variable()
        if self.chance(50):
            kind = self.pick('error', 'throw', 'exit')
            pattern = self.pick('badarith', f'{{badmatch, {reason}}}', 'badarg', reason, 'function_clause')
            inner = [*scope, (reason, ANY)] if reason in pattern else scope
            caught.append(
                f'{kind}:{pattern}{self.guard(inner, 20)} -> {self.expression(t, inner, depth - 1)}'
            )
        name = self.variable()
        inner = [*scope, (name, ANY)]
        if self.chance(60):
            caught.append(
                f'_:{name}:{stack} -> put(s, cases:where({stack})), {self.expression(t, inner, depth - 1)}'
            )
        elif not caught or self.chance(60):
            caught.append(f'{self.pick("_:", "")}{name} -> {self.expression(t, inner, depth - 1)}')
        text += ' catch ' + ';\n    '.join(caught)
        if self.chance(25):
            text += f' after put({self.pick("k", "l")}, {self.expression(ANY, scope, depth - 1)})'
        return text + ' end'

    def caught(self, t, scope, depth):
        return (
            f"case (catch {self.expression(ANY, scope, depth - 1)}) of {{'EXIT', _}} -> "
            f'{self.expression(t, scope, depth - 1)}; _ -> {self.expression(t, scope, depth - 1)} end'
        )

    def receive(self, t, scope, depth):
        sent = [self.type() for _ in range(self.pick(0, 1, 2, 3))]
        texts = [
            self.pick(
                f'self() ! {self.expression(s, scope, depth - 1)}', f'self() ! {{m, {self.leaf(s, scope)}}}'
            )
            for s in sent
        ]
        clauses = [self.clause(s, t, scope, depth - 1) for s in sent[:2]]
        name = self.variable()
        clauses.append(f'{{m, {name}}} -> {self.expression(t, [*scope, (name, ANY)], depth - 1)}')
        after = self.pick('0', '1', f'({self.expression(INT, scope, 1)} band 1)')
        return (
            f'begin {", ".join([*texts, "receive"])} {"; ".join(clauses)}\n    after {after} -> '
            f'{self.expression(t, scope, depth - 1)} end end'
        )

    # Patterns and guards.

    def pattern(self, t, scope, depth):
        if depth <= 0 or self.chance(35):
            if self.chance(10):
                return '_'
            same = [name for name, of in scope if of == t and of != FUN]
            if same and self.chance(5):
                return self.random.choice(same)
            name = self.variable()
            scope.append((name, t))
            return name
        made = self.structure(t, scope, depth)
        if self.chance(12):
            name = self.variable()
            scope.append((name, t))
            return f'{made} = {name}'
        return made

    def structure(self, t, scope, depth):
        if t == ANY:
            t = self.pick(INT, FLOAT, ATOM, LIST, TUPLE, MAP, RECORD, BIN)
        if t == NUM:
            t = self.pick(INT, FLOAT)

        def p(of):
            return self.pattern(of, scope, depth - 1)

        if t == LIST:
            return self.one_of(
                lambda: '[]',
                lambda: f'[{p(self.pick(INT, ANY))} | {p(LIST)}]',
                lambda: f'[{p(self.pick(INT, ANY))} | {p(LIST)}]',
                lambda: f'[{p(INT)}, {p(ANY)} | {p(LIST)}]',
                lambda: f'[{p(ANY)}]',
            )
        if t == TUPLE:
            return self.one_of(
                lambda: f'{{{self.pick("a", "b", "r")}, {p(INT)}, {p(ANY)}}}',
                lambda: f'{{{p(ATOM)}, {p(ANY)}}}',
                lambda: '{'
                + ', '.join(p(self.pick(INT, ANY)) for _ in range(self.random.randint(1, 5)))
                + '}',
            )
        if t == MAP:
            keys = self.random.sample(KEYS, self.pick(0, 1, 1, 2, 3))
            return '#{' + ', '.join(f'{k} := {p(self.pick(INT, ANY))}' for k in keys) + '}'
        if t == RECORD:
            fields = self.random.sample((('n', INT), ('x', NUM), ('y', ANY)), self.pick(1, 2, 3))
            return '#r{' + ', '.join(f'{f} = {p(of)}' for f, of in fields) + '}'
        if t in (BIN, BITS):
            return self.bits_pattern(scope)
        if t == FLOAT:
            return self.pick(*(f for f in FLOATS if f not in ('0.0', '-0.0')))
        return self.literal(t, 1) if t != FUN else '_'

    def bits_pattern(self, scope):
        parts, sizes = [], []
        for _ in range(self.pick(1, 2, 2, 3)):
            name = self.variable()
            size = self.pick(8, 8, 8, 16, 24, 32, 64, 4, 12, 3, 65, *(sizes * 3))
            flags = self.pick('', '', '/little', '/signed', '/little-signed')
            kind = self.pick(
                'int', 'int', 'int', 'literal', 'bytes', 'utf8', 'float', 'skip', 'text', 'length'
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
            elif kind == 'bytes':
                parts.append(f'{name}:{self.pick(0, 1, 2, 5, *(sizes * 2))}/{self.pick("binary", "bits")}')
                scope.append((name, BITS))
            elif kind == 'utf8':
                parts.append(f'{name}/{self.pick("utf8", "utf8", "utf16", "utf32")}')
                scope.append((name, INT))
            elif kind == 'float':
                parts.append(f'{name}:{self.pick(64, 64, 32, 16)}/float{self.pick("", "-little")}')
                scope.append((name, FLOAT))
            elif kind == 'text':
                parts.append(f'"{self.pick("a", "abc", "", "1")}"')
            else:
                parts.append(f'_:{size}')
        if self.chance(80):
            name, rest = self.variable(), self.pick('binary', 'bits')
            parts.append(f'{name}/{rest}')
            scope.append((name, BIN if rest == 'binary' else BITS))
        return '<<' + ', '.join(parts) + '>>'

    def guard(self, scope, percent):
        if not self.chance(percent):
            return ''
        return ' when ' + self.pick(', ', '; ').join(
            self.guard_test(scope) for _ in range(self.pick(1, 1, 2))
        )

    def guard_test(self, scope, depth=1):
        def v(t=ANY):
            return self.leaf(t, scope)

        if depth > 0 and self.chance(25):
            operator = self.pick('andalso', 'orelse', 'and', 'or', 'xor')
            return f'(({self.guard_test(scope, 0)}) {operator} ({self.guard_test(scope, 0)}))'
        compare = self.pick(*COMPARISONS)
        return self.one_of(
            lambda: f'{v(INT)} {compare} {v(INT)}',
            lambda: f'{v(INT)} {compare} {self.integer()}',
            lambda: f'{v(NUM)} {compare} {v(NUM)}',
            lambda: f'{v()} {compare} {v()}',
            lambda: f'{v()} {compare} {self.literal(ANY, 1)}',
            lambda: f'{self.pick(*TYPE_TESTS)}({v()})',
            lambda: f'{self.pick(*TYPE_TESTS)}({v()})',
            lambda: f'length({v(LIST)}) {compare} {self.random.randint(0, 3)}',
            lambda: f'{v(INT)} {self.pick("+", "-", "*", "div", "rem", "band", "bor")} {v(INT)} '
            f'{compare} {v(INT)}',
            lambda: f'{v(INT)} {self.pick("bsl", "bsr")} '
            f'{self.pick("1", "4", "60", v(INT) + " band 63")} {compare} 5',
            lambda: f'{v(NUM)} {self.pick("+", "-", "*", "/")} {v(NUM)} {compare} {v(NUM)}',
            lambda: f'{self.pick("byte_size", "bit_size")}({v(BITS)}) {compare} {self.random.randint(0, 9)}',
            lambda: f'hd({self.head_of(scope)}) {compare} {v(INT)}',
            lambda: f'tl({self.head_of(scope)}) {compare} []',
            lambda: f'element({self.random.randint(1, 3)}, {v(TUPLE)}) {compare} {v()}',
            lambda: f'element({v(INT)}, {v(TUPLE)}) {compare} {v()}',
            lambda: f'tuple_size({v(TUPLE)}) {compare} {self.random.randint(0, 4)}',
            lambda: f'is_map_key({self.pick(*KEYS)}, {v(MAP)})',
            lambda: f'map_get({self.pick(*KEYS)}, {v(MAP)}) {compare} {v()}',
            lambda: f'map_size({v(MAP)}) {compare} {self.random.randint(0, 4)}',
            lambda: f'is_record({v()}, r)',
            lambda: f'is_function({v()}, {self.random.randint(0, 2)})',
            lambda: f'abs({v(NUM)}) {compare} {v(NUM)}',
            lambda: f'not {self.pick(*TYPE_TESTS)}({v()})',
            lambda: f'{self.pick("trunc", "round", "float")}({v(NUM)}) {compare} {v(NUM)}',
            lambda: v(BOOL),
        )

    def head_of(self, scope):
        """Loaders refuse hd and tl of a literal that has none."""
        names = [name for name, of in scope if of in (LIST, ANY)]
        return self.random.choice(names) if names else '[1, 2]'

    # Functions.

    def head(self, name, parts, guard):
        return f'{name}({", ".join(parts)}){guard} ->\n    '

    def plain(self, name):
        """Has clauses."""
        parameters = [self.type() for _ in range(self.pick(0, 1, 2, 2, 3, 3, 4))]
        return self.of_clauses(name, parameters, self.type())

    def wide(self, name):
        """Has more arguments than are passed in registers."""
        return self.of_clauses(name, [self.type() for _ in range(self.random.randint(6, 11))], self.type())

    def of_clauses(self, name, parameters, result):
        clauses = []
        for last in [False] * self.pick(0, 1, 2) + [True]:
            parts, scope = [], []
            for t in parameters:
                parts.append(self.pattern(t, scope, 0 if last else 2))
            guard = self.guard(scope, 10 if last else 60)
            clauses.append(self.head(name, parts, guard) + self.body(result, scope, 4, (0, 1, 2, 3)))
        return parameters, result, ';\n'.join(clauses)

    def list_loop(self, name):
        """Through a list, with accumulators that change places."""
        many = self.random.randint(1, 7)
        types = [self.type() for _ in range(many)]
        accumulators = [f'A{n}' for n in range(many)]
        scope = list(zip(accumulators, types))
        clauses = [self.head(name, ['[]', *accumulators], '') + self.last_of(scope)]
        for last in [False] * self.pick(0, 1, 2) + [True]:
            inner = list(scope)
            element = self.pattern(self.type(), inner, 0 if last else 2)
            guard = self.guard(inner, 0 if last else 60)
            values = self.changed(scope, inner)
            clauses.append(
                self.head(name, [f'[{element} | T]', *accumulators], guard)
                + f'{name}(T, {", ".join(values)})'
            )
        return [LIST, *types], ANY, ';\n'.join(clauses)

    def changed(self, accumulators, scope):
        """The next values: some computed, some those of others of the same type."""
        values = []
        for name, t in accumulators:
            others = [other for other, of in accumulators if of == t]
            values.append(
                self.pick(*others, name)
                if self.chance(50)
                else f'small({self.times(6, lambda: self.expression(t, scope, 2))})'
            )
        return values

    def last_of(self, scope):
        return self.pick(
            '{' + ', '.join(name for name, _ in scope) + '}', self.expression(ANY, scope, 2), scope[0][0]
        )

    def count_loop(self, name):
        """Down to zero, with small integers that are known to be some."""
        many = self.random.randint(1, 8)
        types = [self.pick(INT, INT, NUM, FLOAT, ANY) for _ in range(many)]
        accumulators = [f'A{n}' for n in range(many)]
        scope = list(zip(accumulators, types))
        step = self.pick('N - 1', 'N - 1', 'N - 2', 'N div 2', 'N bsr 1')
        first = self.head(name, ['N', *accumulators], f' when {self.pick("N =< 0", "N < 1", "not (N > 0)")}')
        inner = [*scope, ('N', INT)]
        test = self.guard(inner, 100)
        clauses = [first + self.last_of(scope)]
        if self.chance(50):
            clauses.append(
                self.head(name, ['N', *accumulators], test)
                + f'{name}({step}, {", ".join(self.changed(scope, inner))})'
            )
        clauses.append(
            self.head(name, ['N', *accumulators], '')
            + f'{name}({step}, {", ".join(self.changed(scope, inner))})'
        )
        return [COUNT, *types], ANY, ';\n'.join(clauses)

    def deep(self, name):
        """Not in the last place, with values that are needed behind the call."""
        t = self.type()
        scope = [('N', INT), ('A', t)]
        before, kept = self.variable(), self.variable()
        value = self.times(8, lambda: self.expression(INT, scope, 2))
        handed = self.times(8, lambda: self.expression(t, scope, 2))
        inner = [*scope, (before, INT), (kept, self.pick(ANY, INT, t))]
        after = self.times(8, lambda: self.expression(self.pick(ANY, INT), inner, 3))
        text = (
            self.head(name, ['0', 'A'], '')
            + f'{self.expression(ANY, [("A", t)], 1)};\n'
            + self.head(name, ['N', 'A'], ' when is_integer(N), N > 0')
            + f'{before} = {value},\n    {kept} = {name}(N - 1, small({handed})),\n    small({after})'
        )
        return [COUNT, t], ANY, text

    def bytes_loop(self, name):
        t = self.type()
        clauses = []
        for _ in range(self.pick(1, 2, 2, 3)):
            pattern = self.pick(
                'X:8',
                'X',
                '$a, X:16',
                'X/utf8',
                'X:12, _:4',
                '0:2, X:6',
                '"a", X:8/signed',
                'X:32/little',
                'X:1',
            )
            inner = [('A', t), ('X', INT)]
            value = self.times(15, lambda: self.expression(t, [*inner, ('R', BITS)], 2))
            clauses.append(
                self.head(
                    name, [f'<<{pattern}, R/{self.pick("binary", "bits")}>>', 'A'], self.guard(inner, 30)
                )
                + f'{name}(R, small({value}))'
            )
        last = self.pick('<<>>', 'R', 'R')
        scope = [('A', t)] + ([('R', BITS)] if last == 'R' else [])
        clauses.append(self.head(name, [last, 'A'], '') + self.expression(ANY, scope, 2))
        return [self.pick(BIN, BITS), t], ANY, ';\n'.join(clauses)

    def live(self, name):
        """Many values over a call."""
        parameters = [self.type() for _ in range(self.pick(2, 3, 4))]
        scope = [(self.variable(), t) for t in parameters]
        head = self.head(name, [v for v, _ in scope], '')
        lines = []
        for half in (False, True):
            for _ in range(self.random.randint(4, 12)):
                t, name_of = self.pick(INT, INT, FLOAT, self.type()), self.variable()
                lines.append(f'{name_of} = {self.expression(t, scope, 2)}')
                scope.append((name_of, t))
            if not half:
                lines.append(f'id({self.leaf(ANY, scope)})')
        lines.append('{' + ', '.join(v for v, _ in scope) + '}')
        return parameters, ANY, head + ',\n    '.join(lines)

    def floats(self, name):
        """Many floats at a time."""
        many = self.random.randint(1, 6)
        scope = [(self.variable(), self.pick(FLOAT, FLOAT, NUM, INT)) for _ in range(many)]
        parameters = [t for _, t in scope]
        head = self.head(name, [v for v, _ in scope], self.guard(scope, 30))
        lines = []
        for _ in range(self.random.randint(2, 18)):
            v = self.variable()
            lines.append(
                f'{v} = {self.leaf(FLOAT, scope)} '
                f'{self.pick("+", "-", "*", "*", "/")} {self.leaf(NUM, scope)}'
            )
            scope.append((v, FLOAT))
        lines.append('{' + ', '.join(v for v, _ in scope) + '}')
        return parameters, ANY, head + ',\n    '.join(lines)

    def integers(self, name):
        """Many small integers, whose ranges are known."""
        many = self.random.randint(1, 4)
        parameters = [self.variable() for _ in range(many)]
        scope = [(v, INT) for v in parameters]
        tests = [
            self.pick(
                '',
                f'is_integer({v})',
                f'is_integer({v}), {v} >= 0',
                f'{v} > -100, {v} < 100',
                f'{v} < 1 bsl 59',
            )
            for v in parameters
        ]
        tests = ', '.join(test for test in tests if test)
        lines = []
        for _ in range(self.random.randint(3, 20)):
            v, x, y = self.variable(), self.leaf(INT, scope), self.leaf(INT, scope)
            right = self.one_of(
                lambda: f'{x} band {self.pick(1, 15, 255, 65535, 0xFFFFFFFF, (1 << 59) - 1)}',
                lambda: f'{x} band {self.pick(1, 15, 255, 65535, 0xFFFFFFFF, (1 << 59) - 1)}',
                lambda: f'{x} rem {self.pick(2, 7, 1000, -7, 1 << 40)}',
                lambda: f'{x} div {self.pick(2, 7, 1000, -7, 1 << 40)}',
                lambda: f'{x} bsr {self.pick(0, 1, 4, 60, 64)}',
                lambda: f'{x} bsl {self.pick(0, 1, 4, 30)}',
                lambda: f'{x} {self.pick("+", "-", "*", "band", "bor", "bxor", "div", "rem")} {y}',
                lambda: f'{x} {self.pick("+", "-", "*", "band", "bor", "bxor", "div", "rem")} {x}',
                lambda: f'{x} {self.pick("+", "-", "*", "bor", "bxor")} {self.integer()}',
                lambda: f'{self.integer()} {self.pick("+", "-", "*", "bor", "bxor")} {x}',
                lambda: f'{self.pick("-", "bnot ", "abs")}({x})',
                lambda: f'case {x} {self.pick(*COMPARISONS)} {y} of true -> {x}; false -> {y} + 1 end',
                lambda: f'if {x} {self.pick(*COMPARISONS)} {self.integer()} -> {x} - 1; true -> {y} end',
                lambda: f'{self.pick("min", "max")}({x}, {y})',
                lambda: f'small({x})',
            )
            lines.append(f'{v} = {right}')
            scope.append((v, INT))
        lines.append(
            '{'
            + ', '.join(self.random.sample([v for v, _ in scope], self.random.randint(1, len(scope))))
            + '}'
        )
        head = self.head(name, parameters, f' when {tests}' if tests else '')
        return [INT] * many, ANY, head + ',\n    '.join(lines)

    def function(self):
        self.nodes, self.cost, self.factor, self.names = 0, 0, 1, 0
        name = f'f{len(self.functions)}'
        make = self.pick(
            self.plain,
            self.plain,
            self.plain,
            self.wide,
            self.list_loop,
            self.list_loop,
            self.count_loop,
            self.count_loop,
            self.deep,
            self.bytes_loop,
            self.live,
            self.floats,
            self.integers,
            self.integers,
        )
        parameters, result, text = make(name)
        self.functions.append((name, parameters, result, self.cost))
        return text + '.\n'

    def argument(self, t):
        if t == COUNT:
            return str(self.pick(0, 1, 3, 6, 10))
        if t == FUN or self.chance(3):
            return self.literal(FUN)
        return self.literal(t if self.chance(90) else ANY)

    def render(self):
        functions = [self.function() for _ in range(self.random.randint(3, 6))]
        exports = [f'{name}/{len(parameters)}' for name, parameters, _, _ in self.functions]
        cases = []
        for name, parameters, _, _ in self.functions:
            cases += [
                f'    {{{name}, [{", ".join(self.argument(p) for p in parameters)}]}}'
                for _ in range(6 if parameters else 1)
            ]
        option = self.pick(*OPTIONS)
        return (
            f'-module({self.name}).\n'
            + (f'-compile({option}).\n' if option else '')
            + f'-export([cases/0, {", ".join(exports)}]).\n'
            '-record(r, {n = 0, x = 1.5, y}).\n'
            f'{LARGE_MAP}\n' + '\n'.join(functions) + '\nid(X) -> X.\n\n'
            '%% What is computed again and again stays small.\n'
            'small(N) when is_integer(N), abs(N) > 16#FFFFFFFFFFFFFFFFFF ->\n'
            '    N rem 16#10000000000000003;\n'
            'small(L) when is_list(L) -> cases:few(L);\n'
            'small(B) when bit_size(B) > 640 -> <<Small:640/bits, _/bits>> = B, Small;\n'
            'small(X) -> X.\n\n'
            'cases() -> [\n' + ',\n'.join(cases) + '].\n'
        )


def program(seed):
    """Name of the module and its text."""
    module = Module(seed)
    return module.name, module.render()


if __name__ == '__main__':
    import sys

    print(program(int(sys.argv[1]))[1], end='')
