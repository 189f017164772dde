"""From a plan to an environment: steps that can be undone, a journal, builds, and the record of it all."""
