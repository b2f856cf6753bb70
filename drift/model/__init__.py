"""What the steps hand to each other: frozen values, no behaviour beyond simple views."""
