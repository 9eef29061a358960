// SPDX-License-Identifier: BSD-3-Clause
// borrowed<T>: objects in use at the same time are different, and a kept object is used again.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/borrowed.cuh>
#include <utility>

#include "backend_under_test.hpp"

namespace tests::inline RAMIFY_BUILD {
namespace {

using ramify::detail::runtime::borrowed;
using ramify::detail::runtime::current_context;

/// Page-locked memory of a type that only these tests borrow.
struct lent_memory : ramify::pinned_buffer<int> {
  lent_memory() : pinned_buffer(3) {}
};
using loan = borrowed<lent_memory>;

}  // namespace

BOOST_AUTO_TEST_SUITE(borrowed_objects)

BOOST_AUTO_TEST_CASE(two_objects_at_once_are_different) {
  loan first(current_context());
  loan second(current_context());
  BOOST_REQUIRE(bool(first));
  BOOST_REQUIRE(bool(second));
  BOOST_TEST(first->data() != second->data());
}

BOOST_AUTO_TEST_CASE(the_next_borrower_gets_the_kept_object) {
  std::optional<loan> first(std::in_place, current_context());
  std::optional<loan> second(std::in_place, current_context());
  const int* const of_first = (*first)->data();
  const int* const of_second = (*second)->data();
  first.reset();
  const loan again(current_context());
  BOOST_TEST(again->data() == of_first);
  second.reset();
  const loan last(current_context());
  BOOST_TEST(last->data() == of_second);
}

BOOST_AUTO_TEST_CASE(a_moved_object_is_kept_once) {
  const int* memory = nullptr;
  {
    loan empty;
    BOOST_TEST(!empty);
    loan first(current_context());
    memory = first->data();
    empty = std::move(first);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    BOOST_TEST(!first);
    BOOST_TEST(empty->data() == memory);
  }
  const loan again(current_context());
  BOOST_TEST(again->data() == memory);
  const loan other(current_context());
  BOOST_TEST(other->data() != memory);
}

BOOST_AUTO_TEST_CASE(a_reset_ends_what_is_kept_and_what_is_borrowed) {
  std::optional<loan> old(std::in_place, current_context());
  { const loan kept(current_context()); }
  ramify::check(cudaDeviceReset(), "resetting the device");
  loan first(current_context());
  (*first)[2] = 5;
  // The object of the destroyed context is not kept for the new one.
  old.reset();
  loan second(current_context());
  (*second)[2] = 6;
  BOOST_TEST((*first)[2] == 5);
  BOOST_TEST(first->data() != second->data());
#if !RAMIFY_ON_CUDA
  // The new context has the two objects and no others of these.
  const auto objects = ramify::cpu::live_objects();
  const loan third(current_context());
  BOOST_TEST(ramify::cpu::live_objects() == objects + 1);
#endif
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
