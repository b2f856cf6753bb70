"""A project as a whole: what it holds, taken out into a folder and back, taken out for good."""
