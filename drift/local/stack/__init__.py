"""The local servers that commands on a data folder share; none reads the environment."""
