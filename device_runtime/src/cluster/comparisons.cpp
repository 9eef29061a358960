// SPDX-License-Identifier: BSD-3-Clause
// The comparison of calls and settings on all ranks. If they are equal, it takes one reduction.
#include <mpi.h>

#include <algorithm>
#include <ramify/cluster/settings.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "state.hpp"

namespace ramify::detail::cluster::inline RAMIFY_ABI {
namespace {

/// A hash of bytes (FNV-1a).
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

constexpr std::size_t call_length = 128;  // bytes of a call and its number, at most

/// Returns the settings as one text: the names and the values, each with a null character after it.
std::string text_of(const shared_settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings.all()) {
    text.append(name).append(1, '\0').append(value).append(1, '\0');
  }
  return text;
}

/// Removes the first part of a text, up to a null character or to its end, and returns it.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Returns a message about the first difference of the settings of rank `other` from those of rank
/// 0. Both are texts of text_of().
std::string difference(std::string_view of_first, std::string_view of_other, std::size_t other) {
  std::string_view name, value, other_name, other_value;
  do {
    name = next_part(of_first);
    value = next_part(of_first);
    other_name = next_part(of_other);
    other_value = next_part(of_other);
  } while (name == other_name && value == other_value && !name.empty());
  const bool have_same_name = name == other_name;  // else the functions of the ranks differ
  std::string message(have_same_name ? name : "a setting");
  message.append(" is '").append(have_same_name ? value : name);
  message.append("' on rank 0, but '").append(have_same_name ? other_value : other_name);
  return message.append("' on rank ").append(std::to_string(other));
}

/// Returns the number of the first text that differs from text 0. There is one, unless only the
/// ends of very long texts differ; then the result is 0.
std::size_t first_other(const std::vector<std::string>& texts) {
  const auto other = std::ranges::find_if(texts, [&](const auto& one) { return one != texts[0]; });
  return other == texts.end() ? 0 : static_cast<std::size_t>(other - texts.begin());
}

}  // namespace

void state::check_call(const char* name, std::uint64_t count, std::uint64_t element,
                       std::uint64_t extra, bool always) {
  require_intact();
  if (!options.check_calls && !always) return;
  std::string call = name;
  if (element != 0) {
    call += " of " + std::to_string(count) + " elements of " + std::to_string(element) + " bytes";
  }
  if (have_same_call(name, call, extra)) return;
  const std::vector<std::string> all = compare_calls(name, call, extra);
  fail_together(static_cast<int>(first_other(all)),
                "calls " + call + ", but rank 0 calls " + call + " with other arguments");
}

void state::require_equal(const shared_settings& settings) {
  require_intact();
  if (size == 1) return;
  const char* const name = settings.call().c_str();
  const std::string text = text_of(settings);
  const std::uint64_t hash = hash_of(text);
  const std::string call = settings.call() + " (settings)";
  if (have_same_call(name, call, hash)) return;
  compare_calls(name, call, hash);
  // The calls are the same, so the settings differ.
  memory->longest_text = text.size();
  collective(name, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, &memory->longest_text, 1, MPI_UINT64_T, MPI_MAX, data,
                          request);
  });
  const std::vector<std::string> all = gather_texts(name, text, memory->longest_text);
  const std::size_t other = first_other(all);
  throw std::invalid_argument(difference(all[0], all[other], other));
}

bool state::have_same_call(const char* name, const std::string& call, std::uint64_t number) {
  // The lowest hash and the lowest complement of a hash are those of one call if all are equal.
  const std::uint64_t hash = hash_of(call + '#' + std::to_string(number));
  memory->check = {hash, ~hash};
  collective(name, [&](MPI_Request* request) {
    return MPI_Iallreduce(memory->check.data(), memory->check_result.data(), 2, MPI_UINT64_T,
                          MPI_MIN, data, request);
  });
  return memory->check_result[0] == ~memory->check_result[1];
}

std::vector<std::string> state::compare_calls(const char* name, const std::string& call,
                                              std::uint64_t number) {
  std::vector<std::string> all =
      gather_texts(name, call + '#' + std::to_string(number), call_length);
  const auto text = [&](std::size_t of) { return all[of].substr(0, all[of].rfind('#')); };
  for (std::size_t other = 1; other < all.size(); ++other) {
    if (text(other) == text(0)) continue;
    fail_together(static_cast<int>(other),
                  "calls " + text(other) + ", but rank 0 calls " + text(0));
  }
  return all;
}

std::vector<std::string> state::gather_texts(const char* name, std::string_view mine,
                                             std::size_t length) {
  memory->own_text.assign(length, '\0');
  mine.copy(memory->own_text.data(), length);
  memory->all_texts.resize(length * static_cast<std::size_t>(size));
  collective(name, [&](MPI_Request* request) {
    return MPI_Iallgather(memory->own_text.data(), static_cast<int>(length), MPI_CHAR,
                          memory->all_texts.data(), static_cast<int>(length), MPI_CHAR, data,
                          request);
  });
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < memory->all_texts.size(); begin += length) {
    std::string& text = all.emplace_back(memory->all_texts.data() + begin, length);
    text.erase(text.find_last_not_of('\0') + 1);
  }
  return all;
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
