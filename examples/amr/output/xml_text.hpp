// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Text in the attributes of XML.

#include <optional>
#include <string>
#include <string_view>

namespace common {

/// Escapes the value of an XML attribute.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// Undoes xml_escaped(). Returns none if `text` has an escape that xml_escaped() does not write.
[[nodiscard]] std::optional<std::string> xml_unescaped(std::string_view text);

}  // namespace common
