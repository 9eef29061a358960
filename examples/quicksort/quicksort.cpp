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
#include "common/file_options.hpp"
#include "common/number_file.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"
#include "distributions.hpp"
#include "quicksort_command_line.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_sort.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

// Returns the generated numbers at the positions [begin, end) among o.n.
common::numbers generate(const common::quicksort_command_line& o, std::size_t begin,
                         std::size_t end) {
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

common::numbers read(const common::quicksort_command_line& o) {
  if (o.input.empty()) return generate(o, 0, o.n);
  return o.type.empty() ? common::read_text(o.input, o.pairs)
                        : common::read_raw(o.input, o.type, o.pairs);
}

ramify::quicksort_report sort(common::numbers& all, const common::quicksort_command_line& o,
                              const ramify::environment& env) {
  return std::visit(
      [&](auto& keys) {
        return all.values.empty() ? ramify::quicksort(keys, o.order, o.sort, env)
                                  : ramify::quicksort_pairs(keys, all.values, o.order, o.sort, env);
      },
      all.keys);
}

// Returns an empty string if `after` is the result of std::sort for `before`, else the fault.
std::string compare_with_std_sort(const common::numbers& before, const common::numbers& after,
                                  ramify::sort_order order) {
  return std::visit(
      [&](const auto& keys) -> std::string {
        using key = typename std::decay_t<decltype(keys)>::value_type;
        const auto& sorted_keys = std::get<std::vector<key>>(after.keys);
        // A NaN (the only number that differs from itself) counts as greater than every other.
        const auto less = [](key a, key b) { return a < b || (a == a && b != b); };
        const auto in_order = [&](key a, key b) {
          return order == ramify::sort_order::descending ? less(b, a) : less(a, b);
        };
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
                               const common::quicksort_command_line& o, double seconds) {
  auto json = common::new_report("quicksort");
  json.update(common::to_json(report));
  json["type"] = common::type_name(all.keys);
  json["seconds"] = seconds;
  json["output"] = o.output.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(o.output);
  if (o.verify) json["verified"] = true;
  return json;
}

void print(std::ostream& out, const ramify::quicksort_report& report, const common::numbers& all,
           const common::quicksort_command_line& o, double seconds) {
  out << report << "type: " << common::type_name(all.keys) << "\nseconds: " << seconds << '\n';
  common::print_launch_costs(out, report);
  if (o.verify) out << "verified: equal to std::sort\n";
  if (o.output.empty()) {
    out << "output: none, the sorted numbers are not kept (--output FILE keeps them)\n";
  }
}

// Writes sorted numbers in the format of the input; generated ones as text.
void write(std::ostream& out, const common::numbers& sorted,
           const common::quicksort_command_line& o) {
  const bool is_raw = !o.input.empty() && !o.type.empty();
  is_raw ? write_raw(out, sorted) : write_text(out, sorted);
}

void run(const common::quicksort_command_line& o) {
  common::progress_bar progress("sorting", o.quiet);
  common::numbers all = read(o);
  const common::numbers before = o.verify ? all : common::numbers{};

  ramify::launch_trace trace;
  ramify::environment env = o.env;
  if (!o.trace.empty()) env.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const ramify::quicksort_report report = sort(all, o, env);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;

  if (o.verify) {
    const std::string fault = compare_with_std_sort(before, all, o.order);
    if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
  }
  progress.clear();
  if (!o.output.empty()) {
    common::write_file(o.output, [&](std::ostream& out) { write(out, all, o); });
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

int run_program(int argc, char** argv, common::quicksort_command_line& o,
                const std::function<void()>& body, const common::rank_agreement& agree = {}) {
  return common::run_program(
      "quicksort", "Sorts numbers with a quicksort whose kernels launch child grids.", argc, argv,
      [&](CLI::App& app) { common::declare(app, o); }, body, agree);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: each rank has a part of the numbers ----

// Returns the part of this rank. Rank 0 reads all of a text file.
common::numbers read_part(ramify::communicator& comm, const common::quicksort_command_line& o) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (o.input.empty()) {
    const auto begin_of = [&](std::size_t r) { return o.n / ranks * r + std::min(o.n % ranks, r); };
    return generate(o, begin_of(rank), begin_of(rank + 1));
  }
  if (!o.type.empty()) return common::read_raw_part(comm, o.input, o.type, o.pairs);
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
            const common::quicksort_command_line& o) {
  common::numbers all_before{common::keys_of_type(common::type_name(before.keys)), {}};
  common::numbers all_after = all_before;
  common::use_in_turns(comm, before, o.pairs, [&](const auto& part) { append(all_before, part); });
  common::use_in_turns(comm, after, o.pairs, [&](const auto& part) { append(all_after, part); });
  const std::string fault = compare_with_std_sort(all_before, all_after, o.order);
  if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
}

// Sorts the numbers of all ranks. The sorted part of this rank replaces its unsorted one.
ramify::distributed_sort_report sort(ramify::communicator& comm, common::numbers& part,
                                     const common::quicksort_command_line& o,
                                     const ramify::environment& env) {
  constexpr auto parts = ramify::sorted_parts::sampled;
  return std::visit(
      [&](auto& keys) {
        return o.pairs ? ramify::distributed_sort_pairs(comm, keys, part.values, o.order, parts,
                                                        o.sort, env)
                       : ramify::distributed_sort(comm, keys, o.order, parts, o.sort, env);
      },
      part.keys);
}

// Writes the parts of all ranks to one file. Rank 0 writes it, and the others send it their parts.
void write(ramify::communicator& comm, const common::numbers& part,
           const common::quicksort_command_line& o) {
  const auto write_all = [&](std::ostream& out) {
    common::use_in_turns(comm, part, o.pairs,
                         [&](const common::numbers& of_rank) { write(out, of_rank, o); });
  };
  if (comm.rank() == 0) {
    common::write_file(o.output, write_all);
  } else {
    write_all(std::cout);  // only sends: rank 0 has the file
  }
}

void run_on_ranks(ramify::communicator& comm, const common::quicksort_command_line& o) {
  const bool is_first = comm.rank() == 0;
  if (is_first) common::check(o);
  comm.barrier();  // no rank reads files before the check
  common::progress_bar progress("sorting", o.quiet || !is_first);
  common::numbers part = read_part(comm, o);
  const common::numbers before = o.verify ? part : common::numbers{};

  ramify::launch_trace trace;
  ramify::environment env = o.env;
  if (!o.trace.empty() && is_first) env.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const ramify::distributed_sort_report report = sort(comm, part, o, env);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const ramify::cluster_report cluster = comm.report();

  if (o.verify) verify(comm, before, part, o);
  progress.clear();
  if (!o.output.empty()) write(comm, part, o);
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
  common::quicksort_command_line o;
  return common::main_of_rank(
      [&](const auto& body, const auto& agree) { return run_program(argc, argv, o, body, agree); },
      o.env.backend, [&](ramify::communicator& comm) { run_on_ranks(comm, o); });
}

#endif

}  // namespace

int main(int argc, char** argv) {
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv);
#endif
  common::quicksort_command_line o;
  return run_program(argc, argv, o, [&] {
    common::check(o);
    run(o);
  });
}
