"""The service for programs: one set of methods, over HTTP here and in the process in `local/`."""
