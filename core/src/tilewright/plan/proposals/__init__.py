"""One binding planned: the stages run for proposed decisions, and what is learnt from a failure."""
