// SPDX-License-Identifier: BSD-3-Clause
// Nearest neighbors compared with those of another library: nanoflann's k-d tree.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <ramify/spatial_tree.hpp>

#include "backend_under_test.hpp"
#include "clouds.hpp"
#include "spatial_types.hpp"

#if __has_include(<nanoflann.hpp>)

#include <nanoflann.hpp>

namespace {

template <class Real, int dim>
struct adaptor {
  const tests::point_list<Real, dim>& points;
  [[nodiscard]] std::size_t kdtree_get_point_count() const { return points.size(); }
  [[nodiscard]] Real kdtree_get_pt(std::size_t i, std::size_t axis) const {
    return points[i][axis];
  }
  template <class Box>
  bool kdtree_get_bbox(Box& /*bounds*/) const {
    return false;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(nanoflann_finds_the_same_neighbors, Type, tests::spatial_types) {
  using real = typename Type::real;
  constexpr int dim = Type::dim;
  constexpr std::size_t k = 10;
  const auto n = static_cast<std::size_t>(tests::sampled(20'000, 6'000, 1'000));
  int piece = 0;
  for (const auto c : tests::all_clouds) {
    if (tests::left_out_by_tsan(piece, 4)) continue;
    const auto points = tests::make_cloud<real, dim>(c, n, 11);
    const adaptor<real, dim> source{points};
    using metric = nanoflann::L2_Simple_Adaptor<real, adaptor<real, dim>, real, std::uint32_t>;
    nanoflann::KDTreeSingleIndexAdaptor<metric, adaptor<real, dim>, dim, std::uint32_t> peer(
        dim, source);
    peer.buildIndex();

    const ramify::spatial_index<real, dim> index(points, {.backend = tests::backend_under_test()});
    std::vector<std::uint32_t> ids(n * k);
    std::vector<real> distances2(n * k);
    (void)index.all_nearest_neighbors(k, false, ids, distances2);

    // The test compares distances: nanoflann may choose other points at the same distance. Both
    // compute distances with the same operations.
    std::size_t faults = 0;
    std::vector<std::uint32_t> peer_ids(k);
    std::vector<real> peer_distances(k);
    for (std::size_t i = 0; i < n; i += 7) {
      const std::size_t found =
          peer.knnSearch(points[i].data(), k, peer_ids.data(), peer_distances.data());
      faults += found != k || !std::equal(peer_distances.begin(), peer_distances.end(),
                                          distances2.begin() + std::ptrdiff_t(i * k));
    }
    BOOST_TEST(faults == 0u, c << ": " << faults << " queries");
  }
}

#else

BOOST_AUTO_TEST_CASE(nanoflann_is_not_installed) {
  std::cout << "SKIPPED: the comparison with nanoflann needs libnanoflann-dev\n";
}

#endif
