// SPDX-License-Identifier: BSD-3-Clause
// The sorts of segmented_sort_checks.cuh.
#include "segmented_sort_checks.cuh"

namespace tests {

template <class Key>
ramify::segmented_sort_report sort_segments(std::vector<Key>& keys,
                                            std::vector<std::uint32_t>* values,
                                            const segment_arrays& segments,
                                            const ramify::environment& env) {
  const auto device_keys = upload(keys);
  const auto begins = upload(segments.begins);
  const auto ends = upload(segments.ends);
  const device_order<Key> order;
  if (values == nullptr) {
    const auto report = ramify::segmented_sort(device_keys.data(), segments.n, begins.data(),
                                               ends.data(), segments.size(), order, env);
    download(device_keys, keys);
    return report;
  }
  const auto device_values = upload(*values);
  const auto report =
      ramify::segmented_sort_pairs(device_keys.data(), device_values.data(), segments.n,
                                   begins.data(), ends.data(), segments.size(), order, env);
  download(device_keys, keys);
  download(device_values, *values);
  return report;
}

template <class Offset>
ramify::async_run<ramify::segmented_sort_report> start_sort(
    std::uint32_t* keys, std::size_t n, const Offset* begins, const Offset* ends,
    const ramify::detail::element_count& segments, const ramify::environment& env) {
  return ramify::segmented_sort_async(keys, n, begins, ends, segments, ramify::ascending{}, env);
}

template ramify::segmented_sort_report sort_segments(std::vector<std::uint32_t>&,
                                                     std::vector<std::uint32_t>*,
                                                     const segment_arrays&,
                                                     const ramify::environment&);
template ramify::segmented_sort_report sort_segments(std::vector<float>&,
                                                     std::vector<std::uint32_t>*,
                                                     const segment_arrays&,
                                                     const ramify::environment&);
template ramify::segmented_sort_report sort_segments(std::vector<particle>&,
                                                     std::vector<std::uint32_t>*,
                                                     const segment_arrays&,
                                                     const ramify::environment&);
template ramify::segmented_sort_report sort_segments(std::vector<page>&,
                                                     std::vector<std::uint32_t>*,
                                                     const segment_arrays&,
                                                     const ramify::environment&);
template ramify::async_run<ramify::segmented_sort_report> start_sort(
    std::uint32_t*, std::size_t, const std::uint32_t*, const std::uint32_t*,
    const ramify::detail::element_count&, const ramify::environment&);
template ramify::async_run<ramify::segmented_sort_report> start_sort(
    std::uint32_t*, std::size_t, const std::int64_t*, const std::int64_t*,
    const ramify::detail::element_count&, const ramify::environment&);

}  // namespace tests
