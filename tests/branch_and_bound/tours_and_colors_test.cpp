// SPDX-License-Identifier: BSD-3-Clause
// Two searches as a user writes them: a shortest round trip, and the smallest number of colors of a
// graph. They are compared with published optima, and with searches that use no bounds.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "branch_and_bound_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

// ---- round trips -------------------------------------------------------------------------------

constexpr unsigned max_cities = 14;

/// The beginning of a round trip from city 0.
struct tour {
  unsigned visited;  ///< a bit for each city
  unsigned length;
  std::uint8_t count;
  std::uint8_t cities[max_cities];

  [[nodiscard]] __host__ __device__ unsigned last() const { return cities[count - 1]; }
};

struct cheapest_tour {
  unsigned cities;
  const unsigned* length;  ///< of the way between two cities, in rows
  const unsigned* near;    ///< for each city, the others in the order of their distances

  [[nodiscard]] __device__ unsigned left(const tour& t) const {
    return ((1u << cities) - 1) & ~t.visited;
  }
  [[nodiscard]] __device__ unsigned way(unsigned from, unsigned to) const {
    return length[from * cities + to];
  }
  [[nodiscard]] __device__ unsigned shortest(unsigned from, unsigned among) const {
    for (const unsigned* to = near + from * (cities - 1);; ++to) {
      if ((among >> *to & 1) != 0) return way(from, *to);
    }
  }

  [[nodiscard]] __device__ unsigned degree(const tour& t) const { return cities - t.count; }
  [[nodiscard]] __device__ tour child(const tour& t, unsigned i) const {
    const unsigned* to = near + t.last() * (cities - 1);
    for (;; ++to) {
      if ((t.visited >> *to & 1) == 0 && i-- == 0) break;
    }
    tour longer = t;
    longer.visited |= 1u << *to;
    longer.length += way(t.last(), *to);
    longer.cities[longer.count++] = static_cast<std::uint8_t>(*to);
    return longer;
  }
  /// The rest of a tour connects the cities that are left, so it is no shorter than their minimum
  /// spanning tree (Prim), and two ways lead to them.
  [[nodiscard]] __device__ std::int64_t bound(const tour& t) const {
    const unsigned rest = left(t);
    unsigned sum = t.length + shortest(t.last(), rest) + shortest(0, rest);
    unsigned inside = rest & (~rest + 1);
    while (inside != rest) {
      unsigned best = ~0u;
      unsigned next = 0;
      for (unsigned from = 0; from < cities; ++from) {
        if ((inside >> from & 1) == 0) continue;
        for (unsigned to = 0; to < cities; ++to) {
          if (((rest & ~inside) >> to & 1) == 0 || way(from, to) >= best) continue;
          best = way(from, to);
          next = to;
        }
      }
      sum += best;
      inside |= 1u << next;
    }
    return sum;
  }
  [[nodiscard]] __device__ std::int64_t value(const tour& t) const {
    return t.length + way(t.last(), 0);
  }
};

/// Cities with the lengths of the ways between them.
struct road_map {
  unsigned cities;
  std::vector<unsigned> length;

  [[nodiscard]] std::vector<unsigned> neighbors() const {
    std::vector<unsigned> near;
    for (unsigned from = 0; from < cities; ++from) {
      const auto begin = static_cast<std::ptrdiff_t>(near.size());
      for (unsigned to = 0; to < cities; ++to) {
        if (to != from) near.push_back(to);
      }
      std::stable_sort(near.begin() + begin, near.end(), [&](unsigned a, unsigned b) {
        return length[from * cities + a] < length[from * cities + b];
      });
    }
    return near;
  }
  [[nodiscard]] unsigned length_of(const std::vector<unsigned>& order) const {
    unsigned sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sum += length[order[i] * cities + order[(i + 1) % order.size()]];
    }
    return sum;
  }
  /// Returns the length of the shortest tour, by all permutations.
  [[nodiscard]] unsigned shortest() const {
    std::vector<unsigned> order(cities);
    std::iota(order.begin(), order.end(), 0u);
    unsigned best = ~0u;
    do {
      best = std::min(best, length_of(order));
    } while (std::next_permutation(order.begin() + 1, order.end()));
    return best;
  }
};

