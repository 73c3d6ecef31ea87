# SPDX-License-Identifier: Apache-2.0
"""`python3 bench/report results.json -o page.html`: the command line."""
import argparse
import pathlib
import sys

if not __package__:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from report import page, results  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(
        prog='python3 bench/report',
        description='Makes one self-contained page of HTML of the figures of a '
        'benchmark run. It fetches nothing, and opens from a file as well as from a server.',
    )
    parser.add_argument('results', type=pathlib.Path, help='the figures, as ./dev bench --json writes them')
    parser.add_argument(
        '-o', '--output', type=pathlib.Path, required=True, metavar='PAGE', help='the page to write'
    )
    return parser.parse_args()


def main():
    options = arguments()
    try:
        text = page.page(results.read(options.results))
        options.output.write_text(text, encoding='utf-8')
    except (OSError, results.Unreadable) as error:
        raise SystemExit(f'report: {error}') from None


if __name__ == '__main__':
    main()
