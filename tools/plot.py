"""Draws what ./dev bench measured, as SVG: latency against offered load, and cost against the number of objects."""

import html
import math

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 210, 40, 50
COLOURS = ("#1f5fa8", "#c2512f", "#2f8a4c", "#7a4fa3", "#a88314", "#17838f", "#a83268", "#5c6670", "#6b8e23", "#444444")
FONT = 'font-family="sans-serif" font-size="12"'


class Axis:
    """Maps values to pixels, by their logarithm or as they are."""

    def __init__(self, values, begin, end, logarithmic):
        self.logarithmic, self.begin, self.end = logarithmic, begin, end
        if logarithmic:
            self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.high = max(self.high, self.low + 1)
        else:
            self.low, self.high = 0, max(values) * 1.05

    def at(self, value):
        share = ((math.log10(value) if self.logarithmic else value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        if self.logarithmic:
            return [10**power for power in range(self.low, self.high + 1)]
        step = 10 ** math.floor(math.log10(self.high / 2))
        while self.high / step > 8:
            step *= 2
        return [step * number for number in range(int(self.high / step) + 1)]


def label(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {FONT} {more}>{html.escape(words)}</text>'


def stroke(colour, dashed):
    return f'stroke="{colour}" stroke-width="2"' + (' stroke-dasharray="6 4"' if dashed else "")


def grid(across, up):
    for value in across.ticks():
        x = across.at(value)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield text(x, HEIGHT - BOTTOM + 16, label(value), "middle")
    for value in up.ticks():
        y = up.at(value)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield text(LEFT - 6, y + 4, label(value), "end")


def curve(points, across, up, colour, dashed):
    path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" {stroke(colour, dashed)}/>'
    for x, y in points:
        yield f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="3" fill="{colour}"/>'


def chart(title, x_words, y_words, curves, logarithmic_x):
    """`curves`: (name, colour, dashed, points of x and y), y always on a logarithmic axis."""
    every = [point for _, _, _, points in curves for point in points]
    across = Axis([x for x, _ in every], LEFT, WIDTH - RIGHT, logarithmic_x)
    up = Axis([y for _, y in every], HEIGHT - BOTTOM, TOP, True)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(LEFT, 22, title, more='font-weight="bold"'),
             *grid(across, up), text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_words, "middle"),
             text(16, HEIGHT / 2, y_words, "middle", f'transform="rotate(-90 16 {HEIGHT / 2})"')]
    for number, (name, colour, dashed, points) in enumerate(curves):
        parts += curve(points, across, up, colour, dashed)
        y = TOP + 10 + 20 * number
        parts.append(f'<line x1="{WIDTH - RIGHT + 14}" y1="{y}" x2="{WIDTH - RIGHT + 38}" y2="{y}" {stroke(colour, dashed)}/>')
        parts.append(text(WIDTH - RIGHT + 44, y + 4, name))
    return "\n".join([*parts, "</svg>", ""])


def offered_load(rows):
    curves = []
    for number, what in enumerate(dict.fromkeys(row["operation"] for row in rows)):
        for percentile, dashed in (("p50", False), ("p99", True)):
            points = [(row["offered"], row["costs"][f"{percentile}_us"]) for row in rows if row["operation"] == what]
            curves.append((f"{what}, {percentile}", COLOURS[number], dashed, points))
    return chart("Latency against offered load (open loop, from when a request was due)", "requests offered per second",
                 "microseconds", curves, False)


def growth(rows):
    curves = []
    for row in rows:
        if row["sizes"]:
            points = sorted((int(level), value) for level, value in row["sizes"].items())
            curves.append((row["what"].split(" among")[0].split(" of ")[0], COLOURS[len(curves) % len(COLOURS)],
                           len(curves) >= len(COLOURS), points))
    return chart("Cost of one request against the number of objects (p50)", "objects", "microseconds", curves, True)


def draw(data, folder):
    """Whichever of the drawings `data` (of --json) has the figures for."""
    folder.mkdir(parents=True, exist_ok=True)
    for section, name, drawing in (("offered", "latency-by-load.svg", offered_load), ("sizes", "cost-by-size.svg", growth)):
        if section in data["sections"]:
            (folder / name).write_text(drawing(data["sections"][section]["rows"]))
            print(f"drawn: {folder / name}")