/// Returns TSPLIB's burma14: cities of Burma, by degrees and minutes of latitude and longitude.
road_map burma14() {
  constexpr double place[max_cities][2] = {
      {16.47, 96.10}, {16.47, 94.44}, {20.09, 92.54}, {22.39, 93.37}, {25.23, 97.24},
      {22.00, 96.05}, {20.47, 97.02}, {17.20, 96.29}, {16.30, 97.38}, {14.05, 98.12},
      {16.53, 97.38}, {21.52, 95.59}, {19.41, 97.13}, {20.09, 94.55}};
  const auto radians = [&](unsigned city, unsigned axis) {
    const double degrees = std::trunc(place[city][axis]);
    return 3.141592 * (degrees + 5 * (place[city][axis] - degrees) / 3) / 180;
  };
  road_map map{max_cities, std::vector<unsigned>(max_cities * max_cities)};
  for (unsigned i = 0; i < max_cities; ++i) {
    for (unsigned j = 0; j < max_cities; ++j) {
      if (i == j) continue;
      const double east = std::cos(radians(i, 1) - radians(j, 1));
      const double cosine = ((1 + east) * std::cos(radians(i, 0) - radians(j, 0)) -
                             (1 - east) * std::cos(radians(i, 0) + radians(j, 0))) /
                            2;
      map.length[i * max_cities + j] = static_cast<unsigned>(6378.388 * std::acos(cosine) + 1);
    }
  }
  return map;
}

road_map random_map(unsigned cities, std::uint32_t seed) {
  std::mt19937 random(seed);
  road_map map{cities, std::vector<unsigned>(cities * cities)};
  for (unsigned i = 0; i < cities; ++i) {
    for (unsigned j = 0; j < i; ++j) {
      map.length[i * cities + j] = map.length[j * cities + i] = random() % 100;
    }
  }
  return map;
}

/// Searches the shortest tour, checks that it has the length that is stated, and returns this.
std::int64_t shortest_tour(const road_map& map, route taken) {
  const auto length = upload(map.length);
  const auto near = upload(map.neighbors());
  const tour start{.visited = 1, .length = 0, .count = 1, .cities = {}};
  const auto best = ramify::branch_and_bound(
      start, cheapest_tour{map.cities, length.data(), near.data()}, {.route = taken});
  BOOST_TEST(best.found);
  BOOST_TEST(best.solution.visited == (1u << map.cities) - 1);
  BOOST_TEST(map.length_of({best.solution.cities, best.solution.cities + map.cities}) ==
             best.value);
  return best.value;
}

// ---- colors ------------------------------------------------------------------------------------

constexpr unsigned max_vertices = 25;

/// The colors of the first vertices of a graph.
struct coloring {
  std::uint8_t count;
  std::uint8_t used;  ///< number of colors
  std::uint8_t colors[max_vertices];
};

struct fewest_colors {
  unsigned vertices;
  const unsigned* neighbors;  ///< of each vertex, as bits

  /// Returns the colors of the next vertex, as bits: one of its neighbors' has none of them. All
  /// new colors are alike, so there is one.
  [[nodiscard]] __device__ unsigned choices(const coloring& c) const {
    unsigned free = (2u << c.used) - 1;
    for (unsigned v = 0; v < c.count; ++v) {
      if ((neighbors[c.count] >> v & 1) != 0) free &= ~(1u << c.colors[v]);
    }
    return free;
  }
  [[nodiscard]] __device__ unsigned degree(const coloring& c) const {
    return c.count == vertices ? 0 : static_cast<unsigned>(__popc(choices(c)));
  }
  [[nodiscard]] __device__ coloring child(const coloring& c, unsigned i) const {
    unsigned free = choices(c);
    for (; i > 0; --i) free &= free - 1;
    const auto color = static_cast<std::uint8_t>(__ffs(int(free)) - 1);
    coloring more = c;
    more.colors[more.count++] = color;
    if (color == more.used) ++more.used;
    return more;
  }
  [[nodiscard]] __device__ std::int64_t bound(const coloring& c) const { return c.used; }
  [[nodiscard]] __device__ std::int64_t value(const coloring& c) const { return c.used; }
};

/// A graph by the neighbors of each vertex, as bits.
struct small_graph {
  std::string name;
  std::int64_t colors;  ///< the published chromatic number
  std::vector<unsigned> neighbors;

