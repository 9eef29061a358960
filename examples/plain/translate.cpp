// SPDX-License-Identifier: BSD-3-Clause
// Translates preprocessed CUDA into C++ for the CPU executor. try.sh calls it.
//
//   translate IN.ii OUT.ii ROOT
//
// ROOT is the folder of Ramify; what its headers do is not checked.
// It rewrites kernel<<<...>>>(...), `extern __shared__`, __shared__, the other keywords of CUDA,
// malloc() in kernels, and a few instructions of inline PTX. No line moves, so the compiler's
// messages have the lines of the source. What the executor does not have is an error here. System
// headers stay as they are.
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "sides.hpp"
#include "tables.hpp"

namespace plain {
namespace {

/// Kernels of one name.
struct kernel_info {
  string parameters;  // their types in the first declaration
  int parameter_count = 0;
  int template_parameters = -1;  // -1: no template; -2: a pack
  bool needs_call = false;       // overloads, or default arguments: only a call can choose
};

string counted(int count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

class translator : private sides {
 public:
  using sides::sides;

  /// Returns the translation. If there is an error, it is printed and nothing is returned.
  std::optional<string> run() {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (is(i, "__global__") && !in_system(i)) note_kernel(i);
    }
    note_sides();
    check_host_bodies();
    for (size_t i = 0; i < all_.size(); ++i) {
      translate_keyword(i);
      if (in_system(i)) continue;
      check_name(i);
      if (starts_launch(i)) translate_launch(i);
    }
    if (errors_ != 0) return std::nullopt;
    return with_edits();
  }

 private:
  // ---- kernels and device functions ----

  /// Returns the parameters in [from, to) without their names.
  [[nodiscard]] string types_of(size_t from, size_t to) const {
    constexpr string_view types[] = {"int",  "char",   "unsigned", "long", "short",
                                     "bool", "double", "float",    "const"};
    string result;
    for (size_t i = from; i < to; ++i) {
      const bool ends = i + 1 == to || is(i + 1, ",") || is(i + 1, "[") || is(i + 1, "=");
      const bool is_type = std::ranges::find(types, all_[i].text) != std::end(types);
      if (ends && is_name(i) && i > from && !is(i - 1, ",") && !is_type) continue;
      result += string(all_[i].text) + ' ';
    }
    return result;
  }

  void note_kernel(size_t i) {
    const size_t open = parameters_of(i);
    const size_t close = open == npos ? npos : closing(open);
    if (close == npos || !is_name(open - 1)) return;
    const string parameters = types_of(open + 1, close);
    const auto [found, is_new] = kernels_.try_emplace(all_[open - 1].text, kernel_info{parameters});
    kernel_info& k = found->second;
    k.parameter_count = is(open + 1, "void") ? 0 : count_arguments(open + 1, close);
    if (!is_new && k.parameters != parameters) k.needs_call = true;
    for (size_t p = open; p < close; ++p) {
      if (is(p, "=") || is(p, ".")) k.needs_call = true;  // a default argument, or a pack
    }
    // Back over `static`, `inline`, `void` and attributes to the end of the template's parameters.
    size_t before = i - 1;
    while (before != npos && (is_name(before) || is(before, ")") || is(before, "]"))) {
      before = is_name(before) ? before - 1 : opening(before) - 1;
    }
    if (before == npos || !is(before, ">")) return;
    const size_t angle = opening(before);
    if (angle == npos || angle == 0 || !is(angle - 1, "template")) return;
    const bool is_pack = text_between(angle, before).find("...") != string_view::npos;
    k.template_parameters = is_pack ? -2 : count_arguments(angle + 1, before);
  }

  /// Checks the body of a kernel, or of a function that only a GPU runs.
  void check_body(size_t i) {
    const size_t open = parameters_of(i);
    if (open == npos) return;
    size_t brace = closing(open);
    while (brace < all_.size() && !is(brace, "{") && !is(brace, ";")) ++brace;
    if (brace >= all_.size() || is(brace, ";")) return;
    const size_t end = closing(brace);
    for (size_t b = brace; b < end && end != npos; ++b) {
      if (!is_name(b) || is(b - 1, ".") || is(b - 1, "->")) continue;
      const bool in_std = is(b - 1, "::") && is(b - 2, "std");
      const string name(all_[b].text);
      const auto function = host_functions.find(name);
      if (function != host_functions.end() && is(b + 1, "(")) {
        error(b, name + "() in a kernel: " + string(function->second));
      } else if (calls_host(open, b)) {
        error(b, name +
                     "() in a kernel: it is a function of the host; write __device__ before its "
                     "definition, or __host__ __device__ if the host calls it, too");
      } else if (std::ranges::find(host_types, name) != host_types.end() &&
                 (in_std || ((name == "cout" || name == "cerr") && is(b + 1, "<")))) {
        error(b, "std::" + name + " in a kernel: a GPU does not have it" +
                     (name == "cout" || name == "cerr" || name == "endl" ? "; use printf()" : ""));
      } else if ((name == "malloc" || name == "free") && is(b + 1, "(") && !is(b - 1, "::")) {
        replace(b, b + 1,
                name == "malloc" ? "::ramify::cpu::heap_allocate" : "::ramify::cpu::heap_free");
      }
    }
  }

  void translate_keyword(size_t i) {
    const bool global = is(i, "__global__");
    if (global || is(i, "__device__") || is(i, "__host__")) {
      const bool of_host = is(i, "__host__") || is(i - 1, "__host__") || is(i + 1, "__host__");
      if (!of_host && !in_system(i)) check_body(i);
      replace(i, i + 1, "");
    } else if (is(i, "__constant__") || is(i, "__managed__")) {
      replace(i, i + 1, "");
    } else if (is(i, "__shared__")) {
      if (!translate_dynamic_shared(i)) replace(i, i + 1, "static thread_local");
    }
  }

  /// Translates `extern __shared__ T name[];` to a pointer.
  bool translate_dynamic_shared(size_t i) {
    size_t first = i;
    while (first > 0 && !is(first, "extern") && !is(first, ";") && !is(first, "{") &&
           !is(first, "}")) {
      --first;
    }
    if (!is(first, "extern")) return false;
    size_t end = i;
    while (end < all_.size() && !is(end, ";")) ++end;
    size_t bracket = end;
    while (bracket > i && !is(bracket, "[")) --bracket;
    if (bracket == i || !is(bracket + 1, "]") || !is_name(bracket - 1)) {
      error(i, "extern __shared__: expected 'extern __shared__ type name[];'");
      return true;
    }
    string type;
    for (size_t t = first + 1; t + 1 < bracket; ++t) {
      if (is(t, "__shared__")) continue;
      if (is(t, "__attribute__") || is(t, "alignas")) {  // the memory is aligned to 128 bytes
        t = closing(t + 1);
        continue;
      }
      type += string(all_[t].text) + ' ';
    }
    replace(first, end,
            "static thread_local ::std::add_pointer_t< " + type + ">& " +
                string(all_[bracket - 1].text) + " = ::ramify::plain::dynamic_shared< " + type +
                ">()");
    return true;
  }

  // ---- what the executor does not have ----

  void check_name(size_t i) {
    if (!is_name(i)) return;
    if (is(i, "ramify_refused") && i + 1 < all_.size() && all_[i + 1].text.size() > 1) {
      // In a header of CUDA.
      const source_file& header = tokens_.files[all_[i].file];
      const string_view includer =
          header.includer == npos ? header.name : tokens_.files[header.includer].name;
      const string_view what = all_[i + 1].text;  // in quotation marks
      std::cerr << includer << ':' << header.included_in
                << ": error: the CPU executor does not have " << what.substr(1, what.size() - 2)
                << '\n';
      ++errors_;
    } else if (is(i, "asm") || is(i, "__asm__")) {
      translate_ptx(i);
    } else if (const auto name = refused_names.find(all_[i].text); name != refused_names.end()) {
      if (is(i, "texture") && !is(i + 1, "<")) return;
      if (is(i - 1, "cudaError_t")) return;  // the declaration in a header of the executor
      error(i, "the CPU executor does not have " + string(name->second) + " (" +
                   string(all_[i].text) + ')');
    }
  }

  /// Translates asm("instruction" : "=r"(result) : "r"(operand)).
  void translate_ptx(size_t i) {
    size_t open = i + 1;
    while (is(open, "volatile") || is(open, "__volatile__")) ++open;
    const size_t close = is(open, "(") ? closing(open) : npos;
    if (close == npos) return;
    string code;
    for (const char c : all_[open + 1].text) {
      if (c != ' ' && c != '"' && c != '\t') code += c;
    }
    const auto instruction = ptx_instructions.find(code);
    const size_t result = open + 4;
    if (instruction == ptx_instructions.end() || !is(open + 2, ":") || !is(result, "(")) {
      error(i, "the CPU executor does not have inline PTX (asm) of this kind");
      return;
    }
    const size_t result_end = closing(result);
    string value(instruction->second);
    if (is(result_end + 1, ":")) value += text_between(result_end + 3, close);
    replace(i, close + 1, string(text_between(result, result_end + 1)) + " = " + value);
  }

  // ---- launches ----

  [[nodiscard]] bool three(size_t i, string_view sign) const {
    return is(i, sign) && is(i + 1, sign) && is(i + 2, sign);
  }
  [[nodiscard]] bool starts_launch(size_t i) const {
    return three(i, "<") && i > 0 && !is(i - 1, "operator") && !is(i - 1, "<");
  }

  /// Returns the index of the `>>>` that ends the configuration after the `<<<` at `i`. One that
  /// three templates need is followed by another one.
  [[nodiscard]] size_t end_of_configuration(size_t i) const {
    int angles = 0;
    size_t of_templates = npos;
    for (i += 3; i < all_.size() && !is(i, ";") && !is(i, "}"); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) {
        i = closing(i);
        if (i == npos) break;
      } else if (three(i, ">")) {
        if (angles < 3) return i;
        of_templates = i;
        angles -= 3;
        i += 2;
      } else if (is(i, "<")) {
        ++angles;
      } else if (is(i, ">") && angles > 0) {
        --angles;
      }
    }
    return of_templates;
  }

