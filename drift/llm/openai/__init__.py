"""The provider that speaks OpenAI's API."""
