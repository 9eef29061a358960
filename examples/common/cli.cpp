// SPDX-License-Identifier: BSD-3-Clause
#include "cli.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <new>
#include <numeric>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/notice.hpp>
#include <ramify/version.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "output_file.hpp"
#include "stop_request.hpp"
#include "text_file.hpp"

namespace common {
namespace {

constexpr auto footer =
    "Numbers are decimal. Whole numbers may be written as 1e6, 1M (10^6) or 1Mi (2^20).\n"
    "The file - is standard input or standard output. If the output goes to standard output, the\n"
    "report goes to standard error.\n"
    "\n"
    "Exit status: 0 success; 1 failure; 2 a bad option; 3 the input cannot be read or is "
    "malformed;\n"
    "4 this machine or build cannot run the backend or the route; 5 the output cannot be written;\n"
    "128 + n: stopped by signal n.\n"
    "\n"
    "Environment:\n"
    "  RAMIFY_CPU_SCHEDULE   how the CPU executor runs grids: parallel[:threads] (the default),\n"
    "                        eager, late, random[:seed]\n"
    "  RAMIFY_CACHE_DIR      folder for measured launch costs of GPUs; default:\n"
    "                        $XDG_CACHE_HOME/ramify, or ~/.cache/ramify\n"
    "  CUDA_VISIBLE_DEVICES  the GPUs that CUDA may use\n";

enum class number_fault { none, malformed, too_large };

/// Parses a whole number: "12", "1.5e3", "2Mi".
number_fault parse_whole_number(std::string_view word, std::uint64_t& value) {
  struct unit {
    std::string_view name;
    unsigned power_of_10, power_of_2;
  };
  constexpr std::array<unit, 9> units{{{"k", 3, 0},
                                       {"K", 3, 0},
                                       {"M", 6, 0},
                                       {"G", 9, 0},
                                       {"T", 12, 0},
                                       {"Ki", 0, 10},
                                       {"Mi", 0, 20},
                                       {"Gi", 0, 30},
                                       {"Ti", 0, 40}}};
  const auto take_digits = [&] {
    const auto end = std::min(word.find_first_not_of("0123456789"), word.size());
    const std::string digits(word.substr(0, end));
    word.remove_prefix(end);
    return digits;
  };
  // 1. The digits before and after the point.
  std::string digits = take_digits();
  if (digits.empty()) return number_fault::malformed;
  int power_of_10 = 0;
  unsigned power_of_2 = 0;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    std::string fraction = take_digits();
    if (fraction.empty()) return number_fault::malformed;
    fraction.erase(fraction.find_last_not_of('0') + 1);
    digits += fraction;
    power_of_10 = -static_cast<int>(fraction.size());
  }
  // 2. The exponent or the unit.
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(word.substr(1).starts_with('+') ? 2 : 1);
    const std::string exponent = take_digits();
    if (exponent.empty()) return number_fault::malformed;
    // Larger exponents count as 10,000, which makes every number but 0 too large.
    power_of_10 += std::min(parse<int>(exponent).value_or(10'000), 10'000);
  } else if (!word.empty()) {
    const auto* const found = std::ranges::find(units, word, &unit::name);
    if (found == units.end()) return number_fault::malformed;
    word = {};
    power_of_10 += static_cast<int>(found->power_of_10);
    power_of_2 = found->power_of_2;
  }
  if (!word.empty()) return number_fault::malformed;
  // 3. The value.
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const auto parsed = parse<std::uint64_t>(digits);
  if (!parsed) return number_fault::too_large;
  value = *parsed;
  if (__builtin_mul_overflow(value, std::uint64_t{1} << power_of_2, &value)) {
    return number_fault::too_large;
  }
  for (; power_of_10 > 0 && value != 0; --power_of_10) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return number_fault::too_large;
  }
  for (; power_of_10 < 0; ++power_of_10) {
    if (value % 10 != 0) return number_fault::malformed;
    value /= 10;
  }
  return number_fault::none;
}

/// Returns the number of insertions, deletions and replacements of a character between two words
/// (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// Returns the option that an unknown argument may mean: one that begins with the argument, or the
/// most similar one. Returns an empty string if there is none.
std::string option_like(const CLI::App& app, const std::string& argument) {
  const std::string word = argument.substr(0, argument.find('='));
  const std::string letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (letters.empty()) return {};
  std::string closest;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      std::size_t distance = edit_distance(word, "--" + name);
      if (letters.size() > 1 && name.starts_with(letters)) distance = 0;
      // An argument without a dash is probably a value whose option is missing.
      if (!word.starts_with('-') && name != letters) continue;
      if (distance < least) {
        least = distance;
        closest = name;
      }
    }
  }
  return closest.empty() ? "" : "--" + closest;
}

