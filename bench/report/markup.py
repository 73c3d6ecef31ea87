# SPDX-License-Identifier: Apache-2.0
"""Elements of HTML and SVG as text. Whatever is not Markup is escaped: names are data, never markup.

The text is XML as well as HTML, so that any parser may read the page: elements without content are closed,
attributes have quotes, and characters that XML does not know are shown as U+FFFD.
"""
import html
import re

VOID = {'meta', 'br', 'circle', 'line', 'rect', 'path', 'polyline'}
UNKNOWN_TO_XML = re.compile('[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


class Markup(str):
    """Text that is markup already; what is put behind it and is not is escaped."""

    def __add__(self, other):
        return Markup(str.__add__(self, other if isinstance(other, Markup) else escape(other)))


def escape(text):
    return Markup(html.escape(UNKNOWN_TO_XML.sub('\ufffd', str(text))))


def together(children):
    """Markup of elements, texts and lists of them; what is None is left out."""
    parts = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, (list, tuple)):
            parts.append(together(child))
        elif child is not None:
            parts.append(escape(child))
    return Markup(''.join(parts))


def element(name, /, *children, **attributes):
    """An element. `class_` stands for the attribute class, an underscore within a name for a hyphen;
    attributes that are None are left out."""
    written = ''.join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f'<{name}{written} />')
    return Markup(f'<{name}{written}>{together(children)}</{name}>')
