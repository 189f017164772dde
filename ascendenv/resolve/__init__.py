"""From what is wanted, for which machine, to a plan or to an explained refusal."""