/// Returns the message about an argument that is no option, with a suggestion.
std::string unknown_argument(const CLI::App& app) {
  const std::string given = app.remaining().front();
  std::string meant = option_like(app, given);
  if (meant.empty() && app.get_option_no_throw("--input") != nullptr &&
      ::access(given.c_str(), F_OK) == 0) {
    meant = "--input " + in_quotes(given);
  }
  return "unknown argument " + in_quotes(given) +
         (meant.empty() ? "; --help lists the options" : "; did you mean " + meant + "?");
}

/// Replaces the names of C++ fields in a message of the library by the names of the options:
/// "nbody_config.theta is 3", "max_blocks is 2" and "capacity is 5" become "--theta is 3", ...
std::string in_terms_of_options(const CLI::App& app, std::string_view message) {
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  std::string result;
  for (bool is_first = true; !message.empty(); is_first = false) {
    const auto end =
        static_cast<std::size_t>(std::ranges::find_if_not(message, is_name) - message.begin());
    std::string word(message.substr(0, end));
    message.remove_prefix(end);
    // A field of a struct, a name of several parts, or the subject of the message.
    const bool is_field = word.find("_options.") != word.npos || word.find("_config.") != word.npos;
    const bool is_subject = is_first && message.starts_with(" is ");
    if (is_field || is_subject || (word.find('_') != word.npos && word.find('.') == word.npos)) {
      std::string name = word.substr(word.rfind('.') + 1);  // all of it if there is no point
      std::ranges::replace(name, '_', '-');
      if (app.get_option_no_throw("--" + name) != nullptr) word = "--" + name;
    }
    result += word;
    const auto next =
        static_cast<std::size_t>(std::ranges::find_if(message, is_name) - message.begin());
    result += message.substr(0, next);
    message.remove_prefix(next);
  }
  return result;
}

/// The threads and the GPU that the options --threads and --device select, while the program runs.
class selected_processor {
 public:
  explicit selected_processor(const CLI::App& app) {
    ramify::cpu::executor_config config;
    if (const char* const schedule = std::getenv("RAMIFY_CPU_SCHEDULE")) {
      try {
        config = ramify::cpu::parse_executor_config(schedule);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(std::string("environment variable RAMIFY_CPU_SCHEDULE: ") +
                                    e.what());
      }
    }
    if (const auto* const threads = app.get_option_no_throw("--threads");
        threads != nullptr && threads->count() > 0) {
      if (config.order != ramify::cpu::schedule::parallel) {
        throw std::invalid_argument("--threads: the schedule " +
                                    std::string(std::getenv("RAMIFY_CPU_SCHEDULE")) +
                                    " of RAMIFY_CPU_SCHEDULE has one thread");
      }
      config.workers = threads->as<unsigned>();
      config_.emplace(config);
    }
    if (const auto* const device = app.get_option_no_throw("--device");
        device != nullptr && device->count() > 0) {
      select_gpu(device->as<unsigned>());
    }
  }

 private:
  /// Makes one GPU visible to CUDA, which has not started yet. The number counts the GPUs that are
  /// visible now.
  static void select_gpu(unsigned number) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string chosen = std::to_string(number);
    if (visible != nullptr) {
      std::istringstream list(visible);
      for (unsigned i = 0; i <= number; ++i) {
        if (!std::getline(list, chosen, ',')) {
          throw ramify::unavailable("--device " + std::to_string(number) +
                                    ": CUDA_VISIBLE_DEVICES names only " + std::to_string(i) +
                                    " devices");
        }
      }
    }
    ::setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), 1);
  }

  std::optional<ramify::cpu::scoped_executor_config> config_;
};

