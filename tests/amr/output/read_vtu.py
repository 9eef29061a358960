# SPDX-License-Identifier: BSD-3-Clause
"""read_vtu.py <truth> <collection>: reads .vtu and .htg files with VTK's reader and compares their contents
with a line of JSON for each, which the program that wrote them printed. It also checks the .pvd
collection."""
import json
import os
import sys
import xml.etree.ElementTree

from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridToUnstructuredGrid
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader, vtkXMLUnstructuredGridReader

VTK_PIXEL, VTK_VOXEL = 8, 11


def require(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def near(a, b, scale=1.0, share=1e-11):
    return abs(a - b) <= share * max(scale, abs(b))


def read(path):
    complaints = []
    is_tree = path.endswith(".htg")
    reader = vtkXMLHyperTreeGridReader() if is_tree else vtkXMLUnstructuredGridReader()
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda *_: complaints.append(event))
    require(reader.CanReadFile(path), f"VTK does not take {path} for its own")
    reader.SetFileName(path)
    reader.Update()
    require(not complaints and reader.GetErrorCode() == 0, f"VTK complains about {path}")
    if not is_tree:
        return reader.GetOutput()
    leaves = vtkHyperTreeGridToUnstructuredGrid()
    leaves.SetInputData(reader.GetOutput())
    leaves.Update()
    return leaves.GetOutput()


def check(truth):
    name = truth["name"]
    dimensions = truth["dimensions"]
    grid = read(truth["file"])
    cells = grid.GetNumberOfCells()
    require(cells == truth["cells"], f"{name}: {cells} cells")
    data, file_data = grid.GetCellData(), grid.GetFieldData()
    names = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
    own = ["level"] if truth["is_tree"] else ["level", "block"]
    require(names == sorted([*truth["sums"], *own]), f"{name}: arrays {names}")
    for array, value in [("TimeValue", truth["time"]), ("step", truth["step"])]:
        if truth["is_tree"]:
            continue  # VTK reads no field data of hyper tree grids
        found = file_data.GetArray(array)
        require(found.GetNumberOfTuples() == 1 and found.GetValue(0) == value, f"{name}: {array}")
    if cells == 0:
        return
    bounds = grid.GetBounds()
    for i, bound in enumerate(truth["bounds"]):
        exact = near(bounds[i], bound, share=1e-6) if truth["is_tree"] else bounds[i] == bound
        require(exact, f"{name}: bounds {bounds}")
    fields = {field: data.GetArray(field) for field in names}
    require(fields["level"].GetClassName() == "vtkUnsignedCharArray", f"{name}: type of level")
    array = "vtkFloatArray" if truth["is_float"] else "vtkDoubleArray"
    require(fields["linear"].GetClassName() == array, f"{name}: type of a field")
    # The filter that makes cells of a hyper tree grid has points of floats.
    place_share = 1e-5 if truth["is_tree"] else 1e-11
    share = max(1e-6 if truth["is_float"] else 1e-11, place_share)

    volume, sums, levels = 0.0, dict.fromkeys(truth["sums"], 0.0), set()
    for i in range(cells):
        require(grid.GetCellType(i) == (VTK_VOXEL if dimensions == 3 else VTK_PIXEL),
                f"{name}: type of cell {i}")
        cell = grid.GetCell(i)
        corners = [cell.GetPoints().GetPoint(c) for c in range(cell.GetNumberOfPoints())]
        require(len(corners) == 2**dimensions, f"{name}: corners of cell {i}")
        # VTK's order: x fastest; the first corner and the last are opposite ones.
        low, high = corners[0], corners[-1]
        for c, corner in enumerate(corners):
            for axis in range(3):
                expected = (high if c >> axis & 1 else low)[axis]
                require(corner[axis] == expected, f"{name}: corner {c} of cell {i}")
        level = fields["level"].GetValue(i)
        levels.add(level)
        if not truth["is_tree"]:
            block = fields["block"].GetValue(i)
            require(block == i // truth["cells_of_a_block"], f"{name}: block of cell {i}")
        size = 1.0
        for axis in range(dimensions):
            width = high[axis] - low[axis]
            require(near(width, truth["widths"][axis] / 2**level, share=place_share), f"{name}: width of cell {i}")
            size *= width
        volume += size
        center = [(a + b) / 2 for a, b in zip(low, high)]
        linear = 1 + center[0] + 10 * center[1] + 100 * center[2]
        require(near(fields["linear"].GetValue(i), linear, share=share),
                f"{name}: value of cell {i}")
        for field in sums:
            sums[field] += fields[field].GetValue(i) * size
    require(near(volume, truth["volume"], share=place_share), f"{name}: volume {volume}")
    require(sorted(levels) == truth["levels"], f"{name}: levels {levels}")
    for field, total in sums.items():
        require(near(total, truth["sums"][field], share=share), f"{name}: sum of {field} {total}")
    # The corners of neighbors of any levels have the same coordinates bit by bit.
    for axis in range(dimensions):
        places = sorted({grid.GetPoint(p)[axis] for p in range(grid.GetNumberOfPoints())})
        least = truth["widths"][axis] / 2 ** max(levels)
        require(all(b - a > 0.9 * least for a, b in zip(places, places[1:])),
                f"{name}: places along axis {axis}")
    print(f"{name}: {cells} cells of levels {sorted(levels)}, volume {volume:.12g}, "
          f"sums {', '.join(format(s, '.12g') for s in sums.values())}")


def check_collection(path, truths):
    root = xml.etree.ElementTree.parse(path).getroot()
    require(root.tag == "VTKFile" and root.get("type") == "Collection", "not a collection")
    listed = [(float(e.get("timestep")), e.get("file")) for e in root.find("Collection")]
    require(len(listed) == len(truths), f"{len(listed)} files in the collection")
    for (time, file), truth in zip(listed, truths):
        require(time == truth["listed_at"], f"{file}: listed at {time}")
        require(not os.path.isabs(file), f"{file}: not relative")
        require(os.path.samefile(os.path.join(os.path.dirname(path), file), truth["file"]),
                f"{file}: not what was written")


with open(sys.argv[1], encoding="utf-8") as lines:
    truths = [json.loads(line) for line in lines]
require(len(truths) > 0, "no files")
for truth in truths:
    check(truth)
check_collection(sys.argv[2], truths)
print("all files agree")
