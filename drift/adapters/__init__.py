"""The outside world behind the ports; each SDK is imported when its adapter is built, not before."""
