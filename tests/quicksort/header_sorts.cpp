// SPDX-License-Identifier: BSD-3-Clause
// The sorts of quicksort_checks.cuh with the header templates.
#include "quicksort_checks.cuh"

namespace tests {

template <class Key>
ramify::quicksort_report sort_by_header(std::vector<Key>& keys,
                                        const ramify::quicksort_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const auto device_keys = upload(keys);
  auto report =
      ramify::quicksort(device_keys.data(), keys.size(), device_order<Key>{}, nullptr, options);
  download(device_keys, keys);
  return report;
}

template <class Key>
ramify::quicksort_report sort_pairs_by_header(std::vector<Key>& keys,
                                              std::vector<std::uint32_t>& values,
                                              const ramify::quicksort_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const auto device_keys = upload(keys);
  const auto device_values = upload(values);
  auto report = ramify::quicksort_pairs(device_keys.data(), device_values.data(), keys.size(),
                                        device_order<Key>{}, nullptr, options);
  download(device_keys, keys);
  download(device_values, values);
  return report;
}

ramify::quicksort_report sort_device_pairs(particle* keys, std::uint32_t* values, std::size_t n) {
  return ramify::quicksort_pairs(keys, values, n, device_order<particle>{});
}

template <class Key>
std::unique_ptr<started_sort> start_sort(Key* keys, std::size_t n,
                                         const ramify::quicksort_config& config,
                                         cudaStream_t stream, ramify::scratch_memory scratch) {
  using run = ramify::quicksort_run<Key, ramify::no_value, device_order<Key>>;
  struct started : started_sort {
    explicit started(run&& r) : run_(std::move(r)) {}
    ramify::quicksort_report get() override { return run_.get(); }
    run run_;
  };
  return std::make_unique<started>(
      ramify::quicksort_async(keys, n, device_order<Key>{}, stream, config, scratch));
}

template <class Key>
std::size_t scratch_bytes_of(std::size_t n, const ramify::quicksort_config& config) {
  return ramify::quicksort_scratch_bytes<Key, ramify::no_value, device_order<Key>>(n, config);
}

std::size_t scratch_bytes(std::size_t n, const ramify::quicksort_config& config) {
  return scratch_bytes_of<std::uint32_t>(n, config);
}

template ramify::quicksort_report sort_by_header(std::vector<std::uint32_t>&,
                                                 const ramify::quicksort_options&);
template ramify::quicksort_report sort_by_header(std::vector<particle>&,
                                                 const ramify::quicksort_options&);
template ramify::quicksort_report sort_by_header(std::vector<record>&,
                                                 const ramify::quicksort_options&);
template ramify::quicksort_report sort_by_header(std::vector<page>&,
                                                 const ramify::quicksort_options&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<particle>&,
                                                       std::vector<std::uint32_t>&,
                                                       const ramify::quicksort_options&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<record>&,
                                                       std::vector<std::uint32_t>&,
                                                       const ramify::quicksort_options&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<page>&,
                                                       std::vector<std::uint32_t>&,
                                                       const ramify::quicksort_options&);
template std::unique_ptr<started_sort> start_sort(std::uint32_t*, std::size_t,
                                                  const ramify::quicksort_config&, cudaStream_t,
                                                  ramify::scratch_memory);
template std::unique_ptr<started_sort> start_sort(page*, std::size_t,
                                                  const ramify::quicksort_config&, cudaStream_t,
                                                  ramify::scratch_memory);
template std::size_t scratch_bytes_of<std::uint32_t>(std::size_t, const ramify::quicksort_config&);
template std::size_t scratch_bytes_of<page>(std::size_t, const ramify::quicksort_config&);

}  // namespace tests