/// Opens /dev/null in place of standard input, output and error if they are closed. Otherwise the
/// next file that is opened would get the program's messages.
void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Reading from a closed input, and writing to a closed output, still fails.
    if (::fcntl(file, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

}  // namespace

std::string program_version() {
  return std::to_string(RAMIFY_VERSION_MAJOR) + '.' + std::to_string(RAMIFY_VERSION_MINOR) + '.' +
         std::to_string(RAMIFY_VERSION_PATCH);
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto parse = [least, most](std::string& word) -> std::string {
    std::uint64_t value = 0;
    const number_fault fault = parse_whole_number(word, value);
    const bool limited = most != std::numeric_limits<std::uint64_t>::max();
    if (fault == number_fault::malformed || (fault == number_fault::none && value < least)) {
      return in_quotes(word) + " is not a whole number of at least " + std::to_string(least) +
             (limited ? " and at most " + std::to_string(most) : "");
    }
    if (fault == number_fault::too_large || value > most) {
      return in_quotes(word) + " is too large; the maximum is " + std::to_string(most);
    }
    word = std::to_string(value);
    return {};
  };
  return {parse, ""};
}

std::function<std::string(const std::string&)> number_in(double least, double most) {
  return [=](const std::string& word) -> std::string {
    // from_chars() accepts no plus sign. After it is removed, "+-1" must still be rejected.
    const std::string_view digits = std::string_view(word).substr(word.starts_with('+') ? 1 : 0);
    const auto value = parse<double>(digits);
    if (value && !(word.starts_with('+') && digits.starts_with('-')) && *value >= least &&
        *value <= most)
      return {};
    std::ostringstream text;
    text << in_quotes(word) << " is not a number in [" << least << ", " << most << "]";
    return text.str();
  };
}

void add_launch_options(CLI::App& app, ramify::backend& backend, ramify::route& route,
                        std::size_t& pending_launches) {
  add_choice(app, "--backend", ramify::parse_backend, backend, "automatic, cuda or cpu");
  add_choice(app, "--route", ramify::parse_route, route, "automatic, device or flat");
  add_whole_number(app, "--pending-launches", pending_launches,
                   "Pending-launch limit of the device runtime; without the option it is unchanged",
                   1)
      ->default_str("");
  const unsigned max_threads = std::max(std::thread::hardware_concurrency(), 1u);
  auto* const threads =
      app.add_option("--threads", "Threads of the CPU executor; default: one per core")
          ->type_name("UINT")
          ->transform(whole_number(1, max_threads));
  auto* const device =
      app.add_option("--device", "Number of the GPU; selects the cuda backend, too")
          ->type_name("UINT")
          ->transform(whole_number(0, 4096));
  app.final_callback([=, &backend] {
    if (threads->count() > 0 && backend == ramify::backend::cuda) {
      throw CLI::ValidationError("--threads", "the cuda backend does not use CPU threads");
    }
    if (device->count() == 0) return;
    if (backend == ramify::backend::cpu) {
      throw CLI::ValidationError("--device", "the cpu backend does not use a GPU");
    }
    if (threads->count() > 0) {
      throw CLI::ValidationError("--device", "excludes --threads, which is of the cpu backend");
    }
    backend = ramify::backend::cuda;
  });
}

namespace {

/// Returns whether mpirun has started more processes than this one.
bool has_other_processes() {
  // Open MPI; MPICH, Intel MPI and srun; MVAPICH.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const char* const size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  return false;
}

}  // namespace

int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body,
                bool is_rank) {
  open_standard_files();
  handle_stop_signals();
  ramify::set_notice_handler([](std::string_view notice) { std::cerr << notice << '\n'; });
  CLI::App app(about, name);
  const auto report_error = [name](exit_status status, const std::string& what) {
    std::cerr << name << ": " << escaped(what) << '\n';
    return static_cast<int>(status);
  };
  const auto run = [&] {
    try {
      app.set_version_flag("--version", std::string(name) + " (Ramify) " + program_version(),
                           "Print the version and exit");
      app.footer(footer);
      declare(app);
      app.parse(argc, argv);
      if (!is_rank && has_other_processes()) {
        throw std::invalid_argument(
            "mpirun has started several processes, but this program runs as one process");
      }
      const selected_processor selected(app);
      body();
    } catch (const CLI::Success& e) {  // --help, --version
      app.exit(e);
    }
    flush_standard_output();
  };
  try {
    run();
    return static_cast<int>(exit_status::done);
  } catch (const CLI::ParseError& e) {
    // An unknown argument comes first, because it may be the option that another one requires.
    return report_error(exit_status::bad_option, app.remaining().empty()
                                                     ? in_terms_of_options(app, e.what())
                                                     : unknown_argument(app));
  } catch (const std::invalid_argument& e) {
    return report_error(exit_status::bad_option, in_terms_of_options(app, e.what()));
  } catch (const bad_input& e) {
    return report_error(exit_status::bad_input, in_terms_of_options(app, e.what()));
  } catch (const ramify::unavailable& e) {
    return report_error(exit_status::cannot_run, e.what());
  } catch (const bad_output& e) {
    return report_error(exit_status::bad_output, e.what());
  } catch (const stopped& e) {
    report_error(exit_status::failed, e.what());
    std::cout.flush();
    end_by_signal(e.signal());
  } catch (const std::bad_alloc&) {
    return report_error(exit_status::failed, "not enough memory");
  } catch (const std::exception& e) {
    return report_error(exit_status::failed, in_terms_of_options(app, e.what()));
  }
}

}  // namespace common
