// SPDX-License-Identifier: BSD-3-Clause
// The sorts of quicksort_checks.cuh with the header templates.
#include "quicksort_checks.cuh"

namespace tests {

template <class Key>
ramify::quicksort_report sort_by_header(std::vector<Key>& keys, const sort_call& call) {
  const auto device_keys = upload(keys);
  auto report = ramify::quicksort(device_keys.data(), keys.size(), device_order<Key>{},
                                  call.options, call.env);
  download(device_keys, keys);
  return report;
}

template <class Key>
ramify::quicksort_report sort_pairs_by_header(std::vector<Key>& keys,
                                              std::vector<std::uint32_t>& values,
                                              const sort_call& call) {
  const auto device_keys = upload(keys);
  const auto device_values = upload(values);
  auto report = ramify::quicksort_pairs(device_keys.data(), device_values.data(), keys.size(),
                                        device_order<Key>{}, call.options, call.env);
  download(device_keys, keys);
  download(device_values, values);
  return report;
}

ramify::quicksort_report sort_device_pairs(particle* keys, std::uint32_t* values, std::size_t n) {
  return ramify::quicksort_pairs(keys, values, n, device_order<particle>{});
}

template <class Key>
ramify::async_run<ramify::quicksort_report> start_sort(Key* keys, std::size_t n,
                                                       const sort_call& call) {
  return ramify::quicksort_async(keys, n, device_order<Key>{}, call.options, call.env);
}

template <class Key>
std::size_t scratch_bytes_of(std::size_t n, const ramify::quicksort_options& options) {
  return ramify::quicksort_scratch_bytes<Key, ramify::no_value, device_order<Key>>(n, options);
}

std::size_t scratch_bytes(std::size_t n, const ramify::quicksort_options& options) {
  return scratch_bytes_of<std::uint32_t>(n, options);
}

template ramify::quicksort_report sort_by_header(std::vector<std::uint32_t>&, const sort_call&);
template ramify::quicksort_report sort_by_header(std::vector<particle>&, const sort_call&);
template ramify::quicksort_report sort_by_header(std::vector<record>&, const sort_call&);
template ramify::quicksort_report sort_by_header(std::vector<page>&, const sort_call&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<particle>&,
                                                       std::vector<std::uint32_t>&,
                                                       const sort_call&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<record>&,
                                                       std::vector<std::uint32_t>&,
                                                       const sort_call&);
template ramify::quicksort_report sort_pairs_by_header(std::vector<page>&,
                                                       std::vector<std::uint32_t>&,
                                                       const sort_call&);
template ramify::async_run<ramify::quicksort_report> start_sort(std::uint32_t*, std::size_t,
                                                                const sort_call&);
template ramify::async_run<ramify::quicksort_report> start_sort(page*, std::size_t,
                                                                const sort_call&);
template std::size_t scratch_bytes_of<std::uint32_t>(std::size_t, const ramify::quicksort_options&);
template std::size_t scratch_bytes_of<page>(std::size_t, const ramify::quicksort_options&);

}  // namespace tests
