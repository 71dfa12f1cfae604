"""Reads Prometheus' text format, strictly."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


class Exposition:
    def __init__(self):
        self.types = {}
        self.series = {}  # name -> labels -> value

    def value(self, name, /, **labels):
        """None where there is no such series, or not yet."""
        return self.series.get(name, {}).get(tuple(sorted(labels.items())))


def _labels(text):
    found, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text
        value = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        found.append((match[1], value))
        at = match.end()
    assert len({name for name, _ in found}) == len(found), text
    return tuple(sorted(found))


def parse(text):
    """Fails for lines of another form, samples without a type, series that are there twice, histograms that do not rise."""
    seen = Exposition()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in seen.types and kind in ("counter", "gauge", "histogram"), line
            seen.types[name] = kind
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, labels, value = match[1], _labels(match[2] or ""), float(match[3])
        family = name if name in seen.types else re.sub("_(bucket|sum|count)$", "", name)
        assert family in seen.types and (family == name) == (seen.types[family] != "histogram"), line
        assert labels not in seen.series.setdefault(name, {}), line
        seen.series[name][labels] = value
    for name, kind in seen.types.items():
        if kind != "histogram":
            continue
        for labels, count in seen.series[f"{name}_count"].items():
            buckets = sorted((float(dict(of)["le"]), value) for of, value in seen.series[f"{name}_bucket"].items()
                             if tuple(x for x in of if x[0] != "le") == labels)
            values = [value for _, value in buckets]
            assert values == sorted(values) and buckets[-1] == (float("inf"), count), (name, labels)
    return seen
