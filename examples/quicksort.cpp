// SPDX-License-Identifier: BSD-3-Clause
// Sorts a file of numbers, or generated ones, with Ramify's quicksort.
//
//   quicksort --input numbers.txt --output sorted.txt
//   quicksort --generate organ-pipe --n 1000000 --strategy binary --report json
//   quicksort --input large.bin --type f64 --output sorted.bin --device-memory 16Gi
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <numeric>
#include <ramify/quicksort.hpp>
#include <string>

#include "common/cli.hpp"
#include "common/distributions.hpp"
#include "common/file_options.hpp"
#include "common/number_file.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_sort.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

struct options {
  std::string input, output, type, distribution, trace, report = "text";
  std::size_t n = 0;
  std::uint64_t seed = 1;
  bool pairs = false;
  bool verify = false;
  bool quiet = false;
  common::file_options files;
  ramify::quicksort_options sort;
};

void declare(CLI::App& app, options& o) {
  auto* input = o.files.add_input(
      app, "--input", o.input, "File of numbers: text, one number a line; raw binary with --type");
  auto* generate =
      app.add_option("--generate", o.distribution,
                     "Sort generated numbers: uniform, sorted, reversed, organ-pipe, all-equal, "
                     "few-distinct, zipf, almost-sorted, median-of-three-killer")
          ->type_name("NAME");
  input->excludes(generate);
  o.files.add_output(app, "--output", o.output,
                     "File for the sorted numbers, in the format of the input");
  app.add_option("--type", o.type,
                 "i32, u32, i64, u64, f32 or f64: of a raw input, or of generated numbers (u32)")
      ->type_name("NAME");
  auto* n = common::add_whole_number(app, "--n", o.n, "Number of generated numbers");
  n->default_str("");
  auto* seed = common::add_whole_number(app, "--seed", o.seed, "Seed of the generator");
  n->needs(generate);
  seed->needs(generate);
  generate->needs(n);
  app.add_flag("--pairs", o.pairs, "Sort pairs: a number and an unsigned 64-bit value");
  app.add_flag("--descending", o.sort.descending, "Largest first");
  common::add_launch_options(app, o.sort);
  common::add_choice(app, "--strategy", ramify::parse_quicksort_strategy, o.sort.strategy,
                     "sample_sort or binary");
  common::add_whole_number(
      app, "--device-memory", o.sort.device_memory,
      "Maximum device memory in bytes (16Gi); with less than all numbers need, "
      "they are sorted in parts. 0: no maximum");
  app.add_flag("--verify", o.verify, "Compare with std::sort");
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

// Returns the generated numbers at the positions [begin, end) among o.n.
common::numbers generate(const options& o, std::size_t begin, std::size_t end) {
  common::numbers all;
  all.keys = common::keys_of_type(o.type.empty() ? "u32" : o.type);
  std::vector<std::uint32_t> ranks;
  if (end - begin > ranks.max_size()) throw std::bad_alloc();
  ranks = common::make_ranks(common::parse_distribution(o.distribution), o.n, o.seed, begin, end);
  std::visit(
      [&](auto& keys) {
        using key = typename std::decay_t<decltype(keys)>::value_type;
        keys.resize(ranks.size());
        std::ranges::transform(ranks, keys.begin(), common::number_of_rank<key>);
      },
      all.keys);
  if (o.pairs) {
    all.values.resize(end - begin);
    std::iota(all.values.begin(), all.values.end(), std::uint64_t{begin});
  }
  return all;
}

common::numbers read(const options& o) {
  if (o.input.empty()) return generate(o, 0, o.n);
  return o.type.empty() ? common::read_text(o.input, o.pairs)
                        : common::read_raw(o.input, o.type, o.pairs);
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

nlohmann::ordered_json to_json(const ramify::quicksort_report& report, const common::numbers& all,
                               const options& o, double seconds) {
  auto json = common::new_report("quicksort");
  json.update(common::to_json(report));
  json["type"] = common::type_name(all.keys);
  json["seconds"] = seconds;
  json["output"] = o.output.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(o.output);
  if (o.verify) json["verified"] = true;
  return json;
}

void print(std::ostream& out, const ramify::quicksort_report& report, const common::numbers& all,
           const options& o, double seconds) {
  out << report << "type: " << common::type_name(all.keys) << "\nseconds: " << seconds << '\n';
  common::print_launch_costs(out, report);
  if (o.verify) out << "verified: equal to std::sort\n";
  if (o.output.empty()) {
    out << "output: none, the sorted numbers are not kept (--output FILE keeps them)\n";
  }
}

void run(const options& o) {
  common::progress_bar progress("sorting", o.quiet);
  common::numbers all = read(o);
  const common::numbers before = o.verify ? all : common::numbers{};

  ramify::launch_trace trace;
  ramify::quicksort_options how = o.sort;
  if (!o.trace.empty()) how.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const ramify::quicksort_report report = sort(all, how);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;

  if (o.verify) {
    const std::string fault = compare_with_std_sort(before, all, o.sort.descending);
    if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
  }
  progress.clear();
  if (!o.output.empty()) {
    const bool raw = !o.input.empty() && !o.type.empty();
    common::write_file(
        o.output, [&](std::ostream& out) { raw ? write_raw(out, all) : write_text(out, all); });
  }
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, common::report_stream(o.output),
      [&] { return to_json(report, all, o, taken.count()); },
      [&](std::ostream& out) {
        print(out, report, all, o, taken.count());
        common::print_trace(out, o.trace, trace);
      });
}

void check(const options& o) {
  o.files.check();
  if (o.input.empty() && o.distribution.empty())
    throw std::invalid_argument("give --input or --generate");
  if (!o.type.empty()) (void)common::keys_of_type(o.type);
  if (!o.distribution.empty()) (void)common::parse_distribution(o.distribution);
}

int run_program(int argc, char** argv, options& o, const std::function<void()>& body,
                bool is_rank = false) {
  return common::run_program(
      "quicksort", "Sorts numbers with a quicksort whose kernels launch child grids.", argc, argv,
      [&](CLI::App& app) { declare(app, o); }, body, is_rank);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: each rank has a part of the numbers ----

// Returns the part of this rank. Rank 0 reads all of a text file.
common::numbers read_part(ramify::communicator& comm, const options& o) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (o.input.empty()) {
    const auto begin_of = [&](std::size_t r) { return o.n / ranks * r + std::min(o.n % ranks, r); };
    return generate(o, begin_of(rank), begin_of(rank + 1));
  }
  if (!o.type.empty()) return common::read_raw_part(o.input, o.type, o.pairs, rank, ranks);
  common::numbers part;
  if (rank == 0) part = common::read_text(o.input, o.pairs);
  common::agree_on_type(comm, part);
  return part;
}

// Appends numbers of the same type.
void append(common::numbers& all, const common::numbers& part) {
  std::visit(
      [&](auto& keys) {
        const auto& more = std::get<std::decay_t<decltype(keys)>>(part.keys);
        keys.insert(keys.end(), more.begin(), more.end());
      },
      all.keys);
  all.values.insert(all.values.end(), part.values.begin(), part.values.end());
}

// Compares with std::sort on rank 0, which gets all numbers. \throws std::runtime_error
void verify(ramify::communicator& comm, const common::numbers& before, const common::numbers& after,
            const options& o) {
  common::numbers all_before{common::keys_of_type(common::type_name(before.keys)), {}};
  common::numbers all_after = all_before;
  common::use_in_turns(comm, before, o.pairs, [&](const auto& part) { append(all_before, part); });
  common::use_in_turns(comm, after, o.pairs, [&](const auto& part) { append(all_after, part); });
  const std::string fault = compare_with_std_sort(all_before, all_after, o.sort.descending);
  if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
}

void run_on_ranks(ramify::communicator& comm, const options& o) {
  const bool is_first = comm.rank() == 0;
  if (is_first) check(o);
  comm.barrier();  // no rank reads files before the check
  common::progress_bar progress("sorting", o.quiet || !is_first);
  common::numbers part = read_part(comm, o);
  const common::numbers before = o.verify ? part : common::numbers{};

  ramify::launch_trace trace;
  ramify::distributed_sort_options how;
  static_cast<ramify::quicksort_options&>(how) = o.sort;
  if (!o.trace.empty() && is_first) how.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const ramify::distributed_sort_report report = std::visit(
      [&](auto& keys) {
        return o.pairs ? ramify::distributed_sort_pairs(comm, keys, part.values, how)
                       : ramify::distributed_sort(comm, keys, how);
      },
      part.keys);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const ramify::cluster_report cluster = comm.report();

  if (o.verify) verify(comm, before, part, o);
  progress.clear();
  if (!o.output.empty()) {
    const bool raw = !o.input.empty() && !o.type.empty();
    const auto write = [&](std::ostream& out) {
      common::use_in_turns(comm, part, o.pairs, [&](const common::numbers& of_rank) {
        raw ? write_raw(out, of_rank) : write_text(out, of_rank);
      });
    };
    if (is_first) {
      common::write_file(o.output, write);
    } else {
      write(std::cout);  // only sends its part to rank 0
    }
  }
  if (!is_first) return;
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, common::report_stream(o.output),
      [&] {
        auto json = to_json(report, part, o, taken.count());
        json["part_imbalance"] = report.part_imbalance;
        json.update(common::to_json(cluster));
        return json;
      },
      [&](std::ostream& out) {
        print(out, report, part, o, taken.count());
        out << "largest part over the mean: " << report.part_imbalance << '\n' << cluster;
        common::print_trace(out, o.trace, trace, common::of_first_rank);
      });
}

int main_of_rank(int argc, char** argv) {
  options o;
  return common::main_of_rank(
      [&](const auto& body) { return run_program(argc, argv, o, body, true); }, o.sort.backend,
      [&](ramify::communicator& comm) { run_on_ranks(comm, o); });
}

#endif

}  // namespace

int main(int argc, char** argv) {
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv);
#endif
  options o;
  return run_program(argc, argv, o, [&] {
    check(o);
    run(o);
  });
}
