'use strict';
// What a mark means is told at the pointer, and to the keyboard: each plot is one stop of the Tab key, and the arrow keys go from
// mark to mark. Without this script the browser shows the same texts by itself.
const tip = document.getElementById('tip');

function tell(mark) {
  tip.textContent = mark.getAttribute('aria-label');
  tip.hidden = false;
  const at = mark.querySelector('path, rect').getBoundingClientRect(), own = tip.getBoundingClientRect(), room = 8;
  const left = at.left + at.width / 2 - own.width / 2;
  tip.style.left = Math.max(room, Math.min(left, document.documentElement.clientWidth - own.width - room)) + 'px';
  tip.style.top = (at.top - own.height - room < 0 ? at.bottom + room : at.top - own.height - room) + 'px';
}

function hush() { tip.hidden = true; }

function preparePlot(plot) {
  const marks = [...plot.querySelectorAll('.mark')];
  marks.forEach((mark, index) => {
    const title = mark.querySelector('title');
    mark.setAttribute('aria-label', title.textContent);
    mark.setAttribute('role', 'img');
    mark.setAttribute('tabindex', index ? '-1' : '0');
    title.remove();
    mark.addEventListener('pointerenter', () => tell(mark));
    mark.addEventListener('pointerleave', hush);
    mark.addEventListener('focus', () => tell(mark));
    mark.addEventListener('blur', hush);
  });
  plot.addEventListener('keydown', (event) => {
    const at = marks.indexOf(event.target), last = marks.length - 1;
    const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last}[event.key];
    if (event.key === 'Escape') hush();
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    if (to < 0 || to > last) return;
    marks[at].setAttribute('tabindex', '-1');
    marks[to].setAttribute('tabindex', '0');
    marks[to].focus();
  });
}

function prepareSaving() {
  const button = document.getElementById('save');
  button.hidden = false;
  button.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([document.getElementById('data').textContent], {type: 'application/json'}));
    link.download = 'results.json';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 0);
  });
}

document.querySelectorAll('.plot').forEach(preparePlot);
document.addEventListener('scroll', hush, {passive: true});
prepareSaving();
