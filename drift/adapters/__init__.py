"""The outside world behind the ports.

Adapters import their SDKs at their top. Only what needs them imports an adapter, so that importing
the function loads none.
"""
