// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Taillard's benchmark of flow shops, ta001 to ta120. Plain C++.
///
/// Source: E. Taillard: Benchmarks for basic scheduling problems. European Journal of Operational
/// Research 64, 1993: the sizes and the seeds. His lower bounds of all instances are those of
/// flow_shop_bound(), which the tests compare. The optima of 20 jobs are those of his list of best
/// known solutions.

#include <cstddef>
#include <cstdint>
#include <ramify/branch_and_bound/flow_shop.hpp>
#include <ramify/version.hpp>
#include <stdexcept>

namespace ramify::inline RAMIFY_ABI {

/// The number of instances.
inline constexpr std::size_t taillard_instances = 120;
/// The number of instances with 20 jobs, which come first. Their minimum makespans are proved.
inline constexpr std::size_t taillard_optima = 30;

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

/// Ten instances have one size.
struct taillard_size {
  std::size_t jobs, machines;
};
inline constexpr taillard_size taillard_sizes[] = {{20, 5},   {20, 10},  {20, 20},  {50, 5},
                                                   {50, 10},  {50, 20},  {100, 5},  {100, 10},
                                                   {100, 20}, {200, 10}, {200, 20}, {500, 20}};
inline constexpr std::int64_t taillard_seeds[][10] = {
    {873'654'221, 379'008'056, 1'866'992'158, 216'771'124, 495'070'989, 402'959'317, 1'369'363'414,
     2'021'925'980, 573'109'518, 88'325'120},
    {587'595'453, 1'401'007'982, 873'136'276, 268'827'376, 1'634'173'168, 691'823'909, 73'807'235,
     1'273'398'721, 2'065'119'309, 1'672'900'551},
    {479'340'445, 268'827'376, 1'958'948'863, 918'272'953, 555'010'963, 2'010'851'491,
     1'519'833'303, 1'748'670'931, 1'923'497'586, 1'829'909'967},
    {1'328'042'058, 200'382'020, 496'319'842, 1'203'030'903, 1'730'708'564, 450'926'852,
     1'303'135'678, 1'273'398'721, 587'288'402, 248'421'594},
    {1'958'948'863, 575'633'267, 655'816'003, 1'977'864'101, 93'805'469, 1'803'345'551, 49'612'559,
     1'899'802'599, 2'013'025'619, 578'962'478},
    {1'539'989'115, 691'823'909, 655'816'003, 1'315'102'446, 1'949'668'355, 1'923'497'586,
     1'805'594'913, 1'861'070'898, 715'643'788, 464'843'328},
    {896'678'084, 1'179'439'976, 1'122'278'347, 416'756'875, 267'829'958, 1'835'213'917,
     1'328'833'962, 1'418'570'761, 161'033'112, 304'212'574},
    {1'539'989'115, 655'816'003, 960'914'243, 1'915'696'806, 2'013'025'619, 1'168'140'026,
     1'923'497'586, 167'698'528, 1'528'387'973, 993'794'175},
    {450'926'852, 1'462'772'409, 1'021'685'265, 83'696'007, 508'154'254, 1'861'070'898, 26'482'542,
     444'956'424, 2'115'448'041, 118'254'244},
    {471'503'978, 1'215'892'992, 135'346'136, 1'602'504'050, 160'037'322, 551'454'346, 519'485'142,
     383'947'510, 1'968'171'878, 540'872'513},
    {2'013'025'619, 475'051'709, 914'834'335, 810'642'687, 1'019'331'795, 2'056'065'863,
     1'342'855'162, 1'325'809'384, 1'988'803'007, 765'656'702},
    {1'368'624'604, 450'181'436, 1'927'888'393, 1'759'567'256, 606'425'239, 19'268'348,
     1'298'201'670, 2'041'736'264, 379'756'761, 28'837'162}};
inline constexpr std::int64_t taillard_minima[taillard_optima] = {
    1278, 1359, 1081, 1293, 1235, 1195, 1234, 1206, 1230, 1108, 1582, 1659, 1496, 1377, 1419,
    1397, 1484, 1538, 1593, 1591, 2297, 2099, 2326, 2223, 2291, 2226, 2273, 2200, 2237, 2178,
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// An instance of the benchmark.
struct taillard_benchmark {
  std::size_t jobs;      ///< of the instance
  std::size_t machines;  ///< of the instance
  std::int64_t seed;     ///< of Taillard's generator
  std::int64_t optimum;  ///< the minimum makespan; 0 of more than 20 jobs

  /// Returns the times of the jobs, from Taillard's generator.
  [[nodiscard]] flow_shop_instance shop() const { return taillard_flow_shop(jobs, machines, seed); }
};

/// Returns instance number `number`, from 1 on. \throws std::out_of_range
[[nodiscard]] inline taillard_benchmark taillard_instance(std::size_t number) {
  if (number < 1 || number > taillard_instances) {
    throw std::out_of_range("taillard_instance: the number must be in [1, 120]");
  }
  using namespace detail::branch_and_bound;
  const std::size_t i = number - 1;
  const taillard_size& size = taillard_sizes[i / 10];
  return {size.jobs, size.machines, taillard_seeds[i / 10][i % 10],
          i < taillard_optima ? taillard_minima[i] : 0};
}

}  // namespace ramify::inline RAMIFY_ABI
