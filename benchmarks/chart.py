"""A chart with two logarithmic axes as SVG. The background is transparent, so that it is legible on white and on dark pages."""

import html
import math

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 74, 176, 18, 52  # margins; texts of lines are in the right one
GREY = "#7a7a7a"
LINE_HEIGHT = 15


class LogChart:
    """Points, lines and texts over a range of x and y."""

    def __init__(self, title, x_title, y_title, x_range, y_range, x_ticks, y_ticks):
        self.x_range, self.y_range = x_range, y_range
        self.labels = []
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="12">',
            f"<title>{html.escape(title)}</title>",
        ]
        for value, text in x_ticks:
            self._grid(self.x(value), TOP, self.x(value), HEIGHT - BOTTOM)
            self._text(self.x(value), HEIGHT - BOTTOM + 18, text, anchor="middle")
        for value, text in y_ticks:
            self._grid(LEFT, self.y(value), WIDTH - RIGHT, self.y(value))
            self._text(LEFT - 8, self.y(value) + 4, text, anchor="end")
        self._text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_title, anchor="middle")
        middle = (TOP + HEIGHT - BOTTOM) / 2
        self._text(18, middle, y_title, anchor="middle", more=f' transform="rotate(-90 18 {middle:.1f})"')

    def x(self, value):
        first, last = map(math.log, self.x_range)
        return LEFT + (math.log(value) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        first, last = map(math.log, self.y_range)
        return HEIGHT - BOTTOM - (math.log(value) - first) / (last - first) * (HEIGHT - TOP - BOTTOM)

    def line(self, points, color, dashes=""):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dashed}/>')

    def span(self, x, least, most, color):
        """From the least to the largest value."""
        at = self.x(x)
        self.parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{self.y(least):.1f}" y2="{self.y(most):.1f}" '
                          f'stroke="{color}" stroke-width="6" stroke-opacity="0.3" stroke-linecap="round"/>')

    def dot(self, x, y, color, hollow=False):
        fill = f'fill="none" stroke="{color}" stroke-width="2"' if hollow else f'fill="{color}"'
        self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="4" {fill}/>')

    def label(self, y, lines, color):
        """Texts on the right of a line that ends at this height."""
        self.labels.append((self.y(y), lines, color))

    def _place_labels(self):
        """At the heights of their lines, and below one another where these are near."""
        free = 0.0
        for middle, lines, color in sorted(self.labels):
            top = max(free, middle - len(lines) * LINE_HEIGHT / 2)
            for i, text in enumerate(lines):
                self._text(WIDTH - RIGHT + 12, top + (i + 0.8) * LINE_HEIGHT, text, color=color if i == 0 else GREY)
            free = top + len(lines) * LINE_HEIGHT + 8

    def svg(self):
        self._place_labels()
        return "\n".join([*self.parts, "</svg>", ""])

    def _grid(self, x1, y1, x2, y2):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{GREY}" stroke-opacity="0.3"/>')

    def _text(self, x, y, text, anchor="start", color=GREY, more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}"{more}>{html.escape(text)}</text>')
