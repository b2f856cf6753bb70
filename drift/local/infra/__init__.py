"""What is deployed, and whether its parameters are right, without Azure."""
