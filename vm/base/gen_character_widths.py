# SPDX-License-Identifier: Apache-2.0
"""Characters that take no column of a terminal or two: gen_character_widths.py OUT makes the rows of
character_width.cpp."""
import sys
import unicodedata

# Ranges that Unicode keeps for wide characters, assigned or not.
KEPT_WIDE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD))
# Hexagrams and circled numbers are wide in terminals, though Unicode calls them neutral or ambiguous.
SHOWN_WIDE = ((0x3248, 0x324F), (0x4DC0, 0x4DFF))
# Vowels and final consonants of Hangul join the letter before them.
JOINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7FB))
# Format characters that show: the soft hyphen, and marks that enclose the digits behind them
# (Prepended_Concatenation_Mark).
SHOWN = (
    (0xAD, 0xAD),
    (0x600, 0x605),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
)


def within(code, ranges):
    return any(low <= code <= high for low, high in ranges)


def width(code):
    character = chr(code)
    category = unicodedata.category(character)
    if within(code, SHOWN):
        return 1
    if category in ('Mn', 'Me', 'Cf') or within(code, JOINING):
        return 0
    if within(code, KEPT_WIDE + SHOWN_WIDE):
        return 2
    return 2 if category != 'Cn' and unicodedata.east_asian_width(character) in 'WF' else 1


def main(out):
    ranges = []
    for code in range(0xA0, 0x110000):
        columns = width(code)
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == columns:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, columns])
    with open(out, 'w', encoding='utf-8') as file:
        file.writelines(
            f'    {{0x{low:X}, 0x{high:X}, {columns}}},\n' for low, high, columns in ranges if columns != 1
        )


if __name__ == '__main__':
    main(sys.argv[1])
