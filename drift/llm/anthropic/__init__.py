"""The provider that speaks Anthropic's API."""
