"""Which of the mutants are tried: seeded, and fair to small files."""

import hashlib


def choose(sites, count, seed):
    """`count` of the sites. Every file gets some, the rest goes by the number of sites; a site's place in its file's
    row is a hash of seed and id, so sites that come and go elsewhere do not move it."""
    files = {}
    for site in sites:
        files.setdefault(site.file, []).append(site)
    for found in files.values():
        found.sort(key=lambda site: hashlib.sha256(f"{seed}:{site.id}".encode()).hexdigest())
    count = min(count, len(sites))
    least = 2 if 4 * len(files) <= count else 1 if 2 * len(files) <= count else 0
    given = {file: min(least, len(found)) for file, found in files.items()}
    while sum(given.values()) < count:
        open_files = [file for file, found in files.items() if given[file] < len(found)]
        best = max(open_files, key=lambda file: (len(files[file]) / (2 * given[file] + 1), file))
        given[best] += 1
    chosen = [site for file, found in files.items() for site in found[:given[file]]]
    return sorted(chosen, key=lambda site: (site.file, site.start, -site.end, site.mutated))
