// SPDX-License-Identifier: BSD-3-Clause
// Sorts a file of numbers, or generated ones, with Ramify's quicksort.
//
//   quicksort --input numbers.txt --output sorted.txt
//   quicksort --generate organ-pipe --n 1000000 --strategy binary --report json
//
// Exit status: 0 sorted; 1 the sort failed; 2 a bad option; 3 the input cannot be read or is
// malformed; 4 this machine or build cannot run the backend or the route; 5 the output cannot be
// written.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <ramify/quicksort.hpp>
#include <string>

#include "common/cli.hpp"
#include "common/distributions.hpp"
#include "common/number_file.hpp"
#include "common/output_file.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

namespace {

struct options {
  std::string input, output, type, distribution, trace, report = "text";
  std::size_t n = 0;
  std::uint64_t seed = 1;
  bool pairs = false;
  bool verify = false;
  ramify::quicksort_options sort;
};

void declare(CLI::App& app, options& o) {
  auto* input = app.add_option("--input", o.input,
                               "File of numbers: text, one number a line; raw binary with --type");
  auto* generate =
      app.add_option("--generate", o.distribution,
                     "Sort generated numbers: uniform, sorted, reversed, organ-pipe, all-equal, "
                     "few-distinct, zipf, almost-sorted, median-of-three-killer");
  input->excludes(generate);
  app.add_option("--output", o.output, "File for the sorted numbers, in the format of the input");
  app.add_option("--type", o.type,
                 "i32, u32, i64, u64, f32 or f64: of a raw input, or of generated numbers (u32)");
  auto* n =
      app.add_option("--n", o.n, "Number of generated numbers")->check(common::whole_number<0>);
  auto* seed = app.add_option("--seed", o.seed, "Seed of the generator")
                   ->check(common::whole_number<0>)
                   ->capture_default_str();
  n->needs(generate);
  seed->needs(generate);
  generate->needs(n);
  app.add_flag("--pairs", o.pairs, "Sort pairs: a number and an unsigned 64-bit value");
  app.add_flag("--descending", o.sort.descending, "Largest first");
  common::add_launch_options(app, o.sort);
  app.add_option("--strategy", common::parsed_by(ramify::parse_quicksort_strategy, o.sort.strategy),
                 "sample_sort or binary");
  app.add_flag("--verify", o.verify, "Compare with std::sort");
  common::add_trace_option(app, o.trace);
  app.add_option("--report", o.report, "text or json")->check(CLI::IsMember({"text", "json"}));
}

common::numbers read(const options& o) {
  if (!o.input.empty()) {
    return o.type.empty() ? common::read_text(o.input, o.pairs)
                          : common::read_raw(o.input, o.type, o.pairs);
  }
  common::numbers all;
  all.keys = common::keys_of_type(o.type.empty() ? "u32" : o.type);
  std::vector<std::uint32_t> ranks;
  if (o.n > ranks.max_size()) throw std::bad_alloc();
  ranks = common::make_ranks(common::parse_distribution(o.distribution), o.n, o.seed);
  std::visit(
      [&](auto& keys) {
        using key = typename std::decay_t<decltype(keys)>::value_type;
        keys.resize(ranks.size());
        std::ranges::transform(ranks, keys.begin(), common::number_of_rank<key>);
      },
      all.keys);
  if (o.pairs) {
    all.values.resize(o.n);
    std::iota(all.values.begin(), all.values.end(), std::uint64_t{0});
  }
  return all;
}

ramify::quicksort_report sort(common::numbers& all, const ramify::quicksort_options& how) {
  return std::visit(
      [&](auto& keys) {
        return all.values.empty()
                   ? ramify::quicksort(std::span(keys), how)
                   : ramify::quicksort_pairs(std::span(keys), std::span(all.values), how);
      },
      all.keys);
}

// Returns an empty string if `after` is the result of std::sort for `before`, else the fault.
std::string compare_with_std_sort(const common::numbers& before, const common::numbers& after,
                                  bool descending) {
  return std::visit(
      [&](const auto& keys) -> std::string {
        using key = typename std::decay_t<decltype(keys)>::value_type;
        const auto& sorted_keys = std::get<std::vector<key>>(after.keys);
        // A NaN (the only number that differs from itself) counts as greater than every other.
        const auto less = [](key a, key b) { return a < b || (a == a && b != b); };
        const auto in_order = [&](key a, key b) { return descending ? less(b, a) : less(a, b); };
        if (!std::ranges::is_sorted(sorted_keys, in_order)) return "the output is out of order";

        const auto elements = [&](const std::vector<key>& k,
                                  const std::vector<std::uint64_t>& values) {
          std::vector<std::pair<key, std::uint64_t>> all(k.size());
          for (std::size_t i = 0; i < k.size(); ++i)
            all[i] = {k[i], values.empty() ? 0 : values[i]};
          std::ranges::sort(all, [&](const auto& a, const auto& b) {
            return in_order(a.first, b.first) ||
                   (!in_order(b.first, a.first) && a.second < b.second);
          });
          return all;
        };
        const auto same = [&](const auto& a, const auto& b) {
          return !in_order(a.first, b.first) && !in_order(b.first, a.first) && a.second == b.second;
        };
        return std::ranges::equal(elements(keys, before.values),
                                  elements(sorted_keys, after.values), same)
                   ? ""
                   : "the output is not the input in another order";
      },
      before.keys);
}

void print(const ramify::quicksort_report& report, const common::numbers& all, const options& o,
           double milliseconds, const ramify::launch_trace& trace) {
  if (o.report == "json") {
    auto json = common::to_json(report);
    json["type"] = common::type_name(all.keys);
    json["milliseconds"] = milliseconds;
    if (o.verify) json["verified"] = true;
    std::cout << json.dump(2) << '\n';
    return;
  }
  std::cout << report << "type: " << common::type_name(all.keys)
            << "\nmilliseconds: " << milliseconds << '\n';
  common::print_launch_costs(std::cout, report);
  common::print_trace(std::cout, o.trace, trace);
  if (o.verify) std::cout << "verified: equal to std::sort\n";
}

void run(const options& o) {
  common::numbers all = read(o);
  const common::numbers before = o.verify ? all : common::numbers{};

  ramify::launch_trace trace;
  ramify::quicksort_options how = o.sort;
  if (!o.trace.empty()) how.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const ramify::quicksort_report report = sort(all, how);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;

  if (o.verify) {
    const std::string fault = compare_with_std_sort(before, all, o.sort.descending);
    if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
  }
  if (!o.output.empty()) {
    const bool raw = !o.input.empty() && !o.type.empty();
    common::write_file(
        o.output, [&](std::ostream& out) { raw ? write_raw(out, all) : write_text(out, all); });
  }
  common::write_trace(o.trace, trace);
  print(report, all, o, taken.count(), trace);
}

void check(const options& o) {
  if (o.input.empty() && o.distribution.empty())
    throw std::invalid_argument("give --input or --generate");
  if (!o.type.empty()) (void)common::keys_of_type(o.type);
  if (!o.distribution.empty()) (void)common::parse_distribution(o.distribution);
  common::refuse_output_over_input(o.input, o.output);
  common::refuse_output_over_input(o.input, o.trace, "--trace");
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "quicksort", "Sorts numbers with a quicksort whose kernels launch child grids.", argc, argv,
      [&](CLI::App& app) { declare(app, o); },
      [&] {
        check(o);
        run(o);
      });
}
