"""These tests run where Milvus Lite is: `make test-deep` makes an environment with it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("milvus_lite") else ["test_milvus_store.py"]
