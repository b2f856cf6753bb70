"""The local model server as tests and benches use it: with latencies, faults and a memory."""
