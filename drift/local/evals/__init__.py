"""How much of the evidence the search finds: on labelled questions, and in people's documents."""
