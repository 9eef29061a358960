// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/level_sum.hpp>

#include "facade/backend_choice.hpp"
#include "level_sum/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

level_sum_result level_sum(std::span<const std::uint64_t> numbers, const level_sum_options& options,
                           const environment& env) {
  validate(env);
  validate(options);
  level_sum_result result{};
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::level_sum_on<where>(numbers, options, env, result.sum);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
