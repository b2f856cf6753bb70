"""A small language model on llama.cpp, in an environment of its own."""
