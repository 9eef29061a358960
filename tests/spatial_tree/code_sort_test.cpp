// SPDX-License-Identifier: BSD-3-Clause
// The sort of Morton codes by their upper bits first, and the statistics that allow it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

using namespace ramify::detail::spatial_tree;

namespace {

constexpr int dim = 3;
constexpr int shift = lower_code_bits<dim>;

/// Codes in device memory.
class device_codes {
 public:
  explicit device_codes(const std::vector<morton_code>& elements) : count_(elements.size()) {
#if RAMIFY_ON_CUDA
    std::vector<std::uint64_t> codes;
    std::vector<std::uint32_t> ids;
    for (const morton_code& element : elements) {
      codes.push_back(element.code());
      ids.push_back(element.id);
    }
    codes_ = tests::upload(codes);
    ids_ = tests::upload(ids);
#else
    elements_ = tests::upload(elements);
#endif
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(count_); }
  [[nodiscard]] point_codes array() const {
#if RAMIFY_ON_CUDA
    return {codes_.data(), ids_.data()};
#else
    return {elements_.data()};
#endif
  }
  [[nodiscard]] std::vector<morton_code> download() const {
#if RAMIFY_ON_CUDA
    const auto codes = tests::download(codes_);
    const auto ids = tests::download(ids_);
    std::vector<morton_code> elements(count_);
    for (std::size_t i = 0; i < count_; ++i) elements[i] = {codes[i], ids[i]};
    return elements;
#else
    return tests::download(elements_);
#endif
  }

 private:
  std::size_t count_;
#if RAMIFY_ON_CUDA
  ramify::device_buffer<std::uint64_t> codes_;
  ramify::device_buffer<std::uint32_t> ids_;
#else
  ramify::device_buffer<morton_code> elements_;
#endif
};

/// Codes that are sorted by their upper bits, in runs of the given lengths. The codes of a run are
/// random, with many equal ones, or in order.
std::vector<morton_code> runs_of(const std::vector<unsigned>& lengths, bool in_order) {
  std::mt19937_64 random(lengths.size());
  std::vector<morton_code> elements;
  for (std::size_t run = 0; run < lengths.size(); ++run) {
    for (unsigned i = 0; i < lengths[run]; ++i) {
      const std::uint64_t lower = in_order ? i / 2 : random() % 16;
      elements.emplace_back(std::uint64_t{run} << shift | lower,
                            static_cast<std::uint32_t>(elements.size()));
    }
  }
  return elements;
}

/// Returns whether sort_runs() reports that it left a run.
bool leaves_a_run(const device_codes& codes) {
  const ramify::device_buffer<unsigned> unsorted(1, nullptr);
  ramify::clear_memory(unsorted.data(), 1, nullptr, "clearing a flag");
  ramify::detail::launch_each(sort_runs<dim>, codes.size(), nullptr, "sorting runs", codes.array(),
                              codes.size(), unsorted.data(), ramify::trace_ticket());
  return tests::download(unsorted)[0] != 0;
}

code_statistics sample(const std::vector<morton_code>& elements) {
  const device_codes codes(elements);
  const std::vector<std::uint64_t> no_codes(code_table::size, ~0ull);
  const std::vector<code_statistics> nothing(1);
  const auto table = tests::upload(no_codes);
  const auto found = tests::upload(nothing);
  ramify::detail::launch_each(sample_codes<dim>, codes.size(), nullptr, "sampling", codes.array(),
                              codes.size(), code_table::stride(codes.size()), table.data(),
                              found.data(), ramify::trace_ticket());
  return tests::download(found)[0];
}

bool equal(const std::vector<morton_code>& a, const std::vector<morton_code>& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.code() == y.code() && x.id == y.id; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(code_sort)

BOOST_AUTO_TEST_CASE(runs_are_sorted_and_stay_stable) {
  std::vector<unsigned> lengths;
  for (unsigned i = 0; i < 200; ++i) lengths.push_back(i % (longest_run + 1));
  auto elements = runs_of(lengths, false);
  const device_codes codes(elements);
  BOOST_TEST(!leaves_a_run(codes));
  std::ranges::sort(elements, morton_code::less());
  BOOST_TEST(equal(codes.download(), elements));
}

BOOST_AUTO_TEST_CASE(a_long_run_is_left_and_reported) {
  const auto elements = runs_of({1, longest_run + 1, 1}, false);
  const device_codes codes(elements);
  BOOST_TEST(leaves_a_run(codes));
  BOOST_TEST(equal(codes.download(), elements));
}

BOOST_AUTO_TEST_CASE(a_long_run_in_order_needs_no_sort) {
  const auto elements = runs_of({1, 1000, 2, 40}, true);
  const device_codes codes(elements);
  BOOST_TEST(!leaves_a_run(codes));
  BOOST_TEST(equal(codes.download(), elements));
}

BOOST_AUTO_TEST_CASE(the_sample_finds_descents_and_repeats) {
  std::vector<morton_code> elements;
  for (std::uint32_t i = 0; i < 1000; ++i) elements.emplace_back(std::uint64_t{i} << shift, i);
  BOOST_TEST(sample(elements).descents == 0u);
  BOOST_TEST(sample(elements).repeats == 0u);
  std::swap(elements[998], elements[999]);
  BOOST_TEST(sample(elements).descents != 0u);
  for (auto& element : elements) element = {element.id % 8, element.id};  // equal upper bits
  BOOST_TEST(sample(elements).repeats > 0u);
}

/// The constructor samples the codes of many points on a GPU; an asynchronous build does not.
BOOST_AUTO_TEST_CASE(a_build_that_samples_has_the_same_tree) {
  const std::size_t n = RAMIFY_ON_CUDA == 0 ? 3000 : 4'300'000;
  using position = ramify::point<float, dim>;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> coordinate(0, 1);
  std::vector<position> uniform(n);
  for (position& p : uniform) p = {{coordinate(random), coordinate(random), coordinate(random)}};
  // A few points of a small region, which the sample misses, and copies of one point.
  auto clump = uniform;
  for (std::size_t i = 0; i < 100; ++i) {
    clump[i * (n / 100) + 1] = {{0.5f + 1e-6f * coordinate(random), 0.5f, 0.5f}};
  }
  auto copies = uniform;
  for (std::size_t i = 1; i < 100; ++i) copies[i * (n / 100) + 1] = copies[1];
  const auto on_device = tests::upload(uniform);
  const ramify::spatial_tree<float, dim> tree(on_device.data(), n);
  const auto in_order = tests::download_array(tree.view().points, n);
  const std::vector<std::vector<position>> clouds{uniform, clump, copies, in_order,
                                                  std::vector<position>(n)};
  for (const auto& points : clouds) {
    const auto input = tests::upload(points);
    const ramify::spatial_tree<float, dim> sampled(input.data(), n);
    const auto other = ramify::spatial_tree_async<float, dim>(input.data(), n).get();
    BOOST_TEST((tests::download_array(sampled.view().ids, n) ==
                tests::download_array(other.view().ids, n)));
    BOOST_TEST(sampled.report().nodes == other.report().nodes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
