"""Whether the platform asks callers for a function key, which is fixed when the app is imported.

The only setting that is read so early. Reading it cannot fail: whatever is not known to bring an
authentication of its own gets function keys.
"""

from __future__ import annotations

import os

OWN_AUTHENTICATION = frozenset({"keys", "easyauth"})
"""Values of AUTH_MODE under which the function itself tells who asks."""


def platform_asks_for_keys() -> bool:
    """Tell whether the routes want one of the platform's function keys."""
    return os.environ.get("AUTH_MODE", "").strip().lower() not in OWN_AUTHENTICATION
