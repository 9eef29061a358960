# SPDX-License-Identifier: BSD-3-Clause
# Compares the example program graph with SciPy and networkx on random graphs with self-loops and
# repeated edges, in several formats: graph_networkx.py <program> <work folder>
#
# Compares one graph of each format, and further ones for RAMIFY_FUZZ_SECONDS. The seed is fixed, so
# each run has the same graphs. The exit status is 77 if SciPy or networkx is missing.
import json
import os
import random
import subprocess
import sys
import time

try:
    import networkx as nx
    import scipy.io
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

program, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def write(name, lines):
    with open(name, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return name


def matrix_market(n, edges, symmetric):
    """Writes a matrix, and reads its edges back by SciPy, which mirrors entries."""
    lines = [f"%%MatrixMarket matrix coordinate integer {'symmetric' if symmetric else 'general'}",
             f"{n} {n} {len(edges)}"]
    lines += [f"{max(u, v) + 1} {min(u, v) + 1} {w}" if symmetric else f"{u + 1} {v + 1} {w}"
              for u, v, w in edges]
    name = write("m.mtx", lines)
    stored = scipy.io.mmread(name).tocoo()  # repeated entries are still separate
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(zip(stored.row.tolist(), stored.col.tolist(),
                                      stored.data.tolist()))
    return name, [], graph


def edge_list(n, edges, undirected):
    """Writes a list by networkx, with the attributes or with the weights only."""
    graph = nx.MultiGraph() if undirected else nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(edges)
    if random.random() < 0.5:
        nx.write_edgelist(graph, "edges", data=["weight"])
    else:  # with attributes
        write("edges", [f"{u} {v} {data}" for u, v, data in graph.edges(data=True)])
    options = ["--vertices", str(n), "--format", "edges"]
    return "edges", options + (["--undirected"] if undirected else []), graph.to_directed()


def dimacs(n, edges):
    name = write("d.gr", ["c random", f"p sp {n} {len(edges)}"]
                 + [f"a {u + 1} {v + 1} {w}" for u, v, w in edges])
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(edges)
    return name, [], graph


def konect(n, edges, undirected):
    name = write("out.k", [f"% {'sym' if undirected else 'asym'} posweighted",
                           f"% {len(edges)} {n} {n}"]
                 + [f"{u + 1} {v + 1} {w} 1082040961" for u, v, w in edges])
    graph = nx.MultiGraph() if undirected else nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(edges)
    return name, [], graph.to_directed()


def metis(n, edges):
    """METIS has neither self-loops nor lines of repeated neighbors with other lengths."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((u, v, w) for u, v, w in edges if u != v)
    lines = [f"{n} {graph.number_of_edges()} 001"]
    lines += [" ".join(f"{v + 1} {data['weight']}" for v, data in graph.adj[u].items())
              for u in range(n)]
    name = write("m.graph", lines)
    return name, ["--format", "metis"], nx.MultiDiGraph(graph.to_directed())


def run(algorithm, name, options):
    """Returns the report and the columns of the table."""
    command = [program, "--algorithm", algorithm, "--input", name, "--backend", "cpu", "--quiet",
               "--verify", "--output", "o", "--report", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    with open("o", encoding="ascii") as file:
        names = file.readline().strip().split(",")
        rows = [line.strip().split(",") for line in file]
    return json.loads(done.stdout), {c: [row[i] for row in rows] for i, c in enumerate(names)}


def check(name, options, graph):
    n = graph.number_of_nodes()
    source = random.randrange(n)
    report, table = run("sssp", name, [*options, "--source", str(source)])
    lengths = nx.single_source_dijkstra_path_length(graph, source)
    assert report["edges"] == graph.number_of_edges(), (report["edges"], graph.number_of_edges())
    expected = [str(lengths.get(v, "inf")) for v in range(n)]
    found = [d if d == "inf" else str(int(float(d)) if "e" in d else int(d))
             for d in table["distance"]]
    assert found == expected, (report["lengths"], found, expected)

    _, table = run("bfs", name, [*options, "--source", str(source)])
    levels = nx.single_source_shortest_path_length(graph, source)
    assert [int(x) for x in table["level"]] == [levels.get(v, -1) for v in range(n)]

    report, table = run("components", name, options)
    smallest = {v: min(c) for c in nx.weakly_connected_components(graph) for v in c}
    assert [int(x) for x in table["component"]] == [smallest[v] for v in range(n)]

    counted = nx.DiGraph()  # a repeated edge counts each time
    counted.add_nodes_from(range(n))
    for u, v in graph.edges():
        counted.add_edge(u, v, weight=counted.get_edge_data(u, v, {"weight": 0})["weight"] + 1)
    ranks = nx.pagerank(counted, tol=1e-13, max_iter=10000)
    _, table = run("pagerank", name, [*options, "--tolerance", "1e-13", "--iterations", "10000"])
    for v in range(n):
        assert abs(float(table["rank"][v]) - ranks[v]) < 1e-9, (v, table["rank"][v], ranks[v])


random.seed(33)
end = time.monotonic() + float(os.environ.get("RAMIFY_FUZZ_SECONDS", 0))
cases = 0
while cases < 7 or time.monotonic() < end:
    n = random.randrange(1, 12)
    largest = random.choice([1, 20, 2**24, 2**53, 2**60])
    edges = [(random.randrange(n), random.randrange(n), random.randrange(largest + 1))
             for _ in range(random.randrange(3 * n + 1))]
    edges += [(v, v, 1) for v in range(n) if random.random() < 0.3]
    edges += [e for e in edges if random.random() < 0.2]
    makers = [lambda: matrix_market(n, edges, True), lambda: matrix_market(n, edges, False),
              lambda: edge_list(n, edges, True), lambda: edge_list(n, edges, False),
              lambda: dimacs(n, edges), lambda: konect(n, edges, True), lambda: metis(n, edges)]
    made = makers[cases % len(makers)]()
    try:
        check(*made)
    except Exception:
        print(f"case {cases}: {made[0]} {made[1]} in {folder}", flush=True)
        raise
    cases += 1
print(f"{cases} graphs are as in SciPy and networkx")
