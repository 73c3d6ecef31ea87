# SPDX-License-Identifier: Apache-2.0
"""Writes into stock.txt and suites.txt of the installed release what the suites named make of themselves
now, with stock erl (if it is not known yet) and with us:

    python3 test/otp/record.py [--build BUILD] [--again] [--seconds N] FOLDER/SUITE…

A case that does not pass with us, but with stock erl, gets the reason that common_test has for it, in
brackets, until somebody knows better: reasons in plain words that are there stay.
"""
import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness.results import Failure  # noqa: E402
from otp import ct, lists  # noqa: E402
from otp.source import SOURCE, locked  # noqa: E402


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--build', type=pathlib.Path, default=HERE.parents[1] / 'build', help='build folder')
    parser.add_argument('--again', action='store_true', help='with stock erl too, though it is known')
    parser.add_argument('--seconds', type=int, default=ct.SECONDS, help='for a suite (default: %(default)s)')
    parser.add_argument('suite', nargs='+')
    options = parser.parse_args()
    for name in options.suite:
        folder, _, suite = name.rpartition('/')
        try:
            record(options, folder, suite)
        except Failure as failure:
            print(f'{name}: {failure}', flush=True)


def record(options, folder, suite):
    path_of_stock, path_of_ours = lists.at_hand()
    if (folder, suite) not in lists.read(path_of_stock) or options.again:
        outcome = ct.run(None, folder, suite, seconds=options.seconds)
        if outcome.end or not outcome.passed:
            print(
                f'{folder}/{suite}: {len(outcome.passed)} pass with stock erl: {outcome.end} '
                f'{outcome.log[-800:]}',
                flush=True,
            )
            return
        known = lists.Suite(len(outcome.passed))
        known.cases = {case: what for case, (what, _) in outcome.cases.items() if what != 'ok'}
        enter(path_of_stock, folder, suite, known)
    known = lists.read(path_of_stock)[folder, suite]
    listed = lists.read(path_of_ours).get((folder, suite), lists.Suite())
    old = listed.cases
    outcome = ct.run(
        options.build.resolve() / 'bin', folder, suite, lists.left_out(known, listed), options.seconds
    )
    mine = lists.Suite()
    for case, (what, why) in outcome.cases.items():
        if case not in known.cases and (what != 'ok' or old.get(case, '').startswith(lists.SOMETIMES)):
            known_reason = old.get(case, '[')
            mine.cases[case] = f'[{what}: {short(why)}]' if known_reason.startswith('[') else known_reason
    mine.cases.update(
        {case: why for case, why in old.items() if why.startswith(lists.LEFT_OUT) and case not in known.cases}
    )
    not_reached = known.number - len((outcome.cases.keys() | mine.cases.keys()) - known.cases.keys())
    if not not_reached:  # else nobody knows what they would have done
        enter(path_of_ours, folder, suite, mine)
    print(
        f'{folder}/{suite}: erl {known.number}, ours all but {len(mine.cases)}; not reached: {not_reached}; '
        f'{outcome.end}',
        outcome.log if not_reached else '',
        flush=True,
    )


def short(why):
    """Lines of files, but not where these are; nothing of common_test itself."""
    why = re.sub(r'\[?\{file,"[^"]*"\},\{line,(\d+)\}\]?', r'line \1', why)
    return re.sub(r',\{test_server,ts_tc.*', '', why)[:200]


def enter(path, folder, suite, what):
    with locked(SOURCE / 'recording'):
        suites = lists.read(path)
        suites[folder, suite] = what
        lists.write(path, suites)


if __name__ == '__main__':
    main()
