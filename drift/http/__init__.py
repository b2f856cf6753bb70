"""The function around the search: HTTP, settings, and what lives as long as the process."""
