"""Chat and embeddings over the API of OpenAI and Azure OpenAI."""
