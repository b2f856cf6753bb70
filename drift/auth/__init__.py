"""Who may ask what: the credential of a request, and the projects that it opens."""
