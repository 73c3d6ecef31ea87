# SPDX-License-Identifier: Apache-2.0
"""What all parts of the page have in common: a title, how to read it, plots with their data, the command that
repeats it."""
import dataclasses

from ..markup import Markup, element, together


@dataclasses.dataclass
class Section:
    identity: str  # what links lead to
    title: str
    lead: str  # how to read it
    content: list
    command: str

    def markup(self):
        return element(
            'section',
            element('h2', self.title),
            element('p', self.lead, class_='lead'),
            self.content,
            element('p', 'Repeat it: ', element('code', self.command), class_='command'),
            id=self.identity,
        )


def part(title, *content):
    """A titled part of a section."""
    return together([element('h3', title), *content])


def dropped(names, why):
    """A line for what a plot cannot show, so that nothing is missing silently."""
    names = list(names)
    return element('p', element('b', f'{why}: '), ', '.join(names), class_='note') if names else Markup('')
