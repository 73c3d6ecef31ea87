# SPDX-License-Identifier: Apache-2.0
"""One page of HTML of the figures of a benchmark run, complete in itself.

    results     the figures as they were measured: ratios with their intervals, what was noisy, what failed
    words       numbers as text
    markup      elements of HTML and SVG; all text is escaped
    scales      from a value to a place on an axis, and the ticks
    marks       what stands for a value in a plot, the same in all plots
    dot_plot    a value or several a row, on one axis
    line_plot   small panels with lines
    tables      the figures of a plot as a table that opens
    headline    the figures that matter, with the targets they are held against
    sections    a file for each part of the page
    page        all of it, with style.css and script.js inside
"""
