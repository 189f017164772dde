#pragma once

#include "acl/acl_base.h"

namespace simulator {

// Neither the threads of streams nor the account of memory pass to a forked child: what its parent has of a
// device is not the child's to use or to give back. A child of a process that has used none is as good as
// any.

// This process uses a device from now on.
void NoteDeviceUse();

// Whether this process was forked from one that had used a device.
bool IsForkedFromUser();

// Refuses if so, in words.
aclError RefuseIfForked();

}  // namespace simulator