  void join(unsigned a, unsigned b) {
    neighbors[a] |= 1u << b;
    neighbors[b] |= 1u << a;
  }
};

small_graph petersen() {
  small_graph g{"Petersen", 3, std::vector<unsigned>(10)};
  for (unsigned i = 0; i < 5; ++i) {
    g.join(i, (i + 1) % 5);
    g.join(i, i + 5);
    g.join(i + 5, (i + 2) % 5 + 5);
  }
  return g;
}
/// The squares of a board, joined if a queen moves from one to the other.
small_graph queens(unsigned side, std::int64_t colors) {
  small_graph g{"queens", colors, std::vector<unsigned>(side * side)};
  for (unsigned a = 0; a < side * side; ++a) {
    for (unsigned b = 0; b < a; ++b) {
      const int rows = int(a / side) - int(b / side);
      const int columns = int(a % side) - int(b % side);
      if (rows == 0 || columns == 0 || std::abs(rows) == std::abs(columns)) g.join(a, b);
    }
  }
  return g;
}
/// Mycielski's construction: one color more, and no new triangle.
small_graph mycielski(const small_graph& g) {
  const auto n = static_cast<unsigned>(g.neighbors.size());
  small_graph larger{"Mycielski", g.colors + 1, g.neighbors};
  larger.neighbors.resize(2 * n + 1);
  for (unsigned v = 0; v < n; ++v) {
    for (unsigned w = 0; w < n; ++w) {
      if ((g.neighbors[v] >> w & 1) != 0) larger.join(v + n, w);
    }
    larger.join(v + n, 2 * n);
  }
  return larger;
}

/// Returns whether `colors` colors suffice for the vertices from `v` on, by plain backtracking.
bool can_color(const small_graph& g, std::vector<int>& chosen, unsigned v, int colors) {
  if (v == g.neighbors.size()) return true;
  for (int color = 0; color < colors; ++color) {
    bool is_free = true;
    for (unsigned w = 0; w < v; ++w) {
      if ((g.neighbors[v] >> w & 1) != 0 && chosen[w] == color) is_free = false;
    }
    chosen[v] = color;
    if (is_free && can_color(g, chosen, v + 1, colors)) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(branch_and_bound_examples)

BOOST_DATA_TEST_CASE(the_shortest_tour_of_a_published_map, data::make(routes), taken) {
  if (effort() < 0.1) return;
  BOOST_TEST(shortest_tour(burma14(), taken) == 3323);
}

BOOST_DATA_TEST_CASE(shortest_tours_of_random_maps, data::make(routes), taken) {
  for (const unsigned cities : {2u, 3u, 8u}) {
    const road_map map = random_map(cities, cities);
    BOOST_TEST(shortest_tour(map, taken) == map.shortest());
  }
}

BOOST_DATA_TEST_CASE(the_fewest_colors_of_published_graphs, data::make(routes), taken) {
  const small_graph pair{"pair", 2, {2, 1}};
  const small_graph grotzsch = mycielski(mycielski(pair));
  for (const small_graph& g :
       {pair, petersen(), queens(4, 5), queens(5, 5), grotzsch, mycielski(grotzsch)}) {
    BOOST_TEST_CONTEXT(g.name << ", " << g.neighbors.size() << " vertices") {
      const auto neighbors = upload(g.neighbors);
      const auto n = static_cast<unsigned>(g.neighbors.size());
      // Paths are short enough if no more than six colors are tried.
      const auto best = ramify::branch_and_bound(coloring{}, fewest_colors{n, neighbors.data()},
                                                 {.lower = 1, .upper = 6}, {.route = taken});
      BOOST_TEST(best.value == g.colors);
      for (unsigned v = 0; v < n; ++v) {
        for (unsigned w = 0; w < v; ++w) {
          if ((g.neighbors[v] >> w & 1) == 0) continue;
          BOOST_TEST(best.solution.colors[v] != best.solution.colors[w]);
        }
      }
      std::vector<int> chosen(n);
      BOOST_TEST(can_color(g, chosen, 0, int(g.colors)));
      BOOST_TEST(!can_color(g, chosen, 0, int(g.colors) - 1));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
