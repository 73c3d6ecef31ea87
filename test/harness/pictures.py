# SPDX-License-Identifier: Apache-2.0
"""Compares the pictures that explain the code with what draws them and with the sources that they name."""
import re
import sys

from . import arrows
from .results import Failure, Test


def tests(root):
    sys.path.insert(0, str(root / 'docs/pictures'))
    import diagrams

    pictures = diagrams.read()
    return [
        Test(
            'docs',
            'the pictures of the code are what diagrams.py draws',
            lambda: drawn(root, diagrams, pictures),
        ),
        Test('docs', 'what the pictures name is in the sources', lambda: named(root, pictures)),
        Test(
            'docs',
            'the picture of the layers agrees with arrows.tab',
            lambda: layers(root, diagrams, pictures),
        ),
    ]


def drawn(root, diagrams, pictures):
    for name, picture in pictures.items():
        if (root / f'docs/pictures/{name}.svg').read_text() != diagrams.svg(picture):
            raise Failure(f'{name}.svg: draw it anew: python3 docs/pictures/diagrams.py')


def named(root, pictures):
    probes = set(re.findall(r'^probe (\w+)', (root / 'probes/probes.tab').read_text(), re.M))
    wrong = []
    for place in (place for picture in pictures.values() for place in picture.places):
        wrong += [probe for probe in place.probes if probe.replace('-', '__') not in probes]
        if place.file:
            path = root / place.file
            words = re.findall(r'\w+', path.read_text()) if path.is_file() else []
            wrong += [place.file] if not words else []
            wrong += [f'{place.file}: {name}' for name in place.names if name not in words]
    if wrong:
        raise Failure('named in docs/pictures/pictures.tab, not in the sources: ' + ', '.join(wrong))


def layers(root, diagrams, pictures):
    """No box includes headers of a box above it, and the folders of the machine are all there."""
    table = arrows.allowed(root)
    group = {
        name: diagrams.folders(pictures['layers'], name)
        for name in ('top', 'above', 'beside', 'stack', 'tracer')
    }
    left = group['top'] + group['above'] + group['stack']
    for column in (left, group['top'] + group['beside'] + group['stack'], group['tracer']):
        height = {folder: n for n, (folder, _) in enumerate(reversed(column))}
        for folder, targets in table.items():
            above = [name for name in targets if height_of(name, height) > height_of(folder, height) >= 0]
            if above:
                raise Failure(f'the picture has {" ".join(above)} above {folder}, which includes it')
    missing = (
        {name for name in table if re.match(r'vm(/|$)', name)} - set(dict(left)) - {'vm/include', 'vm/packet'}
    )
    if missing:
        raise Failure('not in docs/pictures/pictures.tab: ' + ' '.join(sorted(missing)))


def height_of(folder, height):
    """The height of the box that a folder lies in; -1 when it has none."""
    names = [folder, folder.rpartition('/')[0]]
    boxes = [name for name in names if name in height and (name == folder or '/' in name)]
    return height[boxes[0]] if boxes else -1
