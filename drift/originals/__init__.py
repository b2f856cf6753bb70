"""The files that documents were read from: where they are kept, and under which names."""

NOT_ANSWERING = "The store of original files (DOCUMENT_STORE) does not answer; try again later."
