# Writes the names of the operators that LIBRARY exports to LISTING, one a line.
execute_process(COMMAND ${NM} --dynamic --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "acl[A-Za-z0-9_]+GetWorkspaceSize" found "${symbols}")
list(TRANSFORM found REPLACE "GetWorkspaceSize$" "")
list(SORT found)
list(JOIN found "\n" text)
file(WRITE ${LISTING} "${text}\n")
