// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// borrowed<T>: an object that costs more to make than a short run takes, and that runs use one
/// after another: a stream for captures, page-locked memory, an executable graph.

#include <map>
#include <mutex>
#include <optional>
#include <ramify/runtime/device_context.cuh>
#include <utility>
#include <vector>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Holds an object of a context, or is empty. The destructor keeps it for the next borrowed<T>
/// of the context. Move-only. T must be movable and default-constructible.
template <class T>
class borrowed {
 public:
  borrowed() = default;
  /// Takes an object that is not in use, or makes one. `context` must be the id of the current
  /// context. Thread-safe. \throws cuda_error
  explicit borrowed(context_id context) : context_(context) {
    if (take_kept()) return;
    const relaxed_capture_scope here;  // a thread may be capturing
    object_.emplace();
  }
  borrowed(borrowed&& other) noexcept { *this = std::move(other); }
  borrowed& operator=(borrowed&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~borrowed() {
    if (!object_ || !context_exists(context_)) return;
    kept_objects& kept = all_kept();
    const std::lock_guard lock(kept.mutex);
    try {
      kept.of_context[context_].push_back(std::move(*object_));
    } catch (...) {  // there is no memory for the list: the object is destroyed
    }
  }

  /// Destroys the object instead of keeping it for the next borrowed<T>.
  void discard() { object_.reset(); }

  [[nodiscard]] explicit operator bool() const { return object_.has_value(); }
  [[nodiscard]] T& operator*() { return *object_; }
  [[nodiscard]] T* operator->() { return &*object_; }
  [[nodiscard]] const T* operator->() const { return &*object_; }

 private:
  struct kept_objects {
    std::mutex mutex;
    std::map<context_id, std::vector<T>> of_context;
  };
  static kept_objects& all_kept() {
    static auto& all = *new kept_objects;  // never destroyed: runs may live until the program ends
    return all;
  }

  bool take_kept() {
    kept_objects& kept = all_kept();
    const std::lock_guard lock(kept.mutex);
    std::vector<T>& unused = kept.of_context[context_];
    if (unused.empty()) return false;
    object_.emplace(std::move(unused.back()));
    unused.pop_back();
    return true;
  }

  context_id context_ = 0;
  std::optional<T> object_;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