  /// Returns the index of the first token of the expression that names the kernel before `i`.
  [[nodiscard]] size_t start_of_kernel(size_t i) const {
    constexpr string_view statements[] = {"return", "else", "do", "case", "if", "while", "for"};
    size_t first = npos;
    for (size_t t = i - 1; t != npos;) {
      if (is(t, ">") || is(t, ")") || is(t, "]")) {
        const bool may_follow_name = !is(t, ")") || first == npos;
        t = opening(t);
        if (t == npos || !may_follow_name) return first;
        if (!is(t, "<")) first = t;
        if (t == 0 || !(is_name(t - 1) || is(t - 1, ")") || is(t - 1, "]"))) return first;
        --t;
      } else if (is_name(t) &&
                 std::ranges::find(statements, all_[t].text) == std::end(statements)) {
        first = t--;
        if (t == npos || !(is(t, "::") || is(t, ".") || is(t, "->"))) return first;
        first = t--;
      } else {
        return first;
      }
    }
    return first;
  }

  void translate_launch(size_t i) {
    const size_t end = end_of_configuration(i);
    if (end == npos) return error(i, "there is no >>> after this <<<");
    if (!is(end + 3, "(")) return error(end, "expected the kernel's arguments, '(...)', after >>>");
    const size_t first = start_of_kernel(i);
    if (first == npos) return error(i, "expected a kernel before <<<");
    const int numbers = count_arguments(i + 3, end);
    if (numbers < 2 || numbers > 4) {
      return error(i,
                   "a launch has 2 to 4 numbers: <<<blocks, threads per block, bytes of dynamic "
                   "shared memory, stream>>>; this one has " +
                       std::to_string(numbers));
    }
    const size_t angle = is(i - 1, ">") ? opening(i - 1) : i;
    const int arguments = angle == i ? 0 : count_arguments(angle + 1, i - 1);
    const auto found = angle > 0 ? kernels_.find(all_[angle - 1].text) : kernels_.end();
    bool by_call = false;
    if (found != kernels_.end()) {
      const kernel_info& k = found->second;
      by_call = k.needs_call || (k.template_parameters != -1 && k.template_parameters != arguments);
      const size_t close = closing(end + 3);
      const int passed = close == npos ? 0 : count_arguments(end + 4, close);
      if (!k.needs_call && close != npos && passed != k.parameter_count) {
        return error(i, "kernel " + string(found->first) + " has " +
                            counted(k.parameter_count, "parameter") + ", and this launch passes " +
                            counted(passed, "argument"));
      }
    }
    if (by_call) {
      insert_before(first, "::ramify::plain::launch_call([](auto... ramify_values) { ");
      replace(i, i + 3, "(ramify_values...); }, ");
    } else {
      insert_before(first, "::ramify::plain::launch(");
      replace(i, i + 3, ", ");
    }
    replace(end, end + 3, ")");
  }

  std::map<string_view, kernel_info> kernels_;
};

}  // namespace
}  // namespace plain

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: translate IN.ii OUT.ii ROOT\n";
    return 2;
  }
  std::ifstream in(arguments[1], std::ios::binary);
  std::ostringstream source;
  source << in.rdbuf();
  if (!in) {
    std::cerr << "translate: cannot read " << arguments[1] << '\n';
    return 1;
  }
  const auto text = source.str();
  const auto translated = plain::translator(text, arguments[3]).run();
  if (!translated) return 1;
  std::ofstream out(arguments[2], std::ios::binary);
  // Unlike Ramify's functions, plain CUDA calls are often made without reading the status.
  if (text.find("ramify/runtime/launch.cuh\"") == text.npos) {
    out << "#pragma GCC diagnostic ignored \"-Wunused-result\"\n";
  }
  out << *translated;
  out.close();
  if (out) return 0;
  std::cerr << "translate: cannot write " << arguments[2] << '\n';
  return 1;
}
