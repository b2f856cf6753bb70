"""The outside world behind the ports.

Each SDK is imported when its adapter is built, not before.
"""
