#pragma once

#include <map>
#include <string>

#include "acl/acl_base.h"

namespace simulator {

// The installation that this library is a part of: the directory above its lib64. Links are followed, so that
// it is the same one by whichever name it was found.
ACL_FUNC_VISIBILITY const std::string& TreeHome();

// The lines "key=value" of a file of that installation; nothing when the file cannot be read.
ACL_FUNC_VISIBILITY std::map<std::string, std::string> ReadTreeFile(const std::string& name);

}  // namespace simulator
