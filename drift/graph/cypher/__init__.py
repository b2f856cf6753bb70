"""The statements that read, each written once for both graph schemas."""
