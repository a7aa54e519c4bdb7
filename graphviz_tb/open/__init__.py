"""Which groups a picture opens."""
