#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: window-svg.py > docs/window.svg

Draw a window, what it counts and who gets that, for docs/method.md.
"""

WIDTH, HEIGHT = 800, 558
LEFT, RIGHT = 35, 765
SCALE = 0.76                    # pixels for a cycle of the program
KERNEL = 46                     # pixels for the kernel, which is not counted
LATE, COST, USEFUL, LONG = 100, 200, 300, 999500

# Functions that run and their cycles: until the interrupt that ends the long interval, from
# there to the one that ends the window.
BEFORE = 'f26 h30 k24 f38 h22 g20'
WINDOW = 'g14 h36 f30 k28 h24 g34 f40 k30 h34 f24 g30 f26 h24 k26'

STYLE = '''
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.small { font-size: 12px; } .bold { font-weight: bold; } .middle { text-anchor: middle; }
.formula { font-family: Georgia, "DejaVu Serif", serif; font-style: italic; font-size: 15px; }
.page { fill: #ffffff; } .box { fill: none; stroke: #59636e; }
.zoom { fill: #f0f2f5; } .line { fill: none; stroke: #1f2328; } .head { fill: #1f2328; }
.g { fill: #9ecbff; } .k { fill: #ffc680; } .f { fill: #dde2e7; } .h { fill: #c3cad2; }
.g, .k, .f, .h { stroke: #ffffff; stroke-width: 0.7; }
.kernel { fill: #59636e; } text.inverse { fill: #ffffff; }
.stripe { stroke: #cf222e; stroke-width: 2; } .cost { fill: url(#stripes); stroke: #cf222e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .page { fill: #0d1117; } .box { stroke: #9198a1; }
  .zoom { fill: #1a2029; } .line { stroke: #e6edf3; } .head { fill: #e6edf3; }
  .g { fill: #1f5fc4; } .k { fill: #a85413; } .f { fill: #30363d; } .h { fill: #48505a; }
  .g, .k, .f, .h { stroke: #0d1117; }
  .kernel { fill: #b1bac4; } text.inverse { fill: #0d1117; } .stripe, .cost { stroke: #ff7b72; }
}
'''

out = []


def rectangle(kind, left, top, right, bottom, more=''):
    out.append(f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{right - left:g}" '
               f'height="{bottom - top:g}"{more}/>')


def text(x, y, words, kind='middle'):
    out.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{words}</text>')


def path(steps, kind='line'):
    out.append(f'<path class="{kind}" d="{steps}"/>')


def span(left, right, y):
    """Draw a line with an end at both sides."""
    path(f'M{left:g} {y - 5:g}v10M{left:g} {y:g}H{right:g}M{right:g} {y - 5:g}v10')


def arrow(x, y, to_x, to_y):
    """Draw an arrow, to the right or down."""
    path(f'M{x:g} {y:g}L{to_x:g} {to_y:g}')
    if to_y == y:
        path(f'M{to_x:g} {to_y:g}l-8 -4v8z', 'head')
    else:
        path(f'M{to_x:g} {to_y:g}l-4 -8h8z', 'head')


def parts(sequence):
    return [(part[0], int(part[1:])) for part in sequence.split()]


def functions(sequence, x, top, bottom, scale, names):
    """Draw functions from x on. Return where they end."""
    for name, cycles in parts(sequence):
        rectangle(name, x, top, x + cycles * scale, bottom)
        if names:
            text(x + cycles * scale / 2, (top + bottom) / 2 + 5, name)
        x += cycles * scale
    return x


def rounds(window, end):
    """Draw two rounds. The first window is from window to end."""
    distance = 300
    scale = (RIGHT - LEFT) / 4 / sum(cycles for _, cycles in parts(BEFORE + ' ' + WINDOW))
    x = LEFT
    for _ in range(4):
        x = functions(BEFORE + ' ' + WINDOW, x, 46, 66, scale, False)
    for start, name in ((LEFT, ''), (window, 's'), (end, 'w'), (window + distance, 's'),
                        (end + distance, 'w')):
        path(f'M{start} 28v42')
        if name:
            text(start + (-8 if name == 's' else 9), 83, name, 'middle bold')
    for start, stop in ((LEFT, window), (end, window + distance)):
        span(start, stop, 34)
        text((start + stop) / 2, 24, f'long interval: {LONG} cycles')
    path(f'M{end + distance} 34H{RIGHT}')
    text((window + end) / 2, 24, 'window')
    text((window + end) / 2 + distance, 24, 'window')


def zoomed(top, bottom):
    """Draw the window. Return where it begins, its useful part begins, and it ends."""
    interrupt = functions(BEFORE, LEFT, top, bottom, SCALE, True)
    begin = interrupt + KERNEL
    useful = begin + COST * SCALE
    end = functions(WINDOW, useful, top, bottom, SCALE, True)
    rectangle('cost', begin, top, useful, bottom)
    rectangle('cost', end + KERNEL, top, RIGHT, bottom)
    for x, name, where in ((interrupt, 's', 'g'), (end, 'w', 'k')):
        rectangle('kernel', x, top, x + KERNEL, bottom)
        text(x + KERNEL / 2, (top + bottom) / 2 + 4, 'kernel', 'small middle inverse')
        text(x + KERNEL / 2, top - 33, f'sample {name}', 'middle bold')
        text(x + KERNEL / 2, top - 17, f'is in {where}')
        path(f'M{x:g} {top - 12}V{bottom + 6}')
        overflow = x - LATE * SCALE
        path(f'M{overflow:g} {top}l-4 -8h8z', 'head')
        arrow(overflow, top - 8, x, top - 8)
        text(overflow, top - 30, 'overflow')
        text(overflow + 34, top - 14, 'late', 'small middle')
    overflow = end - LATE * SCALE
    span(begin, overflow, top - 14)
    text((begin + overflow) / 2 - 20, top - 22,
         f'armed with {COST + USEFUL} cycles: {USEFUL} and C')
    return begin, useful, end


def draw():
    rectangle('page', 0, 0, WIDTH, HEIGHT)
    top, bottom = 176, 206
    first, last = 330, 350
    path(f'M{first} 68L{LEFT + 122} {top}V{bottom}H{LEFT + 122 + 548}V{top}L{last} 68z', 'zoom')
    rounds(first, last)
    begin, useful, end = zoomed(top, bottom)

    program = sum(cycles for _, cycles in parts(WINDOW))
    others = sum(cycles for name, cycles in parts(WINDOW) if name in 'fh')
    span(begin, useful - 2, bottom + 14)
    text((begin + useful) / 2, bottom + 32, 'C: what the interrupt', 'small middle')
    text((begin + useful) / 2, bottom + 48, 'costs, nothing retires', 'small middle')
    span(useful + 2, end, bottom + 14)
    text((useful + end) / 2, bottom + 32, f'{program} cycles of the program,', 'small middle')
    text((useful + end) / 2, bottom + 48,
         f'{others} of them in f and h, at neither end', 'small middle')
    span(begin, end, bottom + 65)
    middle = (begin + end) / 2
    text(middle, bottom + 84,
         f'the window: counts at w less counts at s = {COST + program} cycles, i instructions')

    top = bottom + 124
    path(f'M{middle:g} {bottom + 90}v8M160 {bottom + 98}H640')
    arrow(160, bottom + 98, 160, top - 4)
    arrow(640, bottom + 98, 640, top - 4)
    for name, x, verb, sample, part, insns in (
            ('g', 35, 'begins', 's', 'a quarter', 'i / 4'),
            ('k', 515, 'ends', 'w', 'three quarters', '3 i / 4')):
        rectangle(name, x, top, x + 250, top + 68, ' rx="4"')
        text(x + 125, top + 20, f'{name}, where it {verb}', 'middle bold')
        text(x + 125, top + 39, f'{part} of the window: {insns}')
        text(x + 125, top + 57, f'sample {sample}: half the time of the round')
    text(400, top + 30, 'f and h get nothing')
    text(400, top + 47, 'of this window')

    top += 110
    text(LEFT, top - 12, 'Then all windows of the program together:', 'bold')
    steps = (('1. Add up, for each function',
              '<tspan class="formula">w</tspan>: instructions per cycle',
              'of its windows, less C each',
              '<tspan class="formula">l</tspan>: the part with one end',
              'elsewhere, a = l²'),
             ('2. One equation for each',
              '<tspan class="formula">w = (1 − a) r + a o</tspan>',
              '<tspan class="formula">r</tspan>: its own rate, unknown',
              '<tspan class="formula">o</tspan>: the mean <tspan class="formula">r</tspan> of the',
              'functions at the other ends'),
             ('3. Find all <tspan class="formula">r</tspan> in steps', 'The sum of all functions',
              'remains what was counted.', 'The cycles of a function are',
              'those of its samples.'))
    for number, lines in enumerate(steps):
        x = LEFT + number * 252
        rectangle('box', x, top, x + 226, top + 112, ' rx="4"')
        for y, line in enumerate(lines):
            text(x + 113, top + 22 + y * 20, line, 'middle' if y else 'middle bold')
        if number:
            arrow(x - 24, top + 56, x - 3, top + 56)


draw()
print(f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" \
width="{WIDTH}" height="{HEIGHT}" role="img">
<title>A window: where it begins and ends, what it counts, and which function gets what</title>
<style>{STYLE}</style>
<defs><pattern id="stripes" width="7" height="7" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><path class="stripe" d="M0 0V7"/></pattern></defs>''')
print('\n'.join(out))
print('</svg>')
