#pragma once

#include <string>

namespace simulator {

// A simulated machine is what the processes of one user on one tree share, or those that name the same
// directory in ASCENDENV_SIM_STATE. They meet in a file of that machine.

// Where it is; fails by std::runtime_error.
std::string MachineFile(const std::string& purpose);

// Opens it for reading and writing; -1 when it does not exist and is not to be created. Fails by
// std::runtime_error, also for a file that is not this user's own.
int OpenMachineFile(const std::string& path, bool create);

}  // namespace simulator
