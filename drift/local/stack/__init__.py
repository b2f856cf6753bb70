"""The local servers that all commands on a data folder share.

Nothing here reads the environment.
"""
