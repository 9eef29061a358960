#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads an AMReX plotfile, checks it, and prints what is in it.

read_plotfile.py FOLDER

Prints the time, the blocks of each level, the integral of each field over the cells that no finer
block covers, and a checksum of all values in the order of the boxes. Checks that the boxes agree in
all files, that level 0 covers the domain, that each fine block lies in coarse ones, and that covered
cells have the means of the finer ones.
"""
import hashlib
import itertools
import math
import os
import re
import sys
from array import array


def check(condition, what):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def parse_box(text):
    """Returns the first and the last cell of a box such as ((0,0) (15,15) (0,0))."""
    match = re.fullmatch(r"\(\(([-\d,]+)\) \(([-\d,]+)\) \(0(?:,0)*\)\)", text)
    check(match, f"'{text}' is not a box")
    return tuple(tuple(int(i) for i in part.split(",")) for part in match.groups())


def cells_of(first, last):
    """Returns the cells of a box, x fastest."""
    axes = [range(a, b + 1) for a, b in zip(reversed(first), reversed(last))]
    return [tuple(reversed(cell)) for cell in itertools.product(*axes)]


class Lines:
    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            self.lines = iter(file.read().split("\n"))

    def next(self):
        return next(self.lines)

    def numbers(self, kind=float, separator=None):
        return [kind(word) for word in self.next().split(separator) if word]


def read_fab(path, offset, box_text, fields):
    """Returns the values of a block, one list for each field."""
    with open(path, "rb") as file:
        file.seek(offset)
        line = file.readline().decode("ascii")
        expected = f"FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1))){box_text} {fields}\n"
        check(line == expected, f"{path} has '{line}' at {offset}")
        first, last = parse_box(box_text)
        count = math.prod(b - a + 1 for a, b in zip(first, last))
        values = array("d")
        values.fromfile(file, count * fields)
    return [values[f * count:(f + 1) * count] for f in range(fields)]


def read_extremes(lines, blocks, fields):
    check(lines.next() == f"{blocks},{fields}", "the extremes are of other blocks")
    rows = [lines.numbers(separator=",") for _ in range(blocks)]
    check(lines.next() == "", "no empty line after the extremes")
    return rows


def read_level(folder, prefix, boxes, fields):
    """Returns the values of the blocks of a level: {cell: [value of each field]}, and a checksum."""
    lines = Lines(os.path.join(folder, prefix + "_H"))
    check([lines.next() for _ in range(4)] == ["1", "1", str(fields), "0"], "another header")
    check(lines.next() == f"({boxes} 0", "another number of boxes")
    texts = [lines.next() for _ in range(boxes)]
    check(lines.next() == ")" and lines.next() == str(boxes), "another number of files")
    places = [lines.next().split() for _ in range(boxes)]
    check(lines.next() == "", "no empty line after the files")
    least, most = (read_extremes(lines, boxes, fields) for _ in range(2))
    level, digest, used = {}, hashlib.sha256(), {}
    for text, (word, name, offset), low, high in zip(texts, places, least, most):
        check(word == "FabOnDisk:", f"'{word}' instead of FabOnDisk:")
        path = os.path.join(folder, os.path.dirname(prefix), name)
        values = read_fab(path, int(offset), text, fields)
        check([min(v) for v in values] == low and [max(v) for v in values] == high,
              f"the extremes of {text} differ")
        digest.update(text.encode())
        for of_field in values:
            digest.update(of_field.tobytes())
        used[path] = used.get(path, 0) + 8 * fields * len(values[0])
        for cell, of_cell in zip(cells_of(*parse_box(text)), zip(*values)):
            check(cell not in level, f"two blocks have the cell {cell}")
            level[cell] = of_cell
    for path, size in used.items():
        check(size < os.path.getsize(path) < 1.1 * size, f"{path} has other data")
    return [parse_box(text) for text in texts], level, digest.hexdigest()


def check_means(coarse, fine, fields, dimensions):
    """Checks the coarse cells that fine ones cover. Returns these cells."""
    sums = {}
    for cell, values in fine.items():
        above = tuple(i // 2 for i in cell)
        check(above in coarse, f"no coarse cell is below {cell}")
        total = sums.setdefault(above, [0, [0.0] * fields])
        total[0] += 1
        for f in range(fields):
            total[1][f] += values[f]
    for above, (count, total) in sums.items():
        check(count == 2**dimensions, f"{above} is covered by {count} cells")
        for mean, value in zip(total, coarse[above]):
            check(abs(mean / count - value) <= 1e-13 * max(1, abs(value)), f"{above} is no mean")
    return set(sums)


def main():
    folder = sys.argv[1]
    header = Lines(os.path.join(folder, "Header"))
    check(header.next() == "HyperCLaw-V1.1", "another format")
    fields = int(header.next())
    names = [header.next() for _ in range(fields)]
    dimensions, time, levels = int(header.next()), header.next(), int(header.next()) + 1
    lower, upper = header.numbers(), header.numbers()
    check(header.numbers(int) == [2] * (levels - 1), "the refinement ratios are not 2")
    domains = [parse_box(text) for text in re.findall(r"\(\(.*?\)\)", header.next())]
    steps = header.numbers(int)
    check(len(domains) == levels and steps == steps[:1] * levels, "not one domain a level")
    sizes = [header.numbers() for _ in range(levels)]
    check(header.next() == "0" and header.next() == "0", "not Cartesian")
    print(f"{dimensions}D, time {time}, step {steps[0]}")
    meshes = []
    for level in range(levels):
        number, boxes, at = header.next().split()
        check(int(number) == level and at == time and int(header.next()) == steps[0], "the level")
        corners = [[header.numbers() for _ in range(dimensions)] for _ in range(int(boxes))]
        places, mesh, digest = read_level(folder, header.next(), int(boxes), fields)
        for axis, (low, high) in enumerate(zip(*domains[level])):
            size = sizes[level][axis]
            check(low == 0 and abs(lower[axis] + (high + 1) * size - upper[axis]) < 1e-12, "domain")
            for place, corner in zip(places, corners):
                check(abs(lower[axis] + place[0][axis] * size - corner[axis][0]) < 1e-12 and
                      abs(lower[axis] + (place[1][axis] + 1) * size - corner[axis][1]) < 1e-12,
                      f"a corner of {place}")
        print(f"level {level}: {boxes} blocks, {len(mesh)} cells, {digest}")
        meshes.append(mesh)
    check(len(meshes[0]) == math.prod(b + 1 for b in domains[0][1]), "level 0 has holes")
    terms = [[] for _ in range(fields)]
    for level, mesh in enumerate(meshes):
        finer = meshes[level + 1] if level + 1 < levels else {}
        covered = check_means(mesh, finer, fields, dimensions)
        volume = math.prod(sizes[level])
        for cell, values in mesh.items():
            if cell not in covered:
                for f in range(fields):
                    terms[f].append(volume * values[f])
    for name, of_field in zip(names, terms):
        print(f"integral of {name}: {math.fsum(of_field)!r}")


main()
