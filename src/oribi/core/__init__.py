"""Values and total functions: what a turn is, what is next, what the model is told. No I/O, standard library only."""
