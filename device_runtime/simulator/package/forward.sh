# Forwards to the CANN that "latest" names.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/latest/set_env.sh"
